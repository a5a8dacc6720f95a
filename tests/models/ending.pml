// Finding that a shared loop has no work left (io_loop::run_until_ns, loop::run_batch, loop::run_shared).
//
// Whoever runs an item without having the loop counts as work until the item has ended, after it has posted what
// follows. It gives the loop away itself, or another thread revokes it and counts the item. The owner that finds its queue
// empty asks for the count first and for the inbox then: an item that ended in between has posted before. It asks
// again when it has announced its sleep, because an item that ended just before did not see a sleeper.
//
// spin -a -DBROKEN: a revoked item is not counted, and run() returns with an item left.

#define FIRST_ITEMS 2
#define FOLLOWING 2
#define NOBODY 2

byte local_queue = FIRST_ITEMS;
byte inbox = 0;
bool asleep = false;
bool wake = false;
byte running = 0;               // items that are counted as work
byte owner = NOBODY;
bool in_handler[2];             // outside all sections: may be revoked
bool stopped = false;
byte to_follow = FOLLOWING;     // how many items will still be posted by items
byte left = FIRST_ITEMS;        // items that are queued or running: what nobody in the program can see at a glance

inline has_work(answer) {
    answer = running > 0;
    answer = answer || inbox > 0;
}

inline run_handler() {
    if
    :: atomic { to_follow > 0 -> to_follow--; left++; inbox++;
            if
            :: asleep -> asleep = false; wake = true
            :: else
            fi }
    :: skip
    fi;
    left--
}

inline item_is_over(was_last) {
    atomic { running--; was_last = running == 0 };
    if
    :: was_last && asleep -> wake = true
    :: else
    fi
}

proctype member(byte me) {
    bool answer;
    bool was_last;
    do
    :: atomic { stopped && owner != me -> break }
    :: atomic { owner == NOBODY -> owner = me }
    :: atomic { owner == 1 - me && in_handler[1 - me] -> // the other one is busy: revoked
#ifndef BROKEN
            running++;
#endif
            owner = me }
    :: owner == me ->
        if
        :: stopped -> owner = NOBODY; break
        :: else
        fi;
        if
        :: local_queue == 0 && inbox > 0 -> atomic { local_queue = inbox; inbox = 0 }
        :: else
        fi;
        if
        :: local_queue > 0 -> // one of several
            local_queue--;
            running++;
            owner = NOBODY;
            run_handler();
            item_is_over(was_last)
        :: local_queue > 0 -> // alone, as far as it knows
            local_queue--;
            in_handler[me] = true;
            run_handler();
            in_handler[me] = false;
            if
            :: owner == me
#ifdef BROKEN
            :: owner != me
#else
            :: owner != me -> item_is_over(was_last)
#endif
            fi
        :: local_queue == 0 ->
            has_work(answer);
            if
            :: !answer ->
                assert(left == 0);
                stopped = true
            :: else ->
                if
                :: atomic { inbox == 0 -> asleep = true };
                    has_work(answer);
                    if
                    :: !answer -> asleep = false
                    :: else -> wake; wake = false; asleep = false
                    fi
                :: inbox > 0 -> skip
                fi;
                owner = NOBODY
            fi
        fi
    od
}

init { atomic { run member(0); run member(1) } }
