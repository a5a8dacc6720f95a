// A semaphore: a number of permits, for which coroutines and handlers wait in turn.
#pragma once

#include <fairlead/sync/owned_wait.hpp>

#include <string>

namespace fairlead {

template <class Executor = any_io_executor> class basic_semaphore;
/// The one with the default executor.
using semaphore = basic_semaphore<>;

namespace impl::sync {

class FAIRLEAD_EXPORT semaphore_core final : public owned_object {
public:
    template <class Executor> semaphore_core(Executor const& e, std::size_t permits)
        : owned_object(e),
          permits_(permits) {}
    FAIRLEAD_EXPORT ~semaphore_core();

    FAIRLEAD_EXPORT std::size_t permits() const noexcept;
    bool try_acquire(std::size_t n) noexcept {
        return domain().look([this, n]() noexcept { return take_now(n); });
    }
    FAIRLEAD_EXPORT void release(std::size_t n) noexcept;
    bool try_wait(std::size_t n) noexcept { return try_acquire(n); }
    FAIRLEAD_EXPORT void wait(owning_op& o) noexcept;

private:
    bool take_now(std::size_t n) noexcept {
        if (!empty() || permits_ < n)
            return false;
        permits_ -= n;
        return true;
    }
    void release_to_others(std::size_t n) noexcept;
    void let_go(op_queue& ready) noexcept override;
    void take_back(owning_op& o, op_queue& ready) noexcept override;

    std::size_t permits_;
};

struct acquire : plain_owning_primitive<acquire, semaphore_core> {
    std::size_t permits;

    acquire(semaphore_core& s, std::size_t n) noexcept : plain_owning_primitive(s), permits(n) {}
    static std::string describe() { return "acquire from a semaphore"; }
    std::size_t amount() const noexcept { return permits; }
};

} // namespace impl::sync

/// A number of permits. A call that needs more than there are waits. They are given in the order of the calls: one for
/// many permits is not passed by those for few.
/// Threads: any. Destroyed, or cancelled: waits complete with operation_aborted.
template <class Executor> class basic_semaphore {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_semaphore<E>;
    };

    basic_semaphore(Executor const& e, std::size_t permits) : executor_(e), core_(e, permits) {}
    template <execution_context_type Context> basic_semaphore(Context& c, std::size_t permits)
        : basic_semaphore(Executor(c.get_executor()), permits) {}
    basic_semaphore(basic_semaphore const&) = delete;
    basic_semaphore& operator=(basic_semaphore const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }
    /// How many are there now.
    std::size_t permits() const noexcept { return core_.permits(); }

    /// False: there are not so many, or others wait.
    bool try_acquire(std::size_t permits = 1) noexcept { return core_.try_acquire(permits); }
    /// Gives permits back, or adds new ones.
    void release(std::size_t permits = 1) noexcept { core_.release(permits); }
    /// Waits complete with operation_aborted; returns how many.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Waits until so many permits are there, and takes them.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled; nothing was taken
    /// Cancel     terminal, partial, total
    /// Immediate  when the permits are there and nobody waits
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_acquire(std::size_t permits, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::acquire>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::acquire(core_, permits));
    }
    /// As async_acquire of one permit.
    template <class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, std::size_t>)
    decltype(auto) async_acquire(Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::acquire>) {
        return async_acquire(1, std::forward<Token>(token));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    Executor executor_;
    impl::sync::semaphore_core core_;
};

} // namespace fairlead
