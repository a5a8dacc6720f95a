// Asking what a chain of coroutines awaits to end early (operation/chain_requests.hpp, chained_signal of
// operation/cancellation_state.hpp).
//
// The state of a chain says under its lock which op is awaited. Whoever asks calls the op's verb under that lock; the
// verb sends the op's ticket to the owner of the driver. The owner takes the lock before it runs the op, so the op is
// there while it is asked. A request may come when the op is still on its way to its driver: its ticket is not found
// there. So the thread that has started the op looks again. Meanwhile the op may have been run, and the chain may await
// the next one.
//
// There may be no memory for the message with the ticket (io_loop::call_for_marked). Then the op is marked, and the loop
// has one request for all: to look for marks. Whoever marks an op while that is in the inbox counts. If anybody has, the
// owner sends it once more: such an op may stand behind it.
//
// spin -a -DBROKEN: the thread that has started the op does not look again, and a request is lost.
// spin -a -DUNCOUNTED: the request for marks is not sent once more, and one is lost.

#define AWAITS 2
#define REQUESTS 2

mtype = { idle, on_its_way, pending, queued, a_start, a_ticket, for_marks };

bool locked = false;
bool is_awaited = false;        // the state knows how the op is asked
bool asked_since = false;       // it began
bool cancelled = false;         // the chain has been asked
bool goes_on;                   // its awaits begin nevertheless
mtype op = idle;
byte ticket = 0;                // of the op, the number of the await
byte must_end = 0;              // the last await that was under way when somebody asked
byte marked = 0;                // the mark of the op, as its await
byte marks = 0;                 // since the request for them was sent
bool over = false;              // the chain has ended
chan inbox = [8] of { mtype, byte }; // a start or a request, with its ticket

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }
inline call_verb() {
    assert(op != idle);         // The op has not gone.
    if
    :: inbox ! a_ticket, ticket
    :: marked = ticket;         // There is no memory.
       call_for_marks()
    fi
}
inline call_for_marks() {
    if
    :: atomic { marks == 0 -> marks = 1 }; inbox ! for_marks, 0
    :: atomic { marks != 0 -> marks = 2 }
    fi
}
inline look_for_marks() {
    if
    :: atomic { marks == 1 -> marks = 0 }
    :: atomic { marks == 2 -> marks = 0 };
#ifndef UNCOUNTED
       call_for_marks()
#endif
    fi;
    if
    :: op == pending && marked == ticket -> op = queued
    :: else
    fi
}
inline carry_out() {
    if
    :: what == a_start -> op = pending
    :: what == a_ticket && op == pending && t == ticket -> op = queued
    :: what == for_marks -> look_for_marks()
    :: else
    fi
}

proctype start(byte n) {
    bool before;
    if
    :: cancelled && !goes_on -> over = true; goto done // The await is refused.
    :: else
    fi;
    op = on_its_way; ticket = n;
    lock(); is_awaited = true; asked_since = false; unlock();
    inbox ! a_start, n;         // From here on the op may be run, and the chain may go on.
#ifndef BROKEN
    before = !goes_on && cancelled;
    lock();
    if
    :: is_awaited && (asked_since || before) -> call_verb()
    :: else
    fi;
    unlock();
#endif
done:
    skip
}

active proctype owner() {
    byte t;
    mtype what;
    if
    :: goes_on = true
    :: goes_on = false
    fi;
    run start(1);
    do
    :: inbox ? what, t -> carry_out()
    :: op == pending -> op = queued // It is done by itself.
    :: op == pending -> break       // Or never.
    :: op == queued ->
        lock(); is_awaited = false; unlock();
        op = idle;
        if
        :: ticket < AWAITS -> run start(ticket + 1)
        :: else -> over = true
        fi
    :: over -> break
    od;
    // It only waits for requests from here on.
    do
    :: inbox ? what, t -> carry_out()
    :: timeout ->
        assert(op != pending || (must_end != ticket && (goes_on || !cancelled)));
        break
    od
}

active proctype asker() {
    byte requests = 0;
    do
    :: requests < REQUESTS ->
        requests++;
        cancelled = true;
        lock();
        if
        :: is_awaited -> asked_since = true; must_end = ticket; call_verb()
        :: else
        fi;
        unlock()
    :: else -> break
    od
}
