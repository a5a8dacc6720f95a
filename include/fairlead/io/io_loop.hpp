// The engine: a run queue, timers and a driver, taking turns. An io_context has one; so has the thread that performs
// the I/O of objects whose executor runs no loop.
#pragma once

#include <fairlead/base/owned.hpp>
#include <fairlead/exec/adaptive_spin.hpp>
#include <fairlead/exec/cancellation_type.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/io/timer_op.hpp>

namespace fairlead {

namespace io {
struct steady_clock; // io/loop_clock.hpp, which is <chrono>
namespace impl {
class run_watch;
}
} // namespace io

/// Counts of a loop so far; for tests, benchmarks and curious users.
struct loop_counters {
    std::uint64_t turns;
    std::uint64_t polls;          ///< looks at the driver
    std::uint64_t sleeps;         ///< polls that were allowed to wait
    std::uint64_t spins;          ///< looks for posts before a sleep
    std::uint64_t spins_in_vain;  ///< of them, those after which it slept all the same
    std::uint64_t items;          ///< handlers run and coroutines resumed
    std::uint64_t posts_remote;   ///< functions, resumptions and requests that came from other threads
    std::uint64_t timers_expired; ///< waits and time limits that were due
    std::uint64_t system_calls;   ///< for transfers, readiness and waiting
    std::uint64_t verifications;  ///< late checks of descriptors whose last read filled its buffer (kernel drivers)
};

/// Counted: an I/O object may outlive the context it was made with. Then the engine is retired: every descriptor is
/// closed, and what is started is never carried out.
/// Threads: any thread may post, and use I/O objects of its own; any number of threads may be inside run().
class FAIRLEAD_EXPORT io_loop final : public loop, public impl::exec::in_context_memory {
public:
    /// For executors of `context`. The first reference is the caller's.
    static io_loop* make(execution_context& context, impl::base::owned<io::driver> d);
    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }
    /// Its context goes: everything is abandoned and every descriptor closed.
    void retire() noexcept;
    bool is_retired() const noexcept { return is_retired_.load(std::memory_order_relaxed); }

    static io_loop& of(loop& l) noexcept { return static_cast<io_loop&>(l); }

    /// Runs up to `most` items, at the longest until `until_ns` on the driver's clock; 0: only what is ready; negative:
    /// without limit. Returns how many ran.
    std::size_t run_until_ns(std::size_t most, std::int64_t until_ns) {
        return !stopped() && enter(until_ns, nullptr) ? run(most, until_ns, nullptr) : 0;
    }
    bool drive(impl::exec::blocking_wait const& w, std::int64_t timeout_ns) override;
    /// A thread is inside run() for as long as the loop lives, or on its way there. Nobody else drives the loop.
    /// Called before others know the loop.
    void has_own_thread() noexcept { has_own_thread_ = true; }
    void stop() noexcept;
    bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
    void restart() noexcept { stopped_.store(false, std::memory_order_release); }

    // ---- for a scheduler that runs several loops in turn and waits for all of them, as the simulator does
    struct outlook {
        bool runnable;            ///< turn() would run something
        bool promised;            ///< work that no queue shows: guards, coroutines that wait for something
        std::int64_t deadline_ns; ///< of the first timer; INT64_MAX: none
    };
    outlook look() noexcept;
    /// Steps 1 to 3 of one turn: takes what was posted, expires timers, runs one batch. Never looks at the driver.
    /// Returns how many handlers ran.
    std::size_t turn();
    /// Gives up everything that is queued, pending or armed, as the destructor does; the loop can be used again.
    void abandon_all() noexcept;
    /// Ops of this loop that wait for something else than its driver and its timers.
    class other_waits {
    public:
        /// Takes all of them, for abandoning. Owner.
        virtual void take_pending(op_queue& to) noexcept = 0;
        /// The calling thread is about to leave run().
        virtual void run_ends() noexcept = 0;

    protected:
        ~other_waits() = default;
    };
    /// Has to be taken back before `o` goes. Any thread.
    void abandons_too(other_waits& o) noexcept { other_waits_.store(&o, std::memory_order_release); }
    void abandons_no_more(other_waits& o) noexcept {
        auto* expected = &o;
        other_waits_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
    }
    /// Null: there are none yet.
    other_waits* abandoned_too() const noexcept { return other_waits_.load(std::memory_order_acquire); }

    loop_counters counters() const noexcept;
    std::size_t timers_pending() const noexcept;

    // ---- for I/O objects
    using loop::post_request;
    /// When this returns, all is done that other threads had asked for. Not from inside such a request.
    using loop::take_inbox;
    io::driver& driver() noexcept { return *driver_; }
    io::reactor& reactor() noexcept { return *reactor_; }
    io::descriptors& descriptors() noexcept { return *descriptors_; }
    io::host& host() noexcept { return *host_; }
    io::outcome notify_fork(execution_context::fork_event event) noexcept;
    /// The driver's clock, for programs. The loop uses what it said instead of looking once more.
    std::int64_t now_ns() noexcept;
    /// The same time as a point of steady_clock, for those who include <fairlead/io/clock.hpp>.
    template <std::same_as<io::steady_clock> Clock = io::steady_clock> typename Clock::time_point now() noexcept {
        return Clock::at_ns(now_ns());
    }

    /// Hands an op to the driver, from whatever thread.
    void submit(io::io_op& o) noexcept {
        impl::exec::section const s;
        if (plainly_mine(s)) [[likely]]
            reactor_->submit(o);
        else
            submit_from_outside(o, s);
    }
    /// Completes all pending ops of a descriptor with operation_aborted. Returns how many; 1 when it had to be passed
    /// on.
    std::size_t cancel(io::handle h) noexcept;
    io::outcome close(io::handle h) noexcept;
    io::outcome release(io::handle h) noexcept;

    void arm(io::timer_op& o) noexcept;
    /// Takes an armed op back: it will not be run. False: it was not armed any more, or another thread has the loop.
    bool disarm(io::timer_op& o) noexcept;
    /// An op that stands in its timer's list completes with operation_aborted. Owner only.
    void cancel(io::timer_op& o) noexcept;
    /// Owner only, for an op that is about to be submitted. False: no memory.
    bool arm(io::op_limit& l, std::int64_t deadline_ns) noexcept;
    /// When this returns the limit is armed no more, and nobody looks at its op. Any thread.
    void disarm(io::op_limit& l) noexcept;
    /// Completes a pending op, which has a ticket, with operation_aborted. One that has completed is left alone. It
    /// must not go before this returns, but may go before a message arrives. Any thread, also with a lock that the
    /// owner may want: without memory for a message the op is marked.
    void ask(io::handle h, op& o) noexcept;
    void ask(io::timer_op& o) noexcept;
    /// Calls f() with the loop in the caller's hands, waiting for it if need be: for what must have happened when the
    /// caller goes on. If the driver is bound to another thread, that one calls f(), and the caller waits for it.
    template <class F> auto as_owner(F f) noexcept {
        impl::exec::section const s;
        if (mine(s)) [[likely]]
            return f();
        if (hold_while_idle const held(*this); held)
            return f();
        using result = decltype(f());
        if constexpr (std::is_void_v<result>) {
            as_borrower(s, &call<F>, &f);
        } else {
            result r{};
            auto into_r = [&]() noexcept { r = f(); };
            as_borrower(s, &call<decltype(into_r)>, &into_r);
            return r;
        }
    }
    /// Calls f() at once if the caller owns the loop or nobody does. False: another thread is inside run().
    template <class F> bool at_once(F f) noexcept {
        impl::exec::section const s;
        if (mine(s)) {
            f();
            return true;
        }
        hold_while_idle const held(*this);
        if (held)
            f();
        return static_cast<bool>(held);
    }
    /// Another thread is inside run(), perhaps in the middle of an item: what changes in items only is not to be
    /// touched, even inside as_owner().
    bool is_run_elsewhere() const noexcept { return ownership_.has_members() && !is_running_this(); }
    /// As at_once() with f(true), or the owner calls f(false) soon. Without memory for that, the caller waits until it
    /// can have the loop for a moment, and f(true) is called.
    template <class F> void on_owner(F f) noexcept {
        impl::exec::section const s;
        if (!on_owner_or(f)) {
            auto at_once = [&f]() noexcept { f(true); };
            as_borrower(s, &call<decltype(at_once)>, &at_once);
        }
    }

private:
    friend class io::impl::run_watch;
    class membership;
    struct timers;
    struct run_state;
    enum class next : unsigned char;

    /// A function for the owner, in a block of the recycler. It is no operation, and never runs as one.
    template <class F> struct request : op {
        F function;
        explicit request(F& f) noexcept : function(f) {}
        static request* make(F& f) noexcept {
            static_assert(std::is_nothrow_copy_constructible_v<F>);
            void* const memory = impl::exec::recycle_allocate_or_null(sizeof(request));
            return memory ? ::new (memory) request(f) : nullptr;
        }
        static void carry_out(loop&, op& o) {
            auto& self = static_cast<request&>(o);
            F f(self.function);
            self.~request();
            impl::exec::recycle_free(&self);
            f(false);
        }
        inline static constinit impl::exec::owner_request what{{}, &carry_out};
    };

    io_loop(execution_context& context, impl::base::owned<io::driver> d);
    void attach(io::driver& d) noexcept;
    ~io_loop();

    std::int64_t clock_ns() noexcept override;
    void wake() noexcept override;
    FAIRLEAD_COLD void submit_from_outside(io::io_op& o, impl::exec::inside_section s) noexcept;
    template <class F> static void call(void* f) noexcept { (*static_cast<F*>(f))(); }
    struct question;
    struct borrowing;
    FAIRLEAD_COLD void as_borrower(impl::exec::section const& s, void (*f)(void*), void* arg) noexcept;
    bool enter(std::int64_t until_ns, impl::exec::blocking_wait const* for_whom) noexcept {
        return !is_bound_ || enter_alone(until_ns, for_whom);
    }
    FAIRLEAD_COLD bool enter_alone(std::int64_t until_ns, impl::exec::blocking_wait const* for_whom) noexcept;
    void submit_here(io::io_op& o) noexcept;
    void arm_here(io::timer_op& o) noexcept;
    template <class Op, void (io_loop::*Start)(Op&) noexcept> void hand_in(Op& o) noexcept;
    /// False: there was no memory.
    template <class F> bool on_owner_or(F& f) noexcept {
        if (at_once([&f] { f(true); }))
            return true;
        auto* const o = request<F>::make(f);
        if (o)
            post_request(*o, request<F>::what);
        return o;
    }
    template <class Find> void cancel_one(op& o, Find find) noexcept;
    void call_for_marked() noexcept;
    void cancel_marked() noexcept;
    template <class Last> void abandon_all_and(Last last) noexcept;
    std::size_t run(std::size_t most, std::int64_t until_ns, impl::exec::blocking_wait const* for_whom);
    // A turn of run(). Where the loop sleeps between two messages, each of them pays for all that is inlined here.
    FAIRLEAD_ALWAYS_INLINE bool begin_turn(run_state& r) noexcept;
    void look_around_first(run_state const& r) noexcept;
    FAIRLEAD_ALWAYS_INLINE next run_items(run_state& r);
    next run_shared_items(run_state& r);
    batch run_batch_until(run_state& r, impl::exec::inside_section only);
    FAIRLEAD_ALWAYS_INLINE next attend_to_others(run_state const& r) noexcept;
    FAIRLEAD_ALWAYS_INLINE next expire_due_timers(run_state& r) noexcept;
    FAIRLEAD_ALWAYS_INLINE next poll_driver(run_state& r) noexcept;
    next poll_once(run_state const& r) noexcept;
    bool leave_it_to_others(run_state& r, std::int64_t wait_until) noexcept;
    FAIRLEAD_ALWAYS_INLINE void sleep(run_state const& r, std::int64_t wait_until) noexcept;
    FAIRLEAD_COLD bool has_looked_out(run_state const& r, std::int64_t wait_until) noexcept;
    bool may_sleep_beside_others(run_state const& r, std::int64_t& wait_until) noexcept;
    void share_driver(bool on) noexcept;
    bool has_work(unsigned own) noexcept;
    void expire_timers(std::int64_t now) noexcept;
    void expire_timers_ahead(std::int64_t now) noexcept;
    bool is_time_to_look(std::int64_t now) noexcept;
    std::int64_t look_at_clock() noexcept;
    std::int64_t look_around() noexcept;
    void look_at_driver(std::int64_t now) noexcept;

    impl::base::owned<io::driver> driver_;
    io::reactor* reactor_; ///< the driver's, as the next two
    io::descriptors* descriptors_;
    io::host* host_;
    bool const is_bound_;                   ///< the reactor was when the loop was made
    std::atomic<io::reactor*> waker_;       ///< as reactor_, for threads that do not own the loop
    impl::base::owned<io::driver> retired_; ///< made in time: there may be no memory when it is needed
    impl::base::owned<timers> timers_;
    loop_counters counters_{};
    std::atomic<std::int64_t> seen_ns_{0}; ///< when a program last read the clock; 0: not since we did
    unsigned batches_since_poll_ = 0;
    impl::exec::adaptive_spin spin_;
    std::atomic<std::uint64_t> counters_items_{0};
    op marked_;                      ///< a request to look for ops with a mark
    std::atomic<unsigned> marks_{0}; ///< since it was posted; 0: it is not in the inbox
    std::atomic<std::size_t> references_{1};
    std::atomic<bool> is_retired_{false};
    std::atomic<other_waits*> other_waits_{nullptr};
    bool has_own_thread_ = false;
    std::atomic<std::uint64_t> watch_{0}; ///< the number of the io::impl::run_watch; 0: nobody watches
};

namespace io {

/// How the ops of descriptors and timers are asked to end early (operation/operation_slot.hpp).
struct descriptor_canceller {
    io_loop* engine;
    io::handle handle;
    cancellation_type accepts;
    void request(op& o) const { engine->ask(handle, o); }
    void end(io_op& o) const noexcept { engine->reactor().cancel(o); }
};
/// How this op is asked to end early, and for which types of requests.
inline descriptor_canceller cancellation_of(io_op& o, loop& home) noexcept {
    // A whole transfer may have moved something, and cannot promise that it has not.
    bool const whole = o.kind == kind::receive_all || o.kind == kind::send_all;
    auto const some = cancellation_type::terminal | cancellation_type::partial;
    return {&io_loop::of(home), o.handle, whole ? some : some | cancellation_type::total};
}
/// As descriptor_canceller, for an armed timer.
struct timer_canceller {
    io_loop* engine;
    timer_op* o;
    static constexpr auto accepts = cancellation_type::terminal | cancellation_type::partial | cancellation_type::total;
    void request(op&) const { engine->ask(*o); }
    void end(timer_op& pending) const noexcept {
        if (pending.heap_index != timed::not_armed)
            engine->cancel(pending);
    }
};
inline timer_canceller cancellation_of(timer_op& o, loop& home) noexcept { return {&io_loop::of(home), &o}; }
/// The op lives while it is asked: it leaves the slot before it goes.
struct signal_canceller {
    io_loop* engine;
    signal_op* o;
    static constexpr auto accepts = cancellation_type::terminal | cancellation_type::partial | cancellation_type::total;
    void request(op&) const { engine->host().cancel_signal(*o); }
    void end(signal_op& pending) const noexcept { engine->host().cancel_signal(pending); }
};
inline signal_canceller cancellation_of(signal_op& o, loop& home) noexcept { return {&io_loop::of(home), &o}; }
/// As signal_canceller, for a look-up.
struct resolve_canceller {
    io_loop* engine;
    resolve_op* o;
    static constexpr auto accepts = cancellation_type::terminal | cancellation_type::partial | cancellation_type::total;
    void request(op&) const { engine->host().cancel_resolve(*o); }
    void end(resolve_op& pending) const noexcept { engine->host().cancel_resolve(pending); }
};
inline resolve_canceller cancellation_of(resolve_op& o, loop& home) noexcept { return {&io_loop::of(home), &o}; }

} // namespace io

} // namespace fairlead
