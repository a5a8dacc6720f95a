// Fails: co_spawn takes an awaitable, an operation, or a function that returns one
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/adapters.hpp>

#ifdef GOOD
fairlead::awaitable<int> function() { co_return 1; }
#else
int function() { return 1; }
#endif

void start(fairlead::io_context& context) { co_spawn(context, function, fairlead::detached); }
