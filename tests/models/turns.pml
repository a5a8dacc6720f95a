// Giving a loop back and waiting for it (ownership::give_back, take_or_wait): who waits says so before the last look at
// the owner; who gives back looks for somebody waiting afterwards, and without one wakes nobody. Every thread has its
// turns.
//
// spin -a -DBROKEN: who looks before giving back leaves a thread asleep beside a free loop.

#define THREADS 3
#define NOBODY 0

byte owner = NOBODY;
byte waiting = 0;
byte turns = 0;         // a futex
bool parked[THREADS];

inline wake_one() {
    turns++;
    atomic {
        if
        :: parked[0] -> parked[0] = false
        :: parked[1] -> parked[1] = false
        :: parked[2] -> parked[2] = false
        :: else -> skip
        fi
    }
}

inline give_back() {
#ifdef BROKEN
    alone = (waiting == 0);
    owner = NOBODY;
#else
    owner = NOBODY;
    alone = (waiting == 0);
#endif
    if
    :: alone -> skip
    :: else -> wake_one()
    fi
}

active [THREADS] proctype thread() {
    byte rounds = 0;
    byte seen;
    bool taken;
    bool alone;
    do
    :: rounds < 2 ->
        taken = false;
        do
        :: taken -> break
        :: else ->
            waiting++;
            seen = turns;
            atomic { taken = (owner == NOBODY); if :: taken -> owner = _pid + 1 :: else -> skip fi };
            if
            :: taken -> skip
            :: else ->
                atomic { if :: turns == seen -> parked[_pid] = true :: else -> skip fi };
                !parked[_pid]
            fi;
            waiting--
        od;
        assert(owner == _pid + 1);
        give_back();
        rounds++
    :: else -> break
    od
}
