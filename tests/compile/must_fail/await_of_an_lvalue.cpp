// Fails: co_await std::move\(op\)
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/net/timer.hpp>

fairlead::awaitable<void> wait(fairlead::steady_timer& timer) {
    auto op = timer.async_wait();
#ifdef GOOD
    co_await std::move(op);
#else
    co_await op;
#endif
}
