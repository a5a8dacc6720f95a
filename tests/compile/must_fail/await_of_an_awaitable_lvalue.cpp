// Fails: co_await std::move\(a\)
#include <fairlead/coro/awaitable.hpp>

fairlead::awaitable<void> child() { co_return; }
fairlead::awaitable<void> parent() {
    auto a = child();
#ifdef GOOD
    co_await std::move(a);
#else
    co_await a;
#endif
}
