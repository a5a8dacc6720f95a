// A group of chains that is asked to end (coro/chain_tree.hpp), while its members end in other threads.
//
// The group counts what is under way: its start, each member, and the walk that asks the members. Who takes the last
// one away resumes the awaiting chain, whose frame has the group. Requests come through the verb, under the lock of the
// state of the awaiting chain; before that chain is resumed this lock is taken, too. The walk takes a share in what a
// member shares with it, and asks without the group's lock. A member starts only where the start finds it.
//
// spin -a -DBROKEN: the walk does not count, so that the group may go while it is asked.

#define MEMBERS 2

bool state_locked = false;
bool group_locked = false;
bool is_awaited = false;        // the verb may be called
bool has_started = false;
bool is_walking = false;
bool asked = false;             // the group
byte running = MEMBERS + 1;     // the start counts
byte resumed = 0;
bool gone = false;              // the frame of the awaiting chain, and the group with it
bool member_started[MEMBERS];
bool member_ended[MEMBERS];
bool member_asked[MEMBERS];
byte next = 0;                  // of the walk; whoever has ended is passed over
bool was_asked_in_time = false; // a request found the group at work
byte to_ask = 0;                // walks in the queue of the home

inline lock_state() { atomic { !state_locked -> state_locked = true } }
inline unlock_state() { state_locked = false }
inline lock_group() { assert(!gone); atomic { !group_locked -> group_locked = true } }
inline unlock_group() { group_locked = false }

inline one_less() {
    lock_group();
    running--;
    last = running == 0;
    unlock_group();
    if
    :: last ->
        lock_state(); is_awaited = false; unlock_state();
        resumed++;
        assert(resumed == 1);
        gone = true
    :: else
    fi
}

inline begin_walk() {
    begins = false;
    lock_group();
    asked = true;
    if
    :: has_started && running != 0 ->
        begins = !is_walking;
        is_walking = true;
        next = 0;
        was_asked_in_time = true
    :: else
    fi;
#ifndef BROKEN
    if
    :: begins -> running++
    :: else
    fi;
#endif
    unlock_group();
    if
    :: begins -> to_ask++
    :: else
    fi
}

proctype member(byte i) {
    bool last;
    // Works, and ends by itself or because it was asked.
    member_ended[i] = true;
    one_less()
}

active proctype home() {
    byte i = 0;
    bool last, begins, walks_on;
    // The start, in the awaiting chain.
    do
    :: i < MEMBERS -> member_started[i] = true; run member(i); i++
    :: else -> break
    od;
    lock_group(); has_started = true; begins = asked; unlock_group();
    if
    :: begins -> begin_walk()
    :: else
    fi;
    lock_state(); is_awaited = true; unlock_state();
    one_less();
    // Its queue.
    do
    :: to_ask > 0 ->
        to_ask--;
        walks_on = true;
        do
        :: walks_on ->
            lock_group();
            do
            :: next < MEMBERS && member_ended[next] -> next++
            :: else -> break
            od;
            if
            :: next < MEMBERS -> i = next; next++; unlock_group(); member_asked[i] = true
            :: else -> is_walking = false; walks_on = false; unlock_group()
            fi
        :: else -> break
        od;
#ifndef BROKEN
        one_less()
#else
        skip
#endif
    :: timeout -> break
    od;
    // All has ended, once. A request that came in time has reached whoever had not ended.
    assert(gone && resumed == 1);
    i = 0;
    do
    :: i < MEMBERS -> assert(!was_asked_in_time || member_asked[i] || member_ended[i]); i++
    :: else -> break
    od
}

// Requests through the verb, twice.
active [2] proctype asker() {
    bool begins;
    lock_state();
    if
    :: is_awaited -> begin_walk()
    :: else
    fi;
    unlock_state()
}
