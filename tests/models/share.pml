// A handler posts into its thread's share and then waits for what it has posted; another thread is about to sleep
// (src/exec/share.cpp, loop::post_from_outside, step 4 of io_loop::run).
//
// The stores of the first thread lie in a store buffer before they reach memory. It looks whether the second one has
// announced its sleep, and posts into the inbox if so. The second one announces its sleep, claims the share, has all
// store buffers written out (membarrier), and looks. What was posted is found, or wakes it.
//
// spin -a -DBROKEN: without the barrier it sleeps beside what stands in the share.

#define SECTION 1
#define SHARE 2

chan buffer = [4] of { byte, byte }; // stores on their way
byte sections = 0;                   // in memory
byte share = 0;
bool claimed = false;
bool asleep = false;
bool inbox = false;
byte ran = 0;

active proctype writes_reach_memory() {
    byte v;
end:
    do
    :: atomic { buffer?SECTION,v -> sections = v }
    :: atomic { buffer?SHARE,v -> share = v }
    od
}

active proctype handler_that_waits() {
    buffer!SECTION,1;
    if
    :: !asleep ->
        (!claimed);
        buffer!SHARE,1
    :: asleep -> inbox = true
    fi;
    buffer!SECTION,0;
    (ran == 1)
}

active proctype idle_thread() {
    byte kind, v;
    byte found;
again:
    asleep = true;
    claimed = true;
#ifndef BROKEN
    atomic {
        do
        :: buffer?SECTION,v -> sections = v
        :: buffer?SHARE,v -> share = v
        :: empty(buffer) -> break
        od
    };
#endif
    found = 0;
    if
    :: sections == 0 ->
        if
        :: share == 1 -> share = 0; found = 1
        :: else -> skip
        fi
    :: else -> found = 2 // a thread was inside a section: look again soon
    fi;
    claimed = false;
    if
    :: found == 1 -> ran = 1
    :: found == 2 -> goto again
    :: found == 0 -> inbox; ran = 1 // sleeps
    fi
}
