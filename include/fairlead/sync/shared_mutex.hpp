// A shared mutex: one writer, or any number of readers, and the others wait in turn.
#pragma once

#include <fairlead/sync/owned_wait.hpp>

#include <string>

namespace fairlead {

template <class Executor = any_io_executor> class basic_shared_mutex;
/// The one with the default executor.
using shared_mutex = basic_shared_mutex<>;

namespace impl::sync {

class FAIRLEAD_EXPORT shared_mutex_core final : public owned_object {
public:
    /// In the amount of an op.
    enum kind : std::size_t { exclusive, shared };

    template <class Executor> explicit shared_mutex_core(Executor const& e) : owned_object(e) {}
    FAIRLEAD_EXPORT ~shared_mutex_core();

    bool try_lock(std::size_t how) noexcept {
        return domain().look([this, how]() noexcept { return empty() && take_now(how); });
    }
    FAIRLEAD_EXPORT void unlock(std::size_t how) noexcept;
    bool try_wait(std::size_t how) noexcept { return try_lock(how); }
    FAIRLEAD_EXPORT void wait(owning_op& o) noexcept;

private:
    bool take_now(std::size_t how) noexcept {
        if (has_writer_ || (how == exclusive && readers_ != 0))
            return false;
        if (how == exclusive)
            has_writer_ = true;
        else
            ++readers_;
        return true;
    }
    void unlock_for(std::size_t how, op_queue& ready) noexcept;
    void let_go(op_queue& ready) noexcept override;
    void take_back(owning_op& o, op_queue& ready) noexcept override;

    std::size_t readers_ = 0;
    bool has_writer_ = false;
};

struct lock_shared_mutex : plain_owning_primitive<lock_shared_mutex, shared_mutex_core> {
    shared_mutex_core::kind kind;

    lock_shared_mutex(shared_mutex_core& m, shared_mutex_core::kind k) noexcept : plain_owning_primitive(m), kind(k) {}
    std::size_t amount() const noexcept { return kind; }
    std::string describe() const {
        return kind == shared_mutex_core::exclusive ? "lock a shared mutex" : "lock a shared mutex for reading";
    }
};

} // namespace impl::sync

/// Locked by one writer or by any number of readers. It is handed over in the order of the calls: a writer that waits
/// is not passed by readers that come later. Readers that stand in a row go together.
/// Threads: any. Destroyed, or cancelled: waits complete with operation_aborted.
template <class Executor> class basic_shared_mutex {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_shared_mutex<E>;
    };

    explicit basic_shared_mutex(Executor const& e) : executor_(e), core_(e) {}
    template <execution_context_type Context> explicit basic_shared_mutex(Context& c)
        : basic_shared_mutex(Executor(c.get_executor())) {}
    basic_shared_mutex(basic_shared_mutex const&) = delete;
    basic_shared_mutex& operator=(basic_shared_mutex const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }

    /// False: it is locked, or others wait.
    bool try_lock() noexcept { return core_.try_lock(core_type::exclusive); }
    /// For reading. False: a writer has it, or others wait.
    bool try_lock_shared() noexcept { return core_.try_lock(core_type::shared); }
    /// Aborts the program if no writer has locked it.
    void unlock() noexcept { core_.unlock(core_type::exclusive); }
    /// Aborts the program if no reader has locked it.
    void unlock_shared() noexcept { core_.unlock(core_type::shared); }
    /// Waits complete with operation_aborted; returns how many. One that has been given the mutex keeps it.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Waits until the mutex is the caller's alone.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled; the mutex is not the caller's
    /// Cancel     terminal, partial, total
    /// Immediate  when it is not locked
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_lock(Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::lock_shared_mutex>) {
        return impl::operation::initiate_on<void(error_code)>(
            *this, std::forward<Token>(token), impl::sync::lock_shared_mutex(core_, core_type::exclusive));
    }
    /// Waits until no writer has the mutex, and locks it for reading.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled; the mutex is not locked for the caller
    /// Cancel     terminal, partial, total
    /// Immediate  when no writer has it and nobody waits
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_lock_shared(Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::lock_shared_mutex>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::lock_shared_mutex(core_, core_type::shared));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    using core_type = impl::sync::shared_mutex_core;
    Executor executor_;
    core_type core_;
};

} // namespace fairlead
