// Fails: both operations of a conditional complete with the same signature
#include <fairlead/net/timer.hpp>
#include <fairlead/token/deferred.hpp>

void start(fairlead::steady_timer& timer, bool b) {
#ifdef GOOD
    auto other = fairlead::deferred.values(fairlead::error_code());
#else
    auto other = fairlead::deferred.values(5);
#endif
    auto const op = fairlead::deferred.when(b).then(timer.async_wait(fairlead::deferred)).otherwise(std::move(other));
}
