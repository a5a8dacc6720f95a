// Fails: groups are made of operations, awaitables and other groups
#include <fairlead/coro/when_all.hpp>

fairlead::awaitable<int> child() { co_return 1; }
fairlead::awaitable<void> parent() {
#ifdef GOOD
    co_await fairlead::when_all(child(), child());
#else
    co_await fairlead::when_all(child(), 1);
#endif
}
