// Fails: use of deleted function .*async_op|implicitly-deleted copy constructor
#include <fairlead/net/timer.hpp>

void start(fairlead::steady_timer& timer) {
    auto op = timer.async_wait();
#ifdef GOOD
    auto const other = std::move(op);
#else
    auto const other = op;
#endif
}
