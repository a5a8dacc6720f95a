// The hand-over of a strand (src/exec/strand.cpp): the turn is scheduled once for as long as anything waits. Functions
// never overlap, and none is left behind. A function that queues another one from inside the turn needs no lock, unless
// somebody waits already.
//
// spin -a -DBROKEN: a turn that says it is over after it has let go of the lock leaves a function behind.

#define POSTERS 2
#define QUEUED_INSIDE 2

byte waiting = 0;
byte taken = 0;   // of the turn, which touches it without the lock
byte touching = 0;
bool scheduled = false;
byte turns = 0;   // queued below the strand
byte inside = 0;
byte ran = 0;
byte queued_inside = 0;

active [POSTERS] proctype poster() {
    bool first;
    atomic { waiting++; first = !scheduled; scheduled = true }; // under the lock
    if
    :: first -> turns++
    :: else -> skip
    fi
}

active [2] proctype thread_below() {
    bool got;
end:
    do
    :: atomic { turns > 0 -> turns-- };
        do
        ::
#ifdef BROKEN
            atomic { got = (waiting != 0); if :: got -> waiting-- :: else -> skip fi };
            if
            :: !got -> scheduled = false
            :: else -> skip
            fi;
#else
            atomic { touching++; assert(touching == 1); got = (taken != 0) };
            if
            :: got -> taken--; touching--
            :: else ->
                touching--;
                atomic { // under the lock
                    taken = taken + waiting;
                    waiting = 0;
                    got = (taken != 0);
                    if
                    :: got -> taken--
                    :: else -> scheduled = false
                    fi
                }
            fi;
#endif
            if
            :: got ->
                atomic { inside++; assert(inside == 1) };
                ran++;
                if
                :: queued_inside < QUEUED_INSIDE ->
                    queued_inside++;
                    if
                    :: waiting == 0 ->
                        atomic { touching++; assert(touching == 1) };
                        taken++;
                        touching--
                    :: else -> atomic { waiting++; assert(scheduled) }
                    fi
                :: else -> skip
                fi;
                inside--
            :: else -> break
            fi
        od
    od
}

// When nothing moves any more, everything has been run.
active proctype the_end() {
    timeout -> assert(ran == POSTERS + QUEUED_INSIDE)
}
