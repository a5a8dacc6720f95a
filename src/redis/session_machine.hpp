// The states of a connection: what may happen in each, and what follows. No sockets, no clock, no memory.
//
//          begin        connected        answered         opened
//     idle ----> connecting ----> greeting <----> greeted ----> ready
//      ^                             greeting_sent                |
//      |  over                       end, from each of these      |
//      +----------------------- ending <-------------------------+
//
// Beside the phase there are regions that change by themselves: writing, the flush, and the question to a silent
// server. The others are the work of the loop, the owner, and arrivals from other threads. One thread at a time calls
// this, the one that owns the loop; any thread may ask is_ready().
#pragma once

#include <redis/shown.hpp>

#include <fairlead/base/assert.hpp>

#include <utility>

namespace fairlead::redis::impl {

class session_machine {
public:
    enum class phase : unsigned char {
        idle,       ///< without a session
        connecting, ///< from the start of async_run
        greeting,   ///< the replies to the greeting are due
        greeted,    ///< they have come; the write that asked for them may not have completed yet
        ready,      ///< requests are written
        ending,     ///< nothing is read any more; the write under way has not completed yet
    };
    enum class writing : unsigned char {
        possible,
        under_way, ///< its op is with the transport
        failed,    ///< until the session is over
    };
    enum class flush : unsigned char {
        none,
        queued, ///< its op is in the run queue
    };
    enum class question : unsigned char {
        none,      ///< the server has said something since
        under_way, ///< something must be answered within an interval, and was still on its way when this began
        arrived,   ///< ... and the server had all of it
    };
    enum class work : unsigned char { none, counted };
    enum class owner : unsigned char { here, gone };
    enum class arrivals : unsigned char {
        none,
        queued, ///< the op that carries them out is in the run queue
    };

    phase now_in() const noexcept { return phase_; }
    /// Any thread.
    bool is_ready() const noexcept { return phase_ == phase::ready; }

    // ---- the session

    enum class admission : unsigned char { begun, already_running, closed };
    admission begin() noexcept;
    void connected() noexcept { change(phase::connecting, phase::greeting); }
    /// A further part of the greeting goes out.
    void greeting_sent() noexcept;
    /// All replies to that part have come. Also of a session that is over: then this is nothing to anybody.
    void answered() noexcept {
        if (phase_ == phase::greeting)
            phase_ = phase::greeted;
    }
    /// The completion of a write may come after the answer to what it wrote; only then can there be another write.
    bool may_go_on_greeting() const noexcept { return phase_ == phase::greeted && may_write(); }
    void opened() noexcept;
    /// There is a session that can be told to stop.
    bool is_under_way() const noexcept { return phase_ != phase::idle && phase_ != phase::ending; }
    /// Its reader has ended. True: the session is over; else it is when the write has completed.
    bool end() noexcept;
    /// True: a write of it had failed, or was given up.
    bool over() noexcept;

    // ---- writing

    /// Something is there to be written. True: the flush op has to be queued.
    bool wants_flush() noexcept {
        if (flush_ == flush::queued || writing_ == writing::under_way)
            return false;
        flush_ = flush::queued;
        return true;
    }
    bool is_flush_queued() const noexcept { return flush_ == flush::queued; }
    /// The flush op has been run. True: it is time to write.
    bool flushed() noexcept {
        flush_ = flush::none;
        return phase_ == phase::ready && writing_ != writing::under_way;
    }
    bool may_write() const noexcept { return writing_ == writing::possible; }
    bool is_writing() const noexcept { return writing_ == writing::under_way; }
    /// A write did not complete at once.
    void write_waits() noexcept { begin_or_fail(writing::under_way); }
    /// It did, with an error.
    void write_failed() noexcept { begin_or_fail(writing::failed); }
    /// A write that had to wait has completed; this follows.
    enum class next : unsigned char { nothing, write, greet, finish };
    next wrote(bool is_good) noexcept;

    // ---- is the server well?

    void heard() noexcept { question_ = question::none; }
    void asked(bool server_has_all) noexcept { question_ = server_has_all ? question::arrived : question::under_way; }
    bool has_asked() const noexcept { return question_ != question::none; }
    bool has_asked_what_arrived() const noexcept { return question_ == question::arrived; }

    // ---- the owner, and the work of the loop

    /// The connection object goes.
    void close() noexcept { owner_ = owner::gone; }
    bool is_closed() const noexcept { return owner_ == owner::gone; }
    /// Requests are written, and nobody would refuse one on account of the session.
    bool takes_requests() const noexcept { return is_ready() && !is_closed(); }
    /// Without a session, pending operations are work; while there is one, its own read is.
    enum class change_of_work : unsigned char { none, begins, ends };
    change_of_work count(bool has_pending) noexcept;

    // ---- requests of other threads. As their queue, this belongs to whoever owns the loop, in an item or not.

    /// One has come. True: the op that carries them out has to be queued.
    bool arrived() noexcept { return std::exchange(arrivals_, arrivals::queued) == arrivals::none; }
    /// That op has been run, and has carried out all or not. True: it has to be queued again.
    bool carried_out(bool all) noexcept {
        arrivals_ = all ? arrivals::none : arrivals::queued;
        return !all;
    }

private:
    void change(phase from, phase to) noexcept {
        FAIRLEAD_ASSERT(phase_ == from);
        phase_ = to;
    }
    void begin_or_fail(writing to) noexcept {
        FAIRLEAD_ASSERT(may_write());
        writing_ = to;
    }

    shown<phase> phase_{phase::idle};
    writing writing_ = writing::possible;
    flush flush_ = flush::none;
    question question_ = question::none;
    work work_ = work::none;
    owner owner_ = owner::here;
    arrivals arrivals_ = arrivals::none;
};

} // namespace fairlead::redis::impl
