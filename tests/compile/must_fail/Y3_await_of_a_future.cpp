// Fails: a future cannot be awaited, for it blocks its thread: co_await the operation itself
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/use_future.hpp>

fairlead::awaitable<int> wait(std::future<int> future, fairlead::steady_timer& timer) {
#ifdef GOOD
    co_await timer.async_wait();
    int x = future.get();
#else
    co_await timer.async_wait();
    int x = co_await std::move(future);
#endif
    co_return x;
}
