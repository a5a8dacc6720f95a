// A post or dispatch that waits in a coroutine of its own until that is resumed.
#pragma once

#include <fairlead/coro/allocated_frame.hpp>
#include <fairlead/token/post.hpp>

#include <asio/append.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/fairlead.hpp>

#include <coroutine>
#include <exception>
#include <utility>

namespace fairlead::experimental::detail {

struct partial_coro {
    std::coroutine_handle<> handle;
};

template <class Allocator> struct partial_promise {
    template <class Target, class Token, class... Args> FAIRLEAD_ALWAYS_INLINE static void*
    operator new(std::size_t bytes, Target const&, Token const& token, Args const&...) {
        return impl::coro::allocated_frame<Allocator>::allocate(bytes, get_associated_allocator(token));
    }
    FAIRLEAD_ALWAYS_INLINE static void operator delete(void* p, std::size_t bytes) noexcept {
        impl::coro::allocated_frame<Allocator>::deallocate(p, bytes);
    }
    partial_coro get_return_object() noexcept { return {std::coroutine_handle<partial_promise>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
};

} // namespace fairlead::experimental::detail

template <class Target, class Token, class... Args>
struct std::coroutine_traits<fairlead::experimental::detail::partial_coro, Target, Token, Args...> {
    using promise_type = fairlead::experimental::detail::partial_promise<fairlead::associated_allocator_t<Token>>;
};

namespace fairlead::experimental::detail {

template <execution_context_type Context, class Token, class... Args>
partial_coro post_coroutine(Context& context, Token token, Args... args) {
    post(context, append(std::move(token), std::move(args)...));
    co_return;
}
template <io_executor Executor, class Token, class... Args>
partial_coro post_coroutine(Executor executor, Token token, Args... args) {
    post(executor, append(std::move(token), std::move(args)...));
    co_return;
}
template <execution_context_type Context, class Token, class... Args>
partial_coro dispatch_coroutine(Context& context, Token token, Args... args) {
    dispatch(context, append(std::move(token), std::move(args)...));
    co_return;
}
template <io_executor Executor, class Token, class... Args>
partial_coro dispatch_coroutine(Executor executor, Token token, Args... args) {
    dispatch(executor, append(std::move(token), std::move(args)...));
    co_return;
}

} // namespace fairlead::experimental::detail
