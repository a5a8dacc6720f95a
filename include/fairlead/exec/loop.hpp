// A run queue with one owner at a time, an inbox for all other threads, and the fairness budget.
//
// io_context adds the driver and the timers. This part knows nothing of the world. It asks for the time and for a
// wake-up through two functions of the derived class, on cold paths only.
#pragma once

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/exec/await_record.hpp>
#include <fairlead/exec/blocking_wait.hpp>
#include <fairlead/exec/budget.hpp>
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/op.hpp>
#include <fairlead/exec/ownership.hpp>
#include <fairlead/exec/pace.hpp>
#include <fairlead/exec/resumer.hpp>
#include <fairlead/exec/rundown.hpp>
#include <fairlead/exec/share.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

namespace fairlead {

class loop;

namespace impl::exec {

/// Stands in the `prev` link of an op that is in the inbox, where that is no place in a list. The owner does this with
/// the op in place of queueing it.
struct owner_request : op_link {
    void (*carry_out)(loop& owned, op& o);
};

/// One run() on a thread's stack.
struct run_frame {
    loop* runs;
    run_frame* outer;
    /// The thread's count of sections while a handler runs. With 0 the loop can be taken from it. With 1 it cannot:
    /// inside another run() of the same loop, and in all that runs there. The thread then gives the loop away by
    /// itself.
    unsigned section_of_handlers;
    exec::share share;
};

/// The state of a thread, for itself.
struct thread_state {
    loop* current;                  ///< whose run() the thread is inside of, the innermost; its clock is the thread's
    run_frame* frames;              ///< all of them, the innermost first
    await_record* next;             ///< whom the trampoline resumes when the current coroutine has suspended
    await_record const* starting;   ///< the record for which a generic operation is being started right now
    bool dropped;                   ///< the handler of that operation was destroyed without being called
    bool await_failed;              ///< the coroutine that goes on next finds an exception where its result would be
    bool is_outside;                ///< it runs something for an executor that is no loop
    unsigned depth;                 ///< nested trampolines
    unsigned immediate_depth;       ///< nested handlers that run inline because they asked for it
    owning_thread owning;           ///< what stands for it as the owner of loops
    budget item;                    ///< of the item that the thread is running
    pace outside;                   ///< of what it runs for executors that are no loops
    blocking_wait* waits;           ///< for an operation it has started with `block`
    std::uint64_t record_overflows; ///< blocks of awaited operations that did not fit into their await record
    void const* newest_frame;       ///< the memory of the coroutine that was made last
};
extern FAIRLEAD_EXPORT constinit thread_local FAIRLEAD_HOT_TLS thread_state this_thread;

/// Takes one unit of the current item's budget. False: the caller must give way before it does anything.
FAIRLEAD_EXPORT FAIRLEAD_COLD bool spend_slow() noexcept;
inline bool spend() noexcept {
    if (this_thread.item.take()) [[likely]]
        return true;
    return spend_slow();
}

/// Shows that its holder is inside a section, to functions that have to be called there.
class inside_section {
    friend class entered_section;
    constexpr inside_section() noexcept = default;
};

/// A section that is left by a call: of leave(), or of a function that is called last and gets it from hand_on(). Then
/// the caller keeps nothing across that call, and saves a register less, also where the call is not made.
class entered_section {
public:
    FAIRLEAD_ALWAYS_INLINE entered_section() noexcept
        : outer_(this_thread.owning.sections.load(std::memory_order_relaxed)) {
        this_thread.owning.sections.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst); // The barrier of a joiner does the rest.
    }
    struct handed_on {
        unsigned outer;
    };
    explicit entered_section(handed_on h) noexcept : outer_(h.outer) {}
    entered_section(entered_section const&) = delete;
    entered_section& operator=(entered_section const&) = delete;

    FAIRLEAD_ALWAYS_INLINE void leave() const noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        this_thread.owning.sections.store(outer_, std::memory_order_release);
    }
    handed_on hand_on() const noexcept { return {outer_}; }
    constexpr operator inside_section() const noexcept { return {}; }
    /// 0: the thread was in no other section before.
    unsigned outer() const noexcept { return outer_; }

private:
    unsigned const outer_;
};

/// While one of these exists, a loop that the calling thread owns stays its own. Sections nest. Entering stores a
/// constant and leaving what was found, so that sections one after the other do not wait for each other's stores.
class section : public entered_section {
public:
    FAIRLEAD_ALWAYS_INLINE section() noexcept {}
    explicit section(handed_on h) noexcept : entered_section(h) {}
    FAIRLEAD_ALWAYS_INLINE ~section() { leave(); }
};

} // namespace impl::exec

/// A run queue that one thread at a time owns, with an inbox for what the others post. Contexts have one (io_loop).
class FAIRLEAD_EXPORT loop : public resumer {
public:
    /// True when the calling thread owns the loop: it is alone inside run(), or has taken the loop for a moment. It
    /// stays true only inside a section, hence whoever asks shows one.
    bool mine(impl::exec::inside_section) const noexcept { return ownership_.is_of(impl::exec::this_thread.owning); }
    /// The shortest form of the question: false also when it takes longer to answer.
    bool plainly_mine(impl::exec::inside_section) const noexcept {
        return ownership_.is_plainly_of(impl::exec::this_thread.owning);
    }
    /// May the calling thread try operations at once? The owner may; so may others with a share, if the driver is
    /// shared.
    bool may_try(impl::exec::inside_section s) const noexcept { return mine(s) || has_share_of_driver(); }
    /// Something that stands for the calling thread, for as long as it lives.
    static void const* self() noexcept { return &impl::exec::this_thread; }
    /// True inside run() of this loop, whoever owns it at the moment.
    bool runs_here() const noexcept override { return is_running_this(); }
    bool is_running_this() const noexcept {
        auto const* f = impl::exec::this_thread.frames;
        return f && (f->runs == this || is_running_further_out(*f));
    }

    /// Nanoseconds on the driver's clock. Any thread.
    virtual std::int64_t clock_ns() noexcept = 0;

    /// Appends to the run queue. Owner only, inside a section.
    void push(op& o) noexcept { local_.push_back(o); }

    /// Appends from any thread; the op is the loop's when this returns.
    FAIRLEAD_ALWAYS_INLINE void post(op& o) noexcept {
        impl::exec::section const s;
        if (plainly_mine(s)) [[likely]]
            local_.push_back(o);
        else
            post_from_outside(o, s);
    }
    /// As post(), where it is the last that a suspended coroutine does.
    FAIRLEAD_ALWAYS_INLINE void post_last(op& o) noexcept {
        impl::exec::entered_section const s;
        if (plainly_mine(s)) [[likely]] {
            local_.push_back(o);
            s.leave();
        } else {
            post_last_from_outside(o, s.hand_on());
        }
    }
    /// As post(), for callers that hold a lock: never waits for another thread, which might want the lock. The next
    /// post of this thread may come first.
    void drop_in(op& o) noexcept;
    void resume_soon(op& o) noexcept override { post(o); }
    loop* as_loop() noexcept final { return this; }

    /// For a thread that waits for something this loop has to do. Runs an item if no thread is inside run(). Waits for
    /// one until `w` is over or `timeout_ns` (negative: without limit) have passed. False: another thread runs the
    /// loop, or there is no work.
    virtual bool drive(impl::exec::blocking_wait const& w, std::int64_t timeout_ns) = 0;
    /// Marks an op, in `cancel`, that belongs to a driver and does not count as a handler. When it runs, it counts
    /// itself among the functions of the budget.
    static void* not_a_handler() noexcept { return &not_a_handler_; }
    /// Ends such a wait early. Any thread.
    void wake_driver() noexcept { wake(); }
    /// The driver has to look again at once, also if the owner is about to sleep in it. Any thread.
    void wake_if_asleep() noexcept {
        if (is_asleep())
            wake();
    }

    /// Work that no queue shows: guards, and operations of other contexts whose handler belongs here.
    void work_started() noexcept { outside_work_.fetch_add(1, std::memory_order_relaxed); }
    void work_finished() noexcept {
        if (!impl::exec::count_down_unless_last(outside_work_))
            last_work_finished();
    }
    void count_work(int change) noexcept override {
        if (change > 0)
            work_started();
        else
            work_finished();
    }

    yield_counters yields() const noexcept;
    /// The context whose executors run this loop.
    execution_context& context() const noexcept { return context_; }

    /// Resumes the innermost coroutine of the chain, and whomever the trampoline names after it, within the budget.
    static void resume_chain(await_record& r) {
        on_trampoline([&r] {
            if (auto* const innermost = r.innermost) [[likely]]
                innermost->handle().resume();
            else
                r.hooks->resume(&r);
        });
    }
    /// The loop's run queue: resumes the coroutine in whose record `o` lies, or sends it home.
    void resume_op(op& o) {
        await_record& r = await_record::of(o);
        if (r.home != this || r.notes) [[unlikely]]
            resume_at(this, r, o);
        else
            resume_chain(r);
    }
    /// For executors that are no loops: runs what was given to them, or resumes its coroutine, which is at home there.
    /// In a thread that runs no loop it has a budget of its own, unless it is part of something that has one.
    static void run_outside(op& o);
    /// Gives up an op that will never complete.
    static void abandon(op& o);
    /// Puts the coroutine of `r` at the end of its home's queue. Its bytes must be free.
    static void resume_later(await_record& r) noexcept;
    /// As resume_later(), from inside the coroutine.
    static void yield(await_record& r) noexcept;

protected:
    explicit loop(execution_context& context) noexcept : context_(context) {}
    ~loop();

    /// Makes a sleeping owner look at its inbox. Any thread.
    virtual void wake() noexcept = 0;

    /// Whether the thread still has the loop after run_batch.
    enum class batch : unsigned char { kept, lost };
    /// Owner, inside its only section: runs up to `most` items and at most one batch, and counts them in `done`. Lost:
    /// another thread has taken the loop while a handler ran.
    batch run_batch(std::size_t most, std::size_t& done, impl::exec::inside_section only);
    /// Owner: so many ops have come from other threads so far.
    std::uint64_t taken_from_inbox() const noexcept { return taken_from_inbox_; }
    /// Owner: so many items have had their turn.
    void have_run(unsigned items) noexcept {
        pace_.ran(items);
        turns_owed_ -= items < turns_owed_ ? items : turns_owed_;
    }
    /// Owner, inside its only section; the queue is not empty. Takes a share of it, gives the loop away, and runs the
    /// share and what its items post, which counts in `done`. While nothing else is queued that may go on for a slice.
    /// Takes the loop back if it is free by then. Returns how many have had their turn beyond those that were taken.
    unsigned run_share(std::size_t most, std::size_t& done, impl::exec::inside_section only);
    bool has_shares() const noexcept { return shares_.are_open(); }
    /// Owner, inside run() with others: is it quicker alone? Then there is no share to be had of what is queued.
    FAIRLEAD_COLD bool is_better_alone() noexcept;
    /// Owner: gives the loop away for some microseconds, without waking anybody.
    void step_back() noexcept;
    /// Owner, with nothing to do while other threads have shares and come back soon: leaves the loop to them, at most
    /// for so long.
    void watch(std::int64_t timeout_ns) noexcept;
    bool others_come_back_soon() noexcept { return shares_.come_back_soon(clock_ns()); }
    /// Owner: moves what stands in the shares of other threads to the queue.
    impl::exec::shares::found take_over_shares() noexcept {
        return shares_.take_over(local_, &impl::exec::this_thread.frames->share);
    }
    /// The calling thread runs a share of this loop.
    bool has_share_here() const noexcept {
        auto const* const f = impl::exec::this_thread.frames;
        return f && f->runs == this && f->share.is_open();
    }
    /// Inside a section: whoever has the loop is to run what is left of the calling thread's share.
    void close_share(impl::exec::share& s) noexcept;
    /// Owner: moves what other threads posted into the run queue, in the order of arrival, and does what they ask for.
    bool take_inbox() noexcept;
    /// Hands `o` to the owner, who does with it what `what` says. Any thread; the owner does so when it next looks into
    /// its inbox.
    void post_request(op& o, impl::exec::owner_request& what) noexcept;
    /// Owner: announces sleep. False: the inbox is not empty, do not sleep.
    bool fall_asleep() noexcept;
    /// Owner: takes the announcement back; what came meanwhile is in the run queue.
    /// Whether there are posts.
    bool awake() noexcept;
    /// Looks at the inbox for some hundred nanoseconds. True: there are posts.
    bool is_posted_in_a_moment() const noexcept;
    /// Whether another thread can post meanwhile.
    static bool has_a_second_processor() noexcept;
    bool has_outside_work() const noexcept { return outside_work_.load(std::memory_order_acquire) > 0; }
    bool inbox_empty() const noexcept { return inbox_.load(std::memory_order_relaxed) == nullptr; }
    /// Anything on its way to the owner, who may have announced its sleep? Asks in this order: an item that another
    /// thread runs posts before it stops counting as work. `own` revoked threads do not count: they are the caller.
    bool has_work_of_others(unsigned own) const noexcept {
        return has_outside_work() || ownership_.revoked() > own || has_posts();
    }
    /// The item of a revoked thread has ended.
    void revoked_is_back() noexcept;
    bool is_asleep() const noexcept;
    bool has_posts() const noexcept;

    /// Takes the loop for a moment, to act at once as its owner, with all that came before in the run queue. Give it
    /// back with leave_idle(). Inside a section that lasts until then. False: a thread is inside run(), use the inbox.
    bool take_while_idle() noexcept;
    /// The next caller of run() may find all that it was to do, and end the loop.
    void leave_idle() noexcept {
        impl::exec::rundown::guard const here(rundown_);
        disown();
    }
    /// take_while_idle() for as long as this lives, if it can have the loop at all.
    class hold_while_idle {
    public:
        explicit hold_while_idle(loop& of) noexcept : loop_(of), is_held_(of.take_while_idle()) {}
        hold_while_idle(hold_while_idle const&) = delete;
        hold_while_idle& operator=(hold_while_idle const&) = delete;
        ~hold_while_idle() {
            if (is_held_)
                loop_.leave_idle();
        }
        explicit operator bool() const noexcept { return is_held_; }

    private:
        loop& loop_;
        bool const is_held_;
    };
    void disown(bool at_once = true) noexcept { ownership_.give_back(impl::exec::this_thread.owning, at_once); }

    /// Every op that is queued here is abandoned, then the roots of the coroutines concerned are destroyed; false when
    /// there was nothing to do.
    bool abandon_queued();

    FAIRLEAD_COLD void last_work_finished() noexcept;
    static void resume_rest();

    execution_context& context_;
    op_queue local_;
    std::atomic<bool> stopped_{false};
    impl::exec::pace pace_;      ///< the owner's
    std::size_t turns_owed_ = 0; ///< that the queue takes before anything goes ahead of it again
    impl::exec::ownership ownership_;
    impl::exec::shares shares_;
    impl::exec::rundown rundown_; ///< threads that are not inside run(): their last looks

    bool is_driver_shared_ = false; ///< changed by the owner, to false only while no other thread is inside run()
    bool is_kept_ = false;          ///< the last answer of is_better_alone()

private:
    friend bool impl::exec::spend_slow() noexcept;
    FAIRLEAD_COLD bool has_share_of_driver() const noexcept;
    /// Owner: what the thread may do before the next look at the clock.
    impl::exec::budget& begin_stretch(impl::exec::pace const& pace, std::size_t most) noexcept;
    unsigned take_share(impl::exec::share& share, unsigned most, bool& leaves_some) noexcept;
    /// Owner, with threads that have shares: gives the loop away, and lets them know whether anything is queued.
    void leave_to_others(bool at_once) noexcept;
    FAIRLEAD_NOINLINE static void run_outside_alone(op& o);
    bool is_running_further_out(impl::exec::run_frame const& f) const noexcept;
    FAIRLEAD_COLD void post_from_outside(op& o, impl::exec::inside_section s) noexcept;
    FAIRLEAD_COLD void post_last_from_outside(op& o, impl::exec::section::handed_on h) noexcept {
        impl::exec::section const s(h);
        post_from_outside(o, s);
    }
    void push_inbox(op& o) noexcept;
    bool take_soon() noexcept;
    FAIRLEAD_COLD void push_inbox_and_wake(op& o) noexcept;
    template <class F> static void on_trampoline(F first) {
        auto& thread = impl::exec::this_thread;
        ++thread.depth;
        impl::base::at_scope_end const one_less([&thread] { --thread.depth; });
        first();
        // Set by a coroutine that called a child or has ended, and by nothing else: null at all other times.
        if (thread.next) [[unlikely]]
            resume_rest();
    }
    FAIRLEAD_COLD static void resume_at(resumer* here, await_record& r, op& o);

    static char not_a_handler_;

    std::atomic<std::uint64_t> yields_[3]{}; ///< budget, deadline, remote
    std::uint64_t taken_from_inbox_ = 0;     // by the owner
    /// As of the last time that the loop was given away. While it is, a share ends after one turn of each item.
    std::atomic<bool> is_anything_queued_{false};
    alignas(64) std::atomic<op*> inbox_{nullptr};
    std::atomic<std::int64_t> outside_work_{0};
};

} // namespace fairlead
