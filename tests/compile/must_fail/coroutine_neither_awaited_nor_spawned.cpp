// Fails: a coroutine runs only when it is awaited or spawned
#include <fairlead/coro/awaitable.hpp>

fairlead::awaitable<void> child() { co_return; }
fairlead::awaitable<void> parent() {
#ifdef GOOD
    co_await child();
#else
    child();
#endif
    co_return;
}
