// Fails: this cannot be awaited: co_await takes operations, awaitables
#include <fairlead/coro/awaitable.hpp>

#ifdef GOOD
fairlead::awaitable<void> child() { co_return; }
#else
int child() { return 1; }
#endif
fairlead::awaitable<void> parent() { co_await child(); }
