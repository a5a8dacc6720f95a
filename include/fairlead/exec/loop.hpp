// A run queue with one owner at a time, an inbox for all other threads, and the fairness budget.
//
// io_context adds the driver and the timers. This part knows nothing of the world: it asks for the time and for a
// wake-up through two functions of the derived class, on cold paths only.
#pragma once

#include <fairlead/exec/await_record.hpp>
#include <fairlead/exec/budget.hpp>
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/op.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

namespace fairlead {

namespace detail {

/// What a thread knows about itself.
struct thread_state {
    loop* current;                  ///< whose run() the thread is inside of, the innermost
    await_record* next;             ///< whom the trampoline resumes when the current coroutine has suspended
    await_record const* starting;   ///< the record for which a generic operation is being started right now
    bool dropped;                   ///< the handler of that operation was destroyed without being called
    unsigned depth;                 ///< nested trampolines
    unsigned immediate_depth;       ///< nested handlers that run inline because they asked for it
    std::exception_ptr* thrown;     ///< what a handler threw at the end of a coroutine; for the trampoline to rethrow
    std::uint64_t record_overflows; ///< blocks of awaited operations that did not fit into their await record
};
extern FAIRLEAD_EXPORT constinit thread_local FAIRLEAD_HOT_TLS thread_state this_thread;

} // namespace detail

class FAIRLEAD_EXPORT loop {
public:
    loop(loop const&) = delete;
    loop& operator=(loop const&) = delete;

    /// True when the calling thread owns the loop: it is inside run(), or has taken the idle loop for a moment.
    bool mine() const noexcept { return owner_.load(std::memory_order_relaxed) == self(); }

    /// Appends to the run queue. Owner only.
    void push(op& o) noexcept { local_.push_back(o); }

    /// Appends from any thread; the op is the loop's when this returns.
    void post(op& o) noexcept {
        if (mine()) [[likely]]
            local_.push_back(o);
        else
            post_from_outside(o);
    }

    /// Takes one unit of the current item's budget. False: the caller must give way before it does anything.
    bool spend() noexcept {
        if (budget_.take()) [[likely]]
            return true;
        return spend_slow();
    }

    /// Work that no queue shows: guards, and operations of other contexts whose handler belongs here.
    void work_started() noexcept { outside_work_.fetch_add(1, std::memory_order_relaxed); }
    void work_finished() noexcept {
        if (outside_work_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            outside_work_gone();
    }

    yield_counters const& yields() const noexcept { return yields_; }
    execution_context& context() const noexcept { return context_; }

    /// Resumes the coroutine of `r` and whomever the trampoline names after it, within the budget.
    static void resume_chain(await_record& r) {
        auto& thread = detail::this_thread;
        struct level {
            detail::thread_state& thread;
            ~level() { --thread.depth; }
        } const one_more{thread};
        ++thread.depth;
        r.handle.resume();
        // Set by a coroutine that called a child or has ended, and by nothing else: null at all other times.
        if (thread.next) [[unlikely]]
            resume_rest();
    }
    /// The loop's run queue: resumes the coroutine in whose record `o` lies, or sends it home.
    void resume_op(op& o) {
        await_record& r = await_record::of(o);
        if (r.home != this || r.foreign || r.hooks) [[unlikely]]
            resume_elsewhere(r, o);
        else
            resume_chain(r);
    }
    /// Gives up an op that will never complete.
    static void abandon(op& o);
    /// Puts the coroutine of `r` at the end of its loop's queue. Its bytes must be free.
    static void resume_later(await_record& r) noexcept;
    /// Makes the trampoline that resumed the current coroutine throw `e`. An exception must not leave await_suspend of
    /// a coroutine whose frame is gone.
    static void throw_after_resume(std::exception_ptr e);
    /// Destroys the root of the await chain of `r` from its loop, once everything that is queued before it has gone:
    /// what the coroutine awaits will never complete.
    static void doom(await_record& r) noexcept;

    /// Something that stands for the calling thread, for as long as it lives.
    static void const* self() noexcept { return &detail::this_thread; }

protected:
    explicit loop(execution_context& context) noexcept : context_(context) {}
    ~loop();

    /// Nanoseconds on the driver's clock.
    virtual std::int64_t clock_ns() noexcept = 0;
    /// Makes a sleeping owner look at its inbox. Any thread.
    virtual void wake() noexcept = 0;

    /// Owner: runs up to `most` items and at most one batch. Returns how many.
    std::size_t run_batch(std::size_t most);
    /// Owner: moves what other threads posted into the run queue, in the order of arrival.
    bool take_inbox() noexcept;
    /// Owner: announces sleep. False: the inbox is not empty, do not sleep.
    bool fall_asleep() noexcept;
    /// Owner: takes the announcement back; what came meanwhile is in the run queue.
    void awake() noexcept;
    bool has_outside_work() const noexcept { return outside_work_.load(std::memory_order_acquire) > 0; }
    bool inbox_empty() const noexcept { return inbox_.load(std::memory_order_relaxed) == nullptr; }

    /// Tries to become the owner, returns the previous owner (null: it worked).
    void const* try_own() noexcept {
        void const* expected = nullptr;
        if (owner_.compare_exchange_strong(expected, self(), std::memory_order_acquire, std::memory_order_relaxed))
            return nullptr;
        return expected;
    }
    void disown() noexcept { owner_.store(nullptr, std::memory_order_release); }
    /// Takes the loop for a moment, to act at once as its owner, with what came before in the run queue; give it back
    /// with disown(). False: a thread is inside run(), use the inbox.
    bool take_while_idle() noexcept;

    /// Every op that is queued here is abandoned, then the roots of the coroutines concerned are destroyed; false when
    /// there was nothing to do.
    bool abandon_queued();

    FAIRLEAD_COLD void outside_work_gone() noexcept;

    execution_context& context_;
    op_queue local_;
    detail::budget budget_;
    std::int64_t slice_end_ns_ = 0; ///< 0: the clock was not looked at in this batch
    bool batch_over_ = false;       ///< an item ran to the end of the slice
    std::atomic<bool> stopped_{false};
    std::atomic<void const*> owner_{nullptr};
    std::atomic<bool> running_{false}; ///< the owner is inside run()
    yield_counters yields_{};
    alignas(64) std::atomic<op*> inbox_{nullptr};
    std::atomic<std::int64_t> outside_work_{0};

private:
    FAIRLEAD_COLD bool spend_slow() noexcept;
    bool slice_is_over() noexcept;
    FAIRLEAD_COLD void post_from_outside(op& o) noexcept;
    static void resume_rest();
    FAIRLEAD_COLD void resume_elsewhere(await_record& r, op& o);
};

} // namespace fairlead
