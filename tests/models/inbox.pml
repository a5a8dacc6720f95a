// Sleeping and waking (loop::fall_asleep, push_inbox, awake): the head of the inbox is empty, a list, or the mark of a
// sleeper. No item is left lying while the owner sleeps.
//
// spin -a -DBROKEN: a producer that wakes before it pushes lets the owner sleep for ever.

#define PRODUCERS 2
#define EMPTY 0
#define ASLEEP 100

byte head = EMPTY;   // EMPTY, ASLEEP, or how many are in the list
byte signal = 0;     // of the eventfd, kept until it is read
byte taken = 0;

proctype producer() {
    bool must_wake;
#ifdef BROKEN
    must_wake = (head == ASLEEP);
    if
    :: must_wake -> signal = 1
    :: else -> skip
    fi;
    atomic { head = (head == ASLEEP -> 1 : head + 1) }
#else
    atomic { // one compare-and-swap
        must_wake = (head == ASLEEP);
        head = (head == ASLEEP -> 1 : head + 1)
    };
    if
    :: must_wake -> signal = 1
    :: else -> skip
    fi
#endif
}

active proctype the_owner() {
    do
    :: taken == PRODUCERS -> break
    :: else ->
        atomic { // takes the inbox
            if
            :: head != EMPTY && head != ASLEEP -> taken = taken + head; head = EMPTY
            :: else -> skip
            fi
        };
        if
        :: taken < PRODUCERS ->
            if
            :: atomic { head == EMPTY -> head = ASLEEP };
                signal == 1; // waits here
                signal = 0;
                atomic {
                    if
                    :: head == ASLEEP -> head = EMPTY
                    :: else -> skip
                    fi
                }
            :: else -> skip
            fi
        :: else -> skip
        fi
    od
}

init {
    byte i;
    for (i : 1 .. PRODUCERS) { run producer() }
}
