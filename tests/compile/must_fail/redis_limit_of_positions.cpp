// Fails: limit goes with by_score or by_lex
#include <fairlead/redis/cmd/sorted_sets.hpp>

void command() {
    using namespace fairlead::redis;
#ifdef GOOD
    (void)cmd::zrange("k", 0, 9, options::by_score, options::limit(0, 5));
#else
    (void)cmd::zrange("k", 0, 9, options::limit(0, 5));
#endif
}
