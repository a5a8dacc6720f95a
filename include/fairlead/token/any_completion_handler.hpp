// any_completion_handler: a handler of any type behind one type, so that an operation can be compiled once.
#pragma once

#include <fairlead/operation/completion.hpp>
#include <fairlead/operation/erased_handler.hpp>

#include <cstddef>
#include <functional> // bad_function_call
#include <tuple>
#include <utility>

namespace fairlead {

/// The allocator of an any_completion_handler: that of the handler inside.
template <class T, class...> using any_completion_handler_allocator = impl::operation::erased_allocator<T>;

template <class... Signatures> class any_completion_handler;

namespace detail {

template <class Signature> struct erased_handler_for;
template <class R, class... Args> struct erased_handler_for<R(Args...)> {
    using functions = impl::operation::erased_handler_functions<std::decay_t<Args>...>;
    using box = impl::operation::boxed_handler<std::decay_t<Args>...>;
    using ref = impl::operation::handler_ref<std::decay_t<Args>...>;
    template <class Handler> static constexpr functions const* table() noexcept {
        return &impl::operation::erased_handler_table<Handler, std::decay_t<Args>...>::functions;
    }
};

/// The table of the first signature, which stands for the handler, with those of the other signatures behind it.
template <class First, class... More> struct several_functions : erased_handler_for<First>::functions {
    std::tuple<typename erased_handler_for<More>::functions const*...> more;
};
template <class Handler, class First, class... More> inline constexpr several_functions<First, More...> several_tables{
    *erased_handler_for<First>::template table<Handler>(), {erased_handler_for<More>::template table<Handler>()...}};

/// Calls a handler with the values of its signature number Index, after its block was given back.
template <std::size_t Index, class First, class... More, class Values>
void invoke_one_of(typename erased_handler_for<First>::ref h, Values&& values) {
    auto const size = h.functions->size;
    if constexpr (Index == 0) {
        h.functions->invoke(h.handler, h.handler, size, std::forward<Values>(values));
    } else {
        auto const& tables = static_cast<several_functions<First, More...> const&>(*h.functions);
        std::get<Index - 1>(tables.more)->invoke(h.handler, h.handler, size, std::forward<Values>(values));
    }
}

/// One way to call an any_completion_handler.
template <class Handler, std::size_t Index, class Signature> class call_of_any;
template <class Handler, std::size_t Index, class R, class... Args> class call_of_any<Handler, Index, R(Args...)> {
public:
    /// Calls the handler, once, with its memory given back. Throws std::bad_function_call when there is none.
    void operator()(Args... args) {
        static_cast<Handler&>(*this).template call<Index>(
            std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
    }
};
template <class Handler, class Indices, class... Signatures> class calls_of_any;
template <class Handler, std::size_t... Indices, class... Signatures>
class calls_of_any<Handler, std::index_sequence<Indices...>, Signatures...>
    : public call_of_any<Handler, Indices, Signatures>... {
public:
    using call_of_any<Handler, Indices, Signatures>::operator()...;
};

} // namespace detail

/// A completion handler of any type, or none, for one signature or several. Move-only, two pointers. All associations
/// are those of the handler inside; get_associated_executor(h) and so on find them. A handler that names no executor
/// runs where the operation ends.
/// Throws     system_error of error::operation_not_supported, from an operation that cannot be ended early (a Redis
///            call), when the handler inside has a slot that is connected. Nothing has started then, and the handler is
///            still held. post, defer and dispatch take any.
/// Allocates  one block from the handler's own allocator, which is given back before the handler runs
/// Threads    none of its own: as the handler inside
template <class First, class... More> class any_completion_handler<First, More...>
    : public detail::calls_of_any<any_completion_handler<First, More...>, std::index_sequence_for<First, More...>,
                                  First, More...> {
    using box = typename detail::erased_handler_for<First>::box;

public:
    using allocator_type = any_completion_handler_allocator<void, First, More...>;
    using cancellation_slot_type = cancellation_slot;
    using slot_is_known_when_started = std::true_type;

    any_completion_handler() noexcept = default;
    any_completion_handler(std::nullptr_t) noexcept {}
    template <class Handler>
        requires(!std::same_as<std::decay_t<Handler>, any_completion_handler> &&
                 completion_handler_for<Handler, First, More...>)
    any_completion_handler(Handler&& handler) : box_(make(std::decay_t<Handler>(std::forward<Handler>(handler)))) {}
    /// No other handler. Deleted, for programs ask whether there is such a constructor; compilers show its name.
    template <class HandlerOfOtherArguments>
        requires(!std::same_as<std::decay_t<HandlerOfOtherArguments>, any_completion_handler> &&
                 !completion_handler_for<HandlerOfOtherArguments, First, More...>)
    explicit any_completion_handler(HandlerOfOtherArguments&&) = delete;
    any_completion_handler(any_completion_handler&&) noexcept = default;
    any_completion_handler& operator=(any_completion_handler&& other) noexcept {
        any_completion_handler(std::move(other)).swap(*this);
        return *this;
    }
    any_completion_handler& operator=(std::nullptr_t) noexcept {
        any_completion_handler().swap(*this);
        return *this;
    }
    ~any_completion_handler() = default;

    explicit operator bool() const noexcept { return !box_.empty(); }
    bool operator!() const noexcept { return box_.empty(); }
    friend bool operator==(any_completion_handler const& h, std::nullptr_t) noexcept { return !h; }
    void swap(any_completion_handler& other) noexcept { box_.swap(other.box_); }

    allocator_type get_allocator() const noexcept { return box_.allocator(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return box_.get_cancellation_slot(); }

private:
    template <class, class> friend struct impl::operation::erased_executor_of;
    template <class, class> friend struct impl::operation::erased_immediate_executor_of;
    template <class, std::size_t, class> friend class detail::call_of_any;
    template <class Handler> static box make(Handler&& h) {
        if constexpr (sizeof...(More) == 0)
            return box({std::addressof(h), detail::erased_handler_for<First>::template table<Handler>()});
        else
            return box({std::addressof(h), &detail::several_tables<Handler, First, More...>});
    }
    template <std::size_t Index, class Values> void call(Values&& values) {
        if (box_.empty())
            throw std::bad_function_call();
        detail::invoke_one_of<Index, First, More...>(box_.release(), std::forward<Values>(values));
    }
    impl::operation::erased_executor executor() const noexcept { return box_.executor(); }
    impl::operation::erased_executor immediate_executor() const noexcept { return box_.immediate_executor(); }

    box box_;
};

/// A slot that nobody listens to is refused when the program runs: the type does not say whether there is one.
template <class... OfHandler, class... Signatures>
class async_result<any_completion_handler<OfHandler...>, Signatures...>
    : public impl::operation::token_as_handler<any_completion_handler<OfHandler...>> {
    using base = impl::operation::token_as_handler<any_completion_handler<OfHandler...>>;

public:
    using base::base;

    template <class Initiation, class Handler, class... Args>
    static void initiate(Initiation&& initiation, Handler&& handler, Args&&... args) {
        impl::operation::expect_slot_is_heard<std::decay_t<Initiation>>(handler);
        base::initiate(std::forward<Initiation>(initiation), std::forward<Handler>(handler),
                       std::forward<Args>(args)...);
    }
};

template <class... Signatures, class D> struct associator<associated_executor, any_completion_handler<Signatures...>, D>
    : impl::operation::erased_executor_of<any_completion_handler<Signatures...>, D> {};
template <class... Signatures, class D>
struct associator<associated_immediate_executor, any_completion_handler<Signatures...>, D>
    : impl::operation::erased_immediate_executor_of<any_completion_handler<Signatures...>, D> {};

} // namespace fairlead
