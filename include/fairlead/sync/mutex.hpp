// A mutex: one coroutine or handler at a time has it, and the others wait in turn.
#pragma once

#include <fairlead/base/taken_from.hpp>
#include <fairlead/sync/owned_wait.hpp>

#include <string>
#include <tuple>
#include <utility>

namespace fairlead {

template <class Executor = any_io_executor> class basic_mutex;
/// The one with the default executor.
using mutex = basic_mutex<>;

/// Says that the mutex is locked already.
struct adopt_lock_t {
    explicit adopt_lock_t() = default;
};
/// `mutex_guard g(m, adopt_lock);` after `co_await m.async_lock();`
inline constexpr adopt_lock_t adopt_lock{};

namespace impl::sync {

struct guard_access;

class FAIRLEAD_EXPORT mutex_core final : public owned_object {
public:
    template <class Executor> explicit mutex_core(Executor const& e) : owned_object(e) {}
    FAIRLEAD_EXPORT ~mutex_core();

    FAIRLEAD_EXPORT bool is_locked() const noexcept;
    bool try_lock() noexcept {
        return domain().look([this]() noexcept { return take_now(); });
    }
    FAIRLEAD_EXPORT void unlock() noexcept;
    bool try_wait(std::size_t) noexcept { return try_lock(); }
    FAIRLEAD_EXPORT void wait(owning_op& o) noexcept;

    // ---- under the lock of the domain
    void lock_in_turn(owning_op& o, op_queue& ready) noexcept;
    void unlock_for(op_queue& ready) noexcept;

private:
    bool take_now() noexcept {
        if (is_locked_)
            return false; // As it is whenever somebody waits.
        is_locked_ = true;
        return true;
    }
    void unlock_for_others() noexcept;
    void let_go(op_queue& ready) noexcept override;
    void take_back(owning_op& o, op_queue& ready) noexcept override;

    bool is_locked_ = false;
};

} // namespace impl::sync

/// Owns a locked mutex, or nothing, and unlocks in its destructor.
/// Threads: one object by one thread at a time. It does not outlive the mutex.
class mutex_guard {
public:
    mutex_guard() noexcept = default;
    /// Takes over a lock that the caller has.
    template <class Executor> mutex_guard(basic_mutex<Executor>& m, adopt_lock_t) noexcept : of_(&m.core_) {}
    mutex_guard(mutex_guard&& other) noexcept : of_(impl::base::taken_from(other.of_)) {}
    mutex_guard& operator=(mutex_guard&& other) noexcept {
        if (this != &other) {
            if (of_)
                of_->unlock();
            of_ = impl::base::taken_from(other.of_);
        }
        return *this;
    }
    ~mutex_guard() {
        if (of_)
            of_->unlock();
    }

    bool owns_lock() const noexcept { return of_; }
    explicit operator bool() const noexcept { return of_; }
    /// Only while it owns the lock.
    void unlock() noexcept {
        FAIRLEAD_ASSERT(owns_lock());
        impl::base::taken_from(of_)->unlock();
    }
    /// Leaves the mutex locked: the caller has to unlock it.
    void release() noexcept { of_ = nullptr; }

private:
    friend struct impl::sync::guard_access;
    explicit mutex_guard(impl::sync::mutex_core* of) noexcept : of_(of) {}

    impl::sync::mutex_core* of_ = nullptr;
};

namespace impl::sync {

struct guard_access {
    static mutex_guard make(mutex_core* of) noexcept { return mutex_guard(of); }
    static mutex_core*& mutex_of(mutex_guard& g) noexcept { return g.of_; }
    template <class Executor> static mutex_core& core_of(basic_mutex<Executor>& m) noexcept { return m.core_; }
};

struct lock_mutex : plain_owning_primitive<lock_mutex, mutex_core> {
    using plain_owning_primitive::plain_owning_primitive;
    static std::string describe() { return "lock a mutex"; }
};

struct guard_mutex : owning_primitive<guard_mutex, mutex_core> {
    using signature = void(error_code, mutex_guard);

    using owning_primitive::owning_primitive;
    static std::tuple<error_code, mutex_guard> take(owning_op& o) noexcept {
        owned_object::is_taken(o);
        bool const owns = o.has.load(std::memory_order_relaxed) == owning_op::share::taken;
        return {operation::to_error_code(o.result.error),
                guard_access::make(owns ? static_cast<mutex_core*>(o.of) : nullptr)};
    }
    static std::string describe() { return "lock a mutex"; }
};

} // namespace impl::sync

/// Locked by one coroutine or handler at a time, which need not stay in one thread. The mutex is handed over in the
/// order of the calls: nobody passes those that wait.
/// Threads: any. Destroyed, or cancelled: waits complete with operation_aborted.
template <class Executor> class basic_mutex {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_mutex<E>;
    };

    explicit basic_mutex(Executor const& e) : executor_(e), core_(e) {}
    template <execution_context_type Context> explicit basic_mutex(Context& c)
        : basic_mutex(Executor(c.get_executor())) {}
    basic_mutex(basic_mutex const&) = delete;
    basic_mutex& operator=(basic_mutex const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }
    bool is_locked() const noexcept { return core_.is_locked(); }

    /// False: it is locked.
    bool try_lock() noexcept { return core_.try_lock(); }
    /// As try_lock(). The guard owns nothing if the mutex is locked.
    [[nodiscard]] mutex_guard try_guard() noexcept {
        return impl::sync::guard_access::make(core_.try_lock() ? &core_ : nullptr);
    }
    /// Hands the mutex to the first that waits. Aborts the program if it is not locked.
    void unlock() noexcept { core_.unlock(); }
    /// Waits complete with operation_aborted; returns how many. One that has been given the mutex keeps it.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Waits until the mutex is the caller's. A handler that is destroyed without a call on another executor than the
    /// mutex's leaves it locked: async_guard() does not.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled; the mutex is not the caller's
    /// Cancel     terminal, partial, total
    /// Immediate  when it is not locked
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>> decltype(auto) async_lock(
        Token&& token = {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::lock_mutex>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::lock_mutex(core_));
    }
    /// Waits until the mutex is the caller's, and gives a guard of it.
    /// Completes  (error_code ec, mutex_guard guard)
    /// Errors     error::operation_aborted  cancelled; the guard owns nothing
    /// Cancel     terminal, partial, total
    /// Immediate  when it is not locked
    /// Lifetime   *this outlives the call and the guard
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>> decltype(auto) async_guard(
        Token&& token = {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::guard_mutex>) {
        return impl::operation::initiate_on<void(error_code, mutex_guard)>(*this, std::forward<Token>(token),
                                                                           impl::sync::guard_mutex(core_));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    friend class mutex_guard;
    friend struct impl::sync::guard_access;
    Executor executor_;
    impl::sync::mutex_core core_;
};

} // namespace fairlead
