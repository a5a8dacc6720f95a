// Fails: take a coroutine or a group that is moved
#include <fairlead/scope/cancel_after.hpp>

fairlead::awaitable<void> child() { co_return; }
fairlead::awaitable<void> parent() {
    auto a = child();
#ifdef GOOD
    co_await fairlead::cancel_after(std::chrono::seconds(1), std::move(a));
#else
    co_await fairlead::cancel_after(std::chrono::seconds(1), a);
#endif
}
