// Fails: nx excludes gt and lt, which compare with what is there
#include <fairlead/redis/cmd/keys.hpp>

void command() {
    using namespace fairlead::redis;
    using namespace std::chrono_literals;
#ifdef GOOD
    (void)cmd::expire("k", 10s, options::xx, options::gt);
#else
    (void)cmd::expire("k", 10s, options::nx, options::gt);
#endif
}
