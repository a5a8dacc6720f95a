// The marks of a descriptor while several threads have shares of a loop (all_news in src/io/news.hpp, attend and
// submit_shared in src/io/epoll.cpp).
//
// An event comes once for what is new. The owner of the loop adds it to the events noted at the descriptor, and queues the
// descriptor's item if none was noted. A thread that comes to the item takes the events under the descriptor's lock, and
// tries the read that waits. Another thread may at that moment find nothing, and park a read. The item is never queued
// twice, and no read waits beside bytes that have come.
//
// spin -a -DBROKEN: the events are taken when the item has attended to them, and those that came meanwhile are lost.

#define READS 3

bool locked = false;   // the descriptor
bool is_ready = false; // what is known of its read side
bool is_parked = false;
byte bytes = 0;        // in the socket
bool news = false;     // for epoll_wait
bool noted = false;    // false: the item is in no queue
byte queued = 0;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

// One recv: what it tells is noted in a step of its own.
inline attempt() {
    atomic {
        if
        :: bytes != 0 -> bytes--; got = true
        :: else -> got = false
        fi
    };
    if
    :: !got -> is_ready = false
    :: else
    fi
}

active proctype peer() {
    byte sent;
    for (sent : 1 .. READS) {
        atomic { bytes++; news = true }
    }
}

active proctype the_owner() {
    bool was_noted;
end:
    do
    :: atomic { news -> news = false };
        atomic { was_noted = noted; noted = true };
        if
        :: !was_noted -> atomic { queued++; assert(queued == 1) }
        :: else
        fi
    od
}

active [2] proctype has_a_share() {
    bool got;
end:
    do
    :: atomic { queued != 0 -> queued-- };
        lock();
#ifndef BROKEN
        noted = false;
#endif
        is_ready = true;
        if
        :: is_parked ->
            attempt();
            if
            :: got -> is_parked = false
            :: else
            fi
        :: else
        fi;
#ifdef BROKEN
        noted = false;
#endif
        unlock()
    od
}

active proctype reader() {
    bool got;
    byte done;
    for (done : 1 .. READS) {
        lock();
        got = false;
        if
        :: is_ready -> attempt()
        :: else
        fi;
        if
        :: !got -> is_parked = true
        :: else
        fi;
        unlock();
        (!is_parked)
    }
}
