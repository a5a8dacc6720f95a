// Fails: a time limit is a duration: write 10s or 500ms, and options::for_ever for none
#include <fairlead/redis/cmd/lists.hpp>

void command() {
    using namespace fairlead::redis;
#ifdef GOOD
    (void)cmd::blpop("k", options::for_ever);
#else
    (void)cmd::blpop("k", 0);
#endif
}
