// Fails: the generator goes on when this is awaited
#include <fairlead/coro/generator.hpp>

fairlead::generator<int> child() { co_yield 1; }
fairlead::awaitable<void> parent() {
    auto g = child();
#ifdef GOOD
    co_await g.next();
#else
    g.next();
#endif
    co_return;
}
