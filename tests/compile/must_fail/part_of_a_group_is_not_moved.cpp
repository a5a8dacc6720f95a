// Fails: move those that have a name
#include <fairlead/coro/when_any.hpp>

fairlead::awaitable<int> child() { co_return 1; }
fairlead::awaitable<void> parent() {
    auto a = child();
#ifdef GOOD
    co_await fairlead::when_any(child(), std::move(a));
#else
    co_await fairlead::when_any(child(), a);
#endif
}
