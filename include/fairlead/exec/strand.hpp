// Strands: executors whose functions never overlap.
#pragma once

#include <fairlead/exec/executor.hpp>

#include <atomic>
#include <cstddef>
#include <new>

namespace fairlead {

namespace detail {

/// The part that all copies of a strand share: the queue, and one op. That op stands in the queue of the executor below
/// while there is anything to run.
class FAIRLEAD_EXPORT strand_core {
public:
    strand_core(strand_core const&) = delete;
    strand_core& operator=(strand_core const&) = delete;

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            destroy();
    }
    void enqueue(op& o) noexcept;
    bool is_running_here() const noexcept;

protected:
    strand_core() noexcept;
    ~strand_core();

private:
    struct turn;
    /// Gives `o` to the executor below.
    virtual void schedule(op& o) = 0;
    virtual void destroy() noexcept = 0;
    static void run_turn(op* base, op_mode mode);
    void lock() noexcept;
    void unlock() noexcept { is_locked_.clear(std::memory_order_release); }
    op* next() noexcept;
    void schedule_turn() noexcept;

    struct turn_op : op {
        strand_core* core;
    };
    turn_op turn_;
    op_queue waiting_;
    op_queue taken_;            ///< what the turn has before it; only the turn touches it, without the lock
    bool is_scheduled_ = false; ///< the turn is queued below, or running
    std::atomic<bool> has_waiting_{false};
    std::atomic_flag is_locked_ = ATOMIC_FLAG_INIT;
    std::atomic<std::size_t> references_{1};
};

template <class Executor> class strand_core_on final : public strand_core {
public:
    static strand_core* make(Executor const& e) { return new strand_core_on(e); }

private:
    explicit strand_core_on(Executor const& e) : below_(e) {}
    void schedule(op& o) override { impl::exec::execute_op(below_, o); }
    void destroy() noexcept override { delete this; }
    Executor below_;
};

} // namespace detail

/// Runs functions on the executor below, one at a time, and in the order in which they came. Copies are the same strand
/// and compare equal. Each strand has a queue of its own, so two of them never wait for each other.
/// After a bounded number of functions, or when they have taken long, the strand goes to the end of the queue below it.
/// Threads    any
/// Allocates  one block when it is made; nothing for what a loop of the library runs
template <class Executor = any_io_executor> class strand : public impl::exec::ts_members<strand<Executor>> {
public:
    using inner_executor_type = Executor;
    using takes_properties = void;

    strand()
        requires std::default_initializable<Executor>
        : strand(Executor()) {}
    /// On `e`, or on what it converts to, as an io_context's executor to any_io_executor.
    template <class E>
        requires(!std::same_as<E, strand> && std::convertible_to<E const&, Executor>)
    explicit strand(E const& e) : below_(e),
                                  core_(detail::strand_core_on<Executor>::make(below_)) {}
    strand(strand const& other) noexcept : below_(other.below_), core_(other.core_) { core_->retain(); }
    strand(strand&& other) noexcept : strand(other) {}
    /// The same strand behind a wider type.
    template <class Other>
        requires(!std::same_as<Other, Executor> && std::convertible_to<Other const&, Executor>)
    strand(strand<Other> const& other) : below_(other.get_inner_executor()),
                                         core_(other.core_) {
        core_->retain();
    }
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): retain() comes first
    strand& operator=(strand const& other) noexcept {
        other.core_->retain();
        core_->release();
        core_ = other.core_;
        below_ = other.below_;
        return *this;
    }
    ~strand() { core_->release(); }

    inner_executor_type get_inner_executor() const noexcept { return below_; }
    execution_context& context() const { return impl::exec::context_of(below_); }
    bool running_in_this_thread() const noexcept { return core_->is_running_here(); }

    /// Runs f(), never inside this call.
    template <class F> void execute(F&& f) const {
        if constexpr (std::same_as<std::decay_t<F>, impl::exec::op_function>)
            core_->enqueue(f.release());
        else
            core_->enqueue(*impl::exec::function_op<std::decay_t<F>>::make(std::forward<F>(f)));
    }
    /// As execute(): a function that must not run inside the call needs no other strand, whose copy would be counted.
    template <class F> void queue(F&& f) const { execute(std::forward<F>(f)); }
    void on_work_started() const noexcept {
        if constexpr (impl::exec::tracks_work<Executor>)
            below_.on_work_started();
    }
    void on_work_finished() const noexcept {
        if constexpr (impl::exec::tracks_work<Executor>)
            below_.on_work_finished();
    }

    friend bool operator==(strand const& a, strand const& b) noexcept { return a.core_ == b.core_; }

private:
    template <class> friend class strand;
    Executor below_;
    detail::strand_core* core_;
};

/// A new strand over an executor, or over that of a context.
template <io_executor Executor> strand<Executor> make_strand(Executor const& e) { return strand<Executor>(e); }
template <class Context>
    requires execution_context_type<Context>
strand<typename Context::executor_type> make_strand(Context& c) {
    return strand<typename Context::executor_type>(c.get_executor());
}

} // namespace fairlead
