// A latch: lets all pass once it has been counted down to zero.
#pragma once

#include <fairlead/sync/waited_object.hpp>

#include <string>

namespace fairlead {

template <class Executor = any_io_executor> class basic_latch;
/// The one with the default executor.
using latch = basic_latch<>;

namespace impl::sync {

class FAIRLEAD_EXPORT latch_core final : public waited_object {
public:
    template <class Executor> latch_core(Executor const& e, std::size_t n) : waited_object(e), left_(n) {}
    FAIRLEAD_EXPORT ~latch_core();

    FAIRLEAD_EXPORT std::size_t left() const noexcept;
    void count_down(std::size_t n) noexcept {
        auto const count = [this, n]() noexcept {
            if (n >= left_)
                return false;
            left_ -= n;
            return true;
        };
        if (!domain().is_done_without_lock(count))
            count_down_to_zero(n);
    }
    bool try_wait() const noexcept { return left() == 0; }
    FAIRLEAD_EXPORT void wait(wait_op& o) noexcept;

private:
    FAIRLEAD_EXPORT void count_down_to_zero(std::size_t n) noexcept; ///< perhaps
    void let_go(op_queue& ready) noexcept override;

    std::size_t left_;
};

struct wait_for_latch : wait_primitive<wait_for_latch, latch_core> {
    using wait_primitive::wait_primitive;
    static std::string describe() { return "wait for a latch"; }
};

} // namespace impl::sync

/// Counted down once, from the number that it is made with. Those that wait pass when it is zero, and all later ones.
/// Threads: any. Destroyed, or cancelled: waits complete with operation_aborted.
template <class Executor> class basic_latch {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_latch<E>;
    };

    basic_latch(Executor const& e, std::size_t n) : executor_(e), core_(e, n) {}
    template <execution_context_type Context> basic_latch(Context& c, std::size_t n)
        : basic_latch(Executor(c.get_executor()), n) {}
    basic_latch(basic_latch const&) = delete;
    basic_latch& operator=(basic_latch const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }
    /// How many are still to be counted.
    std::size_t left() const noexcept { return core_.left(); }
    /// Aborts the program if fewer are left.
    void count_down(std::size_t n = 1) noexcept { core_.count_down(n); }
    /// Whether it has come to zero.
    bool try_wait() const noexcept { return core_.left() == 0; }
    /// Waits complete with operation_aborted; returns how many. The count stays as it is.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Waits until it has been counted down to zero.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled
    /// Cancel     terminal, partial, total
    /// Immediate  when it is zero
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>> decltype(auto) async_wait(
        Token&& token = {}) noexcept(impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::wait_for_latch>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::wait_for_latch(core_));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    Executor executor_;
    impl::sync::latch_core core_;
};

} // namespace fairlead
