// A group of chains that is asked to end (coro/chain_tree.hpp), while its members end in other threads.
//
// The group counts what is under way: its start, each member, and the walk that asks the members. Who takes the last
// one away resumes the awaiting chain, whose frame has the group. Requests come through the verb, under the lock of the
// state of the awaiting chain; before that chain is resumed this lock is taken, too. A member that ends may be the one that
// decides: then it begins the walk itself, before it is counted off. The walk asks without the group's lock, and finds the
// member in place: its memory goes with the group. A member starts only where the start finds it, and not once the
// group is decided.
//
// spin -a -DBROKEN: the walk does not count, so that the group may go while it is asked.
// spin -a -DAT_ONCE: a request through the verb walks at once, under a lock that the end of the group takes.

#define MEMBERS 2

bool state_locked = false;
bool group_locked = false;
bool is_awaited = false;        // the verb may be called
bool has_started = false;
bool is_walking = false;
bool asked = false;             // the group
bool decided = false;           // by a member that has ended
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
    unlock_group()
}

inline begin_walk_soon() {
    begin_walk();
    if
    :: begins -> to_ask++ // in the queue of the home
    :: else
    fi
}

inline walk() {
    walks_on = true;
    do
    :: walks_on ->
        lock_group();
        do
        :: next < MEMBERS && member_ended[next] -> next++
        :: else -> break
        od;
        if
        :: next < MEMBERS -> k = next; next++; unlock_group(); assert(!gone); member_asked[k] = true
        :: else -> is_walking = false; walks_on = false; unlock_group()
        fi
    :: else -> break
    od;
#ifndef BROKEN
    one_less()
#else
    skip
#endif
}

proctype member(byte i) {
    byte k;
    bool last, begins, decides, walks_on;
    // Works, and ends by itself or because it was asked.
    member_ended[i] = true;
    if
    :: lock_group(); decides = !decided; decided = true; unlock_group();
        if
        :: decides -> begin_walk();
            if
            :: begins -> to_ask++
            :: begins -> walk()
            :: else
            fi
        :: else
        fi
    :: skip
    fi;
    one_less()
}

active proctype home() {
    byte i = 0, k;
    bool last, begins, walks_on, skips;
    // The start, in the awaiting chain.
    do
    :: i < MEMBERS ->
        lock_group(); skips = decided; unlock_group();
        if
        :: skips -> member_ended[i] = true; one_less()
        :: else -> member_started[i] = true; run member(i)
        fi;
        i++
    :: else -> break
    od;
    lock_group(); has_started = true; begins = asked; unlock_group();
    if
    :: begins -> begin_walk_soon()
    :: else
    fi;
    lock_state(); is_awaited = true; unlock_state();
    one_less();
    // Its queue.
    do
    :: to_ask > 0 ->
        to_ask--;
        walk()
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
    byte k;
    bool begins, last, walks_on;
    lock_state();
    if
    :: is_awaited ->
#ifndef AT_ONCE
        begin_walk_soon()
#else
        begin_walk();
        if
        :: begins -> walk()
        :: else
        fi
#endif
    :: else
    fi;
    unlock_state()
}
