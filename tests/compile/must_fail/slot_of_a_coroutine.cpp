// Fails: this operation cannot be ended early, so that it takes no
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

fairlead::awaitable<void> nothing();

void spawn(fairlead::io_context& context, fairlead::cancellation_signal& signal) {
#ifdef GOOD
    static_cast<void>(signal);
    co_spawn(context, nothing(), fairlead::detached);
#else
    co_spawn(context, nothing(), fairlead::bind_cancellation_slot(signal.slot(), fairlead::detached));
#endif
}
