// use_future: the operation's result as a std::future. The one token that pays for a shared state and a lock.
#pragma once

#include <fairlead/exec/recycler.hpp>
#include <fairlead/operation/async_op.hpp>

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <string>

namespace fairlead {

template <class Function, class Allocator> class packaged_future;

/// Token: the initiating function returns a std::future. An error becomes a system_error, an exception_ptr is rethrown,
/// several values become a tuple; an operation that is abandoned with its context breaks the promise.
/// The allocator serves the shared state and the operation.
template <class Allocator = std::allocator<void>> class use_future_t
    : public impl::operation::can_be_default<use_future_t<Allocator>> {
public:
    using allocator_type = Allocator;

    constexpr use_future_t() noexcept
        requires std::default_initializable<Allocator>
    = default;
    constexpr explicit use_future_t(Allocator const& a) : allocator_(a) {}

    /// This token with another allocator; also written use_future[a].
    template <class Other> constexpr use_future_t<Other> rebind(Other const& a) const { return use_future_t<Other>(a); }
    template <class Other> constexpr use_future_t<Other> operator[](Other const& a) const { return rebind(a); }
    constexpr allocator_type get_allocator() const { return allocator_; }

    /// Token: the future has what `function` returns for the arguments of the completion, errors included, or throws.
    template <class Function>
    constexpr packaged_future<std::decay_t<Function>, Allocator> operator()(Function&& function) const {
        return packaged_future<std::decay_t<Function>, Allocator>(std::forward<Function>(function), allocator_);
    }

private:
    [[no_unique_address]] Allocator allocator_;
};
/// `std::future<std::size_t> f = socket.async_read_some(buf, use_future);`
inline constexpr use_future_t<> use_future{};

/// The result of use_future(function).
template <class Function, class Allocator> class packaged_future {
public:
    template <class F> constexpr packaged_future(F&& f, Allocator const& a)
        : function(std::forward<F>(f)),
          allocator(a) {}
    Function function;
    [[no_unique_address]] Allocator allocator;
};

namespace detail {

template <class T> inline constexpr bool is_over_aligned = alignof(T) > alignof(std::max_align_t);
template <> inline constexpr bool is_over_aligned<void> = false;

/// The handler of a future. With an allocator of the user's own the operation uses it too.
template <class Allocator> struct future_memory {
    using allocator_type = Allocator;
    Allocator allocator;
    explicit future_memory(Allocator const& a) : allocator(a) {}
    allocator_type get_allocator() const noexcept { return allocator; }
    template <class T> std::promise<T> make_promise() const { return {std::allocator_arg, bytes()}; }
    /// A promise asks for an allocator of objects.
    auto bytes() const {
        return typename std::allocator_traits<Allocator>::template rebind_alloc<std::byte>(allocator);
    }
};
template <> struct future_memory<std::allocator<void>> {
    explicit future_memory(std::allocator<void> const&) {}
    template <class T> std::promise<T> make_promise() const {
        if constexpr (is_over_aligned<T>) // The recycler has no such blocks.
            return {};
        else
            return {std::allocator_arg, recycling_allocator<std::byte>()};
    }
};

template <class Result, class Function> void fulfil(std::promise<Result>& promise, Function&& function) {
    try {
        if constexpr (std::is_void_v<Result>) {
            std::forward<Function>(function)();
            promise.set_value();
        } else {
            promise.set_value(std::forward<Function>(function)());
        }
    } catch (...) {
        promise.set_exception(std::current_exception());
    }
}

template <class Allocator, class... Args> struct future_handler : future_memory<Allocator> {
    using value_type = decltype(impl::operation::unwrap(std::declval<std::tuple<Args...>>()));
    std::promise<value_type> promise;
    std::string name = "use_future"; ///< of the operation, for the error that is thrown
    std::exception_ptr failure;      ///< in its place

    explicit future_handler(use_future_t<Allocator> const& t) : future_handler(t.get_allocator()) {}
    explicit future_handler(Allocator const& a)
        : future_memory<Allocator>(a),
          promise(this->template make_promise<value_type>()) {}
    void operator()(Args... args) {
        if (failure)
            return promise.set_exception(std::move(failure));
        fulfil(promise, [&] {
            return impl::operation::unwrap(std::tuple<Args...>(std::move(args)...), impl::operation::named_call{name});
        });
    }
    static bool throws_errors() noexcept { return true; }
    void take_exception(std::exception_ptr why) noexcept { failure = std::move(why); }
};

} // namespace detail

template <class Function, class Allocator, class R, class... Args>
struct impl::operation::token_check<packaged_future<Function, Allocator>, R(Args...)> {
    static constexpr bool valid = std::invocable<Function, std::decay_t<Args>...>;
    static_assert(valid, "the function given to use_future() does not take the arguments of the completion signature");
};

namespace detail {

template <class Function, class Allocator, class... Args> struct packaged_handler : future_memory<Allocator> {
    using value_type = std::invoke_result_t<Function, Args...>;
    Function function;
    std::promise<value_type> promise;

    packaged_handler(Function&& f, Allocator const& a)
        : future_memory<Allocator>(a),
          function(std::move(f)),
          promise(this->template make_promise<value_type>()) {}
    void operator()(Args... args) {
        fulfil(promise, [&]() -> decltype(auto) { return std::invoke(std::move(function), std::move(args)...); });
    }
};

} // namespace detail

template <class Allocator, class R, class... Args> class async_result<use_future_t<Allocator>, R(Args...)> {
public:
    using completion_handler_type = detail::future_handler<Allocator, std::decay_t<Args>...>;
    using return_type = std::future<typename completion_handler_type::value_type>;
    explicit async_result(completion_handler_type& handler) : future_(handler.promise.get_future()) {}
    return_type get() { return std::move(future_); }

    template <class Initiation, class... A>
    static auto initiate(Initiation&& initiation, use_future_t<Allocator> token, A&&... args) {
        completion_handler_type handler(token);
        handler.name = impl::operation::describe_call(initiation, "use_future");
        auto future = handler.promise.get_future();
        std::forward<Initiation>(initiation)(std::move(handler), std::forward<A>(args)...);
        return future;
    }

private:
    return_type future_;
};
template <class Function, class Allocator, class R, class... Args>
class async_result<packaged_future<Function, Allocator>, R(Args...)> {
public:
    template <class Initiation, class... A>
    static auto initiate(Initiation&& initiation, packaged_future<Function, Allocator> token, A&&... args) {
        detail::packaged_handler<Function, Allocator, std::decay_t<Args>...> handler(std::move(token.function),
                                                                                     token.allocator);
        auto future = handler.promise.get_future();
        std::forward<Initiation>(initiation)(std::move(handler), std::forward<A>(args)...);
        return future;
    }
};

} // namespace fairlead
