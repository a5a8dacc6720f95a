// Ops that wait for another coroutine or handler: for a permit, an event, room in a scope. No driver knows of them.
//
// All that wait on one loop share a lock, which their domain has. The object that they wait for may go while one of
// them is being cancelled; the domain stays. The loop finds them through it when everything is to be abandoned. A
// thread that is alone with its loop takes the lock by plain stores.
#pragma once

#include <fairlead/exec/biased_lock.hpp>
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/io/io_loop_for.hpp>

#include <cstddef>
#include <memory>

namespace fairlead::impl::sync {

class wait_domain;
class wait_list;

struct wait_op : op {
    wait_domain* domain;
    wait_list* list; ///< in which it stands; null: in none. Under the lock of the domain
    std::size_t amount;
    wait_op() noexcept {}
};

/// The ops that wait for one object, in the order of arrival. Everything here happens under the lock of the domain.
class wait_list {
public:
    wait_list(wait_list const&) = delete;
    wait_list& operator=(wait_list const&) = delete;

    bool empty() const noexcept { return ops_.empty(); }
    wait_op& front() noexcept { return static_cast<wait_op&>(*ops_.front()); }
    std::size_t size() const noexcept { return size_; }

protected:
    explicit wait_list(int error_of_cancelled) noexcept : error_of_cancelled_(error_of_cancelled) {}
    ~wait_list() = default;

private:
    friend class wait_domain;
    /// Moves those that need not wait any more to `ready`. One of them may have been cancelled.
    virtual void let_go(op_queue& ready) noexcept = 0;

    op_queue ops_;
    std::size_t size_ = 0;
    wait_list* next_ = nullptr; ///< among those that the domain knows
    wait_list* previous_ = nullptr;
    bool is_known_ = false; ///< to the domain, since the first wait
    int const error_of_cancelled_;
};

/// The waits on the loop of one context. Objects that outlive the context keep it.
class FAIRLEAD_EXPORT wait_domain final : io_loop::other_waits, public std::enable_shared_from_this<wait_domain> {
public:
    explicit wait_domain(execution_context& c) : engine_(io::impl::io_loop_of_context(c)) {}
    ~wait_domain() { engine_->abandons_no_more(*this); }
    wait_domain(wait_domain const&) = delete;
    wait_domain& operator=(wait_domain const&) = delete;

    io_loop& engine() const noexcept { return *engine_; }
    /// From then on the loop knows it.
    void enter_loop() noexcept {
        if (engine_->abandoned_too() != this)
            engine_->abandons_too(*this);
    }
    /// Null: nobody has asked for it yet.
    static wait_domain* known_to(io_loop& l) noexcept { return static_cast<wait_domain*>(l.abandoned_too()); }
    /// Calls f(ready) under the lock, and then posts what that has moved to `ready`.
    template <class F> FAIRLEAD_ALWAYS_INLINE void change(F f) noexcept {
        op_queue ready;
        under_lock([f, &ready]() noexcept { f(ready); });
        while (!ready.empty())
            engine_->post(*ready.pop_front());
    }
    /// Calls f() under the lock, where nothing is to be posted. `f` lies in registers, as long as nobody has its
    /// address. So the other way has a copy, and functions that pass one on have it by value.
    template <class F> FAIRLEAD_ALWAYS_INLINE void under_lock(F f) noexcept {
        if (lock_.try_as_biased(f)) [[likely]]
            return;
        F copy(f);
        with_lock(&call<F>, &copy);
    }
    /// Calls f() where that takes no lock. Else the caller goes the long way.
    template <class F> FAIRLEAD_ALWAYS_INLINE void do_without_lock(F f) noexcept {
        static_cast<void>(lock_.try_as_biased(f));
    }
    /// Whether f() has done all that there is to do, without a lock.
    template <class F> FAIRLEAD_ALWAYS_INLINE bool is_done_without_lock(F f) noexcept {
        bool is_done = false;
        do_without_lock([f, &is_done]() noexcept { is_done = f(); });
        return is_done;
    }
    /// Returns what `f` does under the lock.
    template <class F> FAIRLEAD_ALWAYS_INLINE auto look(F f) noexcept {
        decltype(f()) answer{};
        under_lock([f, &answer]() noexcept { answer = f(); });
        return answer;
    }

    // ---- under the lock
    void append(wait_list& l, wait_op& o) noexcept {
        if (!l.is_known_) [[unlikely]]
            get_to_know(l);
        o.list = &l;
        ++l.size_;
        l.ops_.push_back(o);
    }
    /// Takes one that waits out of its list. It still has to end.
    static void take(wait_op& o) noexcept {
        op_queue::unlink(o);
        --o.list->size_;
        o.list = nullptr;
    }
    /// The first of `l` need not wait any more.
    void let_first_go(wait_list& l, op_queue& ready) noexcept { ready.push_back(release_first(l)); }
    /// The first of `l` need not wait any more. The caller posts it.
    static wait_op& release_first(wait_list& l) noexcept {
        wait_op& o = l.front();
        take(o);
        o.result = {0, 0, 0};
        return o;
    }
    /// All complete with the error of cancelled waits. Returns how many.
    std::size_t cancel_all(wait_list& l, op_queue& ready) noexcept { return end_all(l, l.error_of_cancelled_, ready); }
    std::size_t end_all(wait_list& l, int error, op_queue& ready) noexcept;

    // ---- without it
    /// Nobody waits in `l`, which goes.
    void forget(wait_list& l) noexcept {
        if (l.is_known_)
            forget_known(l);
    }
    /// Ends one that still waits with the error of cancelled waits. Any thread, while the op cannot go.
    void cancel(wait_op& o) noexcept;

private:
    template <class F> static void call(void* f) noexcept { (*static_cast<F*>(f))(); }
    FAIRLEAD_COLD void with_lock(void (*f)(void*) noexcept, void* arg) noexcept;
    void get_to_know(wait_list& l) noexcept;
    FAIRLEAD_EXPORT void forget_known(wait_list& l) noexcept;
    void end_wait(wait_op& o, int error, op_queue& ready) noexcept;
    void take_pending(op_queue& to) noexcept override;
    void run_ends() noexcept override;

    io::impl::io_loop_ref engine_;
    exec::biased_lock lock_;
    wait_list* first_ = nullptr; ///< of those in which somebody has waited
};

FAIRLEAD_EXPORT std::shared_ptr<wait_domain> domain_of(execution_context& c);
/// The domain of an executor's context. A loop of ours knows its own, which takes no look among the services.
template <class Executor> std::shared_ptr<wait_domain> domain_for(Executor const& e) {
    if (loop* const l = exec::loop_of(e)) [[likely]]
        if (wait_domain* const known = wait_domain::known_to(io_loop::of(*l))) [[likely]]
            return known->shared_from_this();
    return domain_of(exec::context_of(e));
}

/// How such an op is asked to end early (operation/operation_slot.hpp).
struct wait_canceller {
    static constexpr auto accepts = cancellation_type::terminal | cancellation_type::partial | cancellation_type::total;
    void request(op& o) const noexcept { end(static_cast<wait_op&>(o)); }
    void end(wait_op& o) const noexcept { o.domain->cancel(o); }
};
inline wait_canceller cancellation_of(wait_op&, loop&) noexcept { return {}; }

} // namespace fairlead::impl::sync
