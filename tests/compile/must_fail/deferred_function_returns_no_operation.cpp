// Fails: the function given to deferred\(\) must return a deferred operation
#include <fairlead/net/timer.hpp>
#include <fairlead/token/deferred.hpp>

#ifdef GOOD
constexpr auto next = [](fairlead::error_code) { return fairlead::deferred.values(); };
#else
constexpr auto next = [](fairlead::error_code) { return 5; };
#endif

void start(fairlead::steady_timer& timer) { auto const op = timer.async_wait(fairlead::deferred(next)); }
