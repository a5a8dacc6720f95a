// Fails: these options exclude each other, or one is given twice: write one of nx and xx
// Errors: 1
#include <fairlead/redis/cmd/strings.hpp>

void commands() {
    using namespace fairlead::redis;
#ifdef GOOD
    (void)cmd::set("k", "v", options::nx, options::get_old);
#else
    (void)cmd::set("k", "v", options::nx, options::get_old, options::xx);
#endif
}
