// Fails: runs only when it is awaited
#include <fairlead/scope/task_scope.hpp>

fairlead::awaitable<void> body(fairlead::task_scope<>&) { co_return; }
fairlead::awaitable<void> serve() {
#ifdef GOOD
    co_await fairlead::with_scope(body);
#else
    fairlead::with_scope(body);
#endif
    co_return;
}
