// Fails: this is the time of another clock: write expires_after\(duration\)
#include <fairlead/net/timer.hpp>

void start(fairlead::steady_timer& timer) {
#ifdef GOOD
    timer.expires_at(std::chrono::steady_clock::now());
#else
    timer.expires_at(std::chrono::system_clock::now());
#endif
}
