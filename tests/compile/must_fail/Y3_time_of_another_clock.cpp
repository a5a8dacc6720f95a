// Fails: this is the time of another clock: write expires_after\(duration\)
#include <fairlead/net/timer.hpp>

#ifdef GOOD
using timer = fairlead::system_timer;
#else
using timer = fairlead::steady_timer;
#endif

void start(fairlead::io_context& context) { timer t(context, std::chrono::system_clock::now()); }
