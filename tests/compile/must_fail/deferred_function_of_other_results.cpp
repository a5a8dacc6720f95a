// Fails: does not take the results of the operation before it
#include <fairlead/net/timer.hpp>
#include <fairlead/token/deferred.hpp>

#ifdef GOOD
constexpr auto next = [](fairlead::error_code) { return fairlead::deferred.values(); };
#else
constexpr auto next = [](char const*) { return fairlead::deferred.values(); };
#endif

void start(fairlead::steady_timer& timer) { auto const op = timer.async_wait(fairlead::deferred(next)); }
