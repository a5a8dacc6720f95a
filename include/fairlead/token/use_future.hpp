// use_future: the operation's result as a std::future. The one token that pays for a shared state and a lock.
#pragma once

#include <fairlead/token/async_op.hpp>

#include <future>

namespace fairlead {

/// Token: the initiating function returns a std::future. An error becomes a system_error, an exception_ptr is rethrown,
/// several values become a tuple; an operation that is abandoned with its context breaks the promise.
struct use_future_t {
    constexpr use_future_t() noexcept = default;
};
inline constexpr use_future_t use_future{};

namespace detail {

template <class... Args> struct future_handler {
    using value_type = decltype(unwrap(std::declval<std::tuple<Args...>>()));
    std::promise<value_type> promise;

    void operator()(Args... args) {
        try {
            if constexpr (std::is_void_v<value_type>) {
                unwrap(std::tuple<Args...>(std::move(args)...));
                promise.set_value();
            } else {
                promise.set_value(unwrap(std::tuple<Args...>(std::move(args)...)));
            }
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    }
};

} // namespace detail

template <class R, class... Args> class async_result<use_future_t, R(Args...)> {
public:
    template <class Initiation, class... A> static auto initiate(Initiation&& initiation, use_future_t, A&&... args) {
        detail::future_handler<std::decay_t<Args>...> handler{};
        auto future = handler.promise.get_future();
        std::forward<Initiation>(initiation)(std::move(handler), std::forward<A>(args)...);
        return future;
    }
};

} // namespace fairlead
