// Handlers that go to their executor by themselves: what wrap() makes.
#pragma once

#include <fairlead/exec/recycler.hpp>

#include <tuple>
#include <utility>

namespace fairlead::detail {

/// Calling one gives the handler to the executor's dispatch(), with copies of the arguments. It names the executor too,
/// so that all the steps of an operation take place there.
/// Allocates  what dispatch() does
template <class Executor, class Handler> class wrapped_handler {
public:
    using result_type = void;
    using executor_type = Executor;

    wrapped_handler(Executor const& e, Handler h) : executor_(e), handler_(std::move(h)) {}
    executor_type get_executor() const noexcept { return executor_; }

    /// The handler is used up, as by the operation that calls it.
    template <class... Args> void operator()(Args&&... args) {
        dispatch(std::move(handler_), std::forward<Args>(args)...);
    }
    template <class... Args> void operator()(Args&&... args) const { dispatch(handler_, std::forward<Args>(args)...); }

private:
    template <class H, class... Args> void dispatch(H&& h, Args&&... args) const {
        executor_.dispatch([handler = std::forward<H>(h),
                            values = std::tuple<std::decay_t<Args>...>(std::forward<Args>(
                                args)...)]() mutable { std::apply(std::move(handler), std::move(values)); },
                           recycling_allocator<void>());
    }

    Executor executor_;
    Handler handler_;
};

} // namespace fairlead::detail
