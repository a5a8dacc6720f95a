// Fails: the function given to use_future\(\) does not take the arguments
#include <fairlead/net/timer.hpp>
#include <fairlead/token/use_future.hpp>

#ifdef GOOD
constexpr auto function = [](fairlead::error_code) { return 1; };
#else
constexpr auto function = [](char const*) { return 1; };
#endif

void start(fairlead::steady_timer& timer) { (void)timer.async_wait(fairlead::use_future(function)); }
