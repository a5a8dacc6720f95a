// Fails: the operation starts only when it is awaited or called with a token
#include <fairlead/operation/async_op.hpp> // First: what is said of it is then shown with few lines about headers.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>

fairlead::awaitable<void> session() { co_return; }
void start(fairlead::io_context& context) {
#ifdef GOOD
    co_spawn(context, session(), fairlead::detached);
#else
    co_spawn(context, session());
#endif
}
