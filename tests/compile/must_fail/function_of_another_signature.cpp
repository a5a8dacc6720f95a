// Fails: neither a completion token nor a function that takes the arguments
#include <fairlead/net/timer.hpp>

#ifdef GOOD
void done(fairlead::error_code);
#else
void done(int);
#endif

void start(fairlead::steady_timer& timer) { timer.async_wait(done); }
