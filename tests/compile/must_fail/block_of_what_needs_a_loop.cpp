// Fails: block works for operations that can be performed in the calling thread
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>

fairlead::awaitable<void> nothing() { co_return; }
void start(fairlead::io_context& context) {
#ifdef GOOD
    co_spawn(context, nothing(), fairlead::detached);
#else
    co_spawn(context, nothing(), fairlead::block);
#endif
}
