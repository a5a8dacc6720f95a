// A rate limiter: a bucket of tokens that fills with time, for which coroutines and handlers wait in turn.
#pragma once

#include <fairlead/base/durations.hpp>
#include <fairlead/sync/token_bucket.hpp>
#include <fairlead/sync/waited_object.hpp>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

namespace fairlead {

template <class Executor = any_io_executor> class basic_rate_limiter;
/// The one with the default executor.
using rate_limiter = basic_rate_limiter<>;

namespace impl::sync {

class FAIRLEAD_EXPORT limiter_core final : public waited_object {
public:
    template <class Executor> limiter_core(Executor const& e, bucket_shape const& s)
        : waited_object(e),
          bucket_(s, engine().now_ns()),
          alarm_(make_alarm(domain_for(e))) {}
    FAIRLEAD_EXPORT ~limiter_core();

    FAIRLEAD_EXPORT std::size_t tokens() noexcept;
    FAIRLEAD_EXPORT bool try_acquire(std::size_t n) noexcept;
    FAIRLEAD_EXPORT std::size_t cancel() noexcept;
    std::size_t burst() const noexcept { return bucket_.burst(); }
    FAIRLEAD_EXPORT void wait(wait_op& o) noexcept;

private:
    struct alarm;

    FAIRLEAD_EXPORT alarm* make_alarm(std::shared_ptr<wait_domain> d);
    bool take_now(std::size_t n) noexcept;
    void let_go(op_queue& ready) noexcept override;
    void look_at_alarm(op_queue& ready) noexcept;
    void end_all(int error, op_queue& ready) noexcept;

    token_bucket bucket_;
    alarm* const alarm_;
};

struct acquire_tokens : wait_primitive<acquire_tokens, limiter_core> {
    std::size_t tokens;

    acquire_tokens(limiter_core& l, std::size_t n) noexcept : wait_primitive(l), tokens(n) {}
    static std::string describe() { return "acquire from a rate limiter"; }
    void prepare(wait_op& o) const noexcept {
        wait_primitive::prepare(o);
        o.amount = tokens;
    }
    bool attempt(wait_op& o) const noexcept {
        o.result = {tokens <= of->burst() ? 0 : EINVAL, 0, 0};
        return o.result.error != 0 || of->try_acquire(tokens);
    }
};

} // namespace impl::sync

/// How fast the bucket of a rate limiter fills, and how much it holds.
struct rate_limit {
    std::size_t tokens;              ///< that come in a period; not 0
    std::chrono::nanoseconds period; ///< more than 0
    std::size_t burst;               ///< that the bucket holds; it is full in the beginning
};

/// A bucket that gets tokens at a steady rate and holds no more than its burst. A call that needs more tokens than
/// there are waits. They are given in the order of the calls: one for many is not passed by those for few. Nothing is
/// rounded: in each time, not more tokens go out than the burst and what comes in that time. Threads: any. Destroyed,
/// or cancelled: waits complete with operation_aborted.
template <class Executor> class basic_rate_limiter {
public:
    using executor_type = Executor;
    template <class E> struct rebind_executor {
        using other = basic_rate_limiter<E>;
    };

    basic_rate_limiter(Executor const& e, rate_limit const& l)
        : executor_(e),
          core_(e, {.tokens = l.tokens, .period_ns = l.period.count(), .burst = l.burst}) {}
    template <execution_context_type Context> basic_rate_limiter(Context& c, rate_limit const& l)
        : basic_rate_limiter(Executor(c.get_executor()), l) {}
    basic_rate_limiter(basic_rate_limiter const&) = delete;
    basic_rate_limiter& operator=(basic_rate_limiter const&) = delete;

    executor_type get_executor() const noexcept { return executor_; }
    /// How many whole tokens are there now.
    std::size_t tokens() noexcept { return core_.tokens(); }

    /// False: there are not so many, or others wait.
    bool try_acquire(std::size_t tokens = 1) noexcept { return core_.try_acquire(tokens); }
    /// Waits complete with operation_aborted; returns how many.
    std::size_t cancel() noexcept { return core_.cancel(); }

    /// Waits until so many tokens are there, and takes them.
    /// Completes  (error_code ec)
    /// Errors     error::operation_aborted  cancelled; nothing was taken
    ///            error::invalid_argument   more than the burst, which is never there
    ///            error::no_memory          for the timer; nothing was taken
    /// Cancel     terminal, partial, total
    /// Immediate  when the tokens are there and nobody waits, and with invalid_argument
    /// Lifetime   *this outlives the call
    /// Threads    any
    /// Allocates  nothing awaited
    template <class Token = default_completion_token_t<Executor>>
    decltype(auto) async_acquire(std::size_t tokens, Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::acquire_tokens>) {
        return impl::operation::initiate_on<void(error_code)>(*this, std::forward<Token>(token),
                                                              impl::sync::acquire_tokens(core_, tokens));
    }
    /// As async_acquire of one token.
    template <class Token = default_completion_token_t<Executor>>
        requires(!std::convertible_to<Token, std::size_t>)
    decltype(auto) async_acquire(Token&& token = {}) noexcept(
        impl::operation::nothrow_token<std::decay_t<Token>, impl::sync::acquire_tokens>) {
        return async_acquire(1, std::forward<Token>(token));
    }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return core_.runs_handlers(); }

private:
    Executor executor_;
    impl::sync::limiter_core core_;
};

} // namespace fairlead
