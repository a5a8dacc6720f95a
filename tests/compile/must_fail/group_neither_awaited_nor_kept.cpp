// Fails: a group runs only when it is awaited
#include <fairlead/coro/when_all.hpp>

fairlead::awaitable<int> child() { co_return 1; }
fairlead::awaitable<void> parent() {
#ifdef GOOD
    co_await fairlead::when_all(child(), child());
#else
    fairlead::when_all(child(), child());
#endif
    co_return;
}
