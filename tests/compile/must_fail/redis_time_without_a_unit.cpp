// Fails: a time is a duration: write 10s or 10ms
// Errors: 2
#include <fairlead/redis/cmd/keys.hpp>
#include <fairlead/redis/cmd/strings.hpp>

void commands() {
    using namespace fairlead::redis;
    using namespace std::chrono_literals;
#ifdef GOOD
    (void)cmd::set("k", "v", options::ex(10s));
    (void)cmd::expire("k", 10s);
#else
    (void)cmd::set("k", "v", options::ex(10));
    (void)cmd::expire("k", 10);
#endif
}
