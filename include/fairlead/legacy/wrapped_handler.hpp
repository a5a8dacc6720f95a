// Handlers that go to their executor by themselves: what wrap() makes.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::impl::legacy {

/// Calling one gives the handler to the executor, as dispatch() does, with copies of the arguments. It names the
/// executor too, so that all the steps of an operation take place there.
/// Allocates  what execute() does, when it does not run inside the call
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
        auto call = [handler = std::forward<H>(h),
                     values = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable {
            std::apply(std::move(handler), std::move(values));
        };
        if (executor_.running_in_this_thread())
            call();
        else
            executor_.execute(std::move(call));
    }

    Executor executor_;
    Handler handler_;
};

} // namespace fairlead::impl::legacy
