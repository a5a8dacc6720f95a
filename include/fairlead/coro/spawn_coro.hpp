// co_spawn of an experimental::coro that yields nothing.
#pragma once

#include <fairlead/coro/coro.hpp>

namespace fairlead {
namespace impl::coro {

struct coro_access {
    /// The resumption keeps the frame, and nobody else does.
    template <class Coroutine, class Token> static auto resume_last(Coroutine c, Token&& token) {
        any_io_executor ex(c.get_executor());
        using promise = typename Coroutine::promise_type;
        return completion_token_transform<typename Coroutine::completion_handler>(
            std::forward<Token>(token),
            resume_initiation<promise>{std::move(ex), resumption<promise>(std::move(c.frame_))});
    }
};

} // namespace impl::coro

namespace experimental {

/// Runs a coro that yields nothing to its end, on its executor, and keeps it until then.
/// Completes  (exception_ptr e, Return r), without e if the coroutine throws nothing, without r if it returns nothing
/// Errors     what the coroutine throws, as e
/// Cancel     as coro::async_resume()
/// Lifetime   what the arguments of the coroutine refer to outlives it
/// Threads    any
/// Allocates  as coro::async_resume()
/// Source     Asio, experimental::co_spawn
template <class Yield, class Return, class Executor, class Allocator, class Token>
    requires(std::is_void_v<typename coro<Yield, Return, Executor, Allocator>::yield_type> &&
             std::is_void_v<typename coro<Yield, Return, Executor, Allocator>::input_type>)
auto co_spawn(coro<Yield, Return, Executor, Allocator> c, Token&& token) {
    return impl::coro::coro_access::resume_last(std::move(c), std::forward<Token>(token));
}

} // namespace experimental
} // namespace fairlead
