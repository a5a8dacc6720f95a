// Parking of a pool's workers (src/exec/thread_pool.cpp): whoever queues something looks for parked workers afterwards;
// whoever parks looks for something queued afterwards. Everything is run and every worker ends.
//
// spin -a -DBROKEN: a worker that looks before it says that it parks is never woken.

#define WORKERS 2
#define ITEMS 3

byte queued = 0;
byte work = 1;     // queued, running, promised; 1 until joined
byte signals = 0;  // counts, modulo what fits
byte parked = 0;
byte ran = 0;
byte ended = 0;

inline wake() { atomic { signals++ } }

active proctype the_poster() {
    byte i = 0;
    do
    :: i < ITEMS ->
        work++;
        queued++;
        if
        :: parked != 0 -> wake()
        :: else -> skip
        fi;
        i++
    :: i == ITEMS -> break
    od;
    atomic { work--; if :: work == 0 -> wake() :: else -> skip fi } // join()
    ended == WORKERS;
    assert(ran == ITEMS)
}

active [WORKERS] proctype worker() {
    byte seen;
    bool got;
    do
    ::
        atomic { got = (queued != 0); if :: got -> queued-- :: else -> skip fi };
        if
        :: got ->
            ran++;
            atomic { work--; if :: work == 0 -> signals++ :: else -> skip fi }
        :: !got && work == 0 -> break
        :: !got && work != 0 ->
#ifdef BROKEN
            seen = signals;
            if
            :: queued == 0 && work != 0 -> parked++; signals != seen; parked--
            :: else -> skip
            fi
#else
            parked++;
            seen = signals;
            if
            :: queued == 0 && work != 0 -> signals != seen
            :: else -> skip
            fi;
            parked--
#endif
        fi
    od;
    ended++
}
