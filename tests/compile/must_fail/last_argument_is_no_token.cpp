// Fails: neither a completion token nor a function that takes the arguments
#include <fairlead/net/timer.hpp>

#ifdef GOOD
constexpr auto token = fairlead::deferred;
#else
constexpr int token = 5;
#endif

void start(fairlead::steady_timer& timer) { (void)timer.async_wait(token); }
