// Fails: takes an operation, an awaitable or a group: move one that has a name
#include <fairlead/coro/shield.hpp>

#include <fairlead/coro/awaitable.hpp>

fairlead::awaitable<void> child() { co_return; }
fairlead::awaitable<void> parent() {
    auto a = child();
#ifdef GOOD
    co_await fairlead::shield(std::move(a));
#else
    co_await fairlead::shield(a);
#endif
}
