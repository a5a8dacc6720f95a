// Fails: the task starts only when this is awaited
#include <fairlead/scope/task_scope.hpp>

fairlead::awaitable<void> session() { co_return; }
fairlead::awaitable<void> body(fairlead::task_scope<>& sessions) {
#ifdef GOOD
    co_await sessions.spawn(session);
#else
    sessions.spawn(session);
#endif
    co_return;
}
