// Taking a loop from an owner that is busy with a handler (src/exec/ownership.cpp, impl::exec::section).
//
// The owner's counter of sections is written with plain stores, which lie in a store buffer before they reach memory;
// its read of who owns the loop may come before. The joiner marks the owner as claimed, has all store buffers written
// out (membarrier), and looks at the counter. Never are both inside.
//
// spin -a -DBROKEN: without the barrier both get in.

#define OWNER 1
#define JOINER 2

byte owner = OWNER;
bool claimed = false;
byte sections = 0;              // in memory
chan buffer = [2] of { byte };  // the owner's stores on their way
byte inside = 0;

active proctype writes_reach_memory() {
    byte v;
end:
    do
    :: atomic { buffer?v -> sections = v }
    od
}

active proctype the_owner() {
    byte rounds = 0;
    do
    :: rounds < 3 ->
        buffer!1; // a section begins
        if
        :: atomic { owner == OWNER && !claimed -> inside++; assert(inside == 1) };
            inside--
        :: else -> skip // goes by the inbox
        fi;
        buffer!0; // it ends
        rounds++
    :: rounds == 3 -> break
    od
}

active proctype the_joiner() {
    byte tries = 0;
    byte v;
    do
    :: tries < 3 ->
        if
        :: atomic { owner == OWNER && !claimed -> claimed = true };
#ifndef BROKEN
            atomic {
                do
                :: nempty(buffer) -> buffer?v; sections = v
                :: else -> break
                od
            };
#endif
            if
            :: atomic { sections == 0 -> owner = JOINER; claimed = false };
                atomic { inside++; assert(inside == 1) };
                inside--;
                break
            :: else -> claimed = false
            fi
        :: else -> skip
        fi;
        tries++
    :: tries == 3 -> break
    od
}
