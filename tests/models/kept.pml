// An owner keeps its loop beside other threads while its items are short, and sleeps now and then (ownership::keep and
// take_or_wait, src/exec/ownership.cpp). A thread that finds the owner asleep waits without a limit. Any other one
// watches the owner, and comes back by itself.
//
// The owner wakes up, announces that it keeps the loop, and then looks whether anybody waits without watching. The
// other thread says that it waits, and then reads whether the loop is kept. Hence a handler that gets stuck is watched.
//
// spin -a -DBROKEN: without the owner's look the other thread sleeps beside a handler that is stuck.

bool asleep = true;
bool shared = true;
byte waiting = 0;
byte looking = 0;
byte turns = 0;
bool stuck = false;
bool helped = false;

active proctype owner() {
    asleep = false;
    shared = false;
#ifndef BROKEN
    if
    :: waiting != 0 ->
        if
        :: looking == 0 -> turns++
        :: else -> skip
        fi
    :: else -> skip
    fi;
#endif
    stuck = true;
    helped // A handler waits for the other thread.
}

active proctype other() {
    bool owner_sleeps;
    byte seen;
again:
    owner_sleeps = asleep;
    waiting++;
    seen = turns;
    if
    :: shared && owner_sleeps -> turns != seen // sleeps
    :: shared && !owner_sleeps -> skip // looks again soon
    :: !shared ->
        looking++;
        if // after a while, without a sign of the owner
        :: stuck -> helped = true
        :: else -> skip
        fi;
        looking--
    fi;
    waiting--;
    if
    :: helped -> skip
    :: else -> goto again
    fi
}
