// Fails: SET has the options ex, px, ex_at, px_at, keep_ttl, nx, xx and get_old; a time is ex\(10s\)
// Errors: 2
#include <fairlead/redis/cmd/sorted_sets.hpp>
#include <fairlead/redis/cmd/strings.hpp>

void commands() {
    using namespace fairlead::redis;
#ifdef GOOD
    (void)cmd::set("k", "v", options::xx);
    (void)cmd::zrange("k", 0, 9, options::with_scores);
#else
    (void)cmd::set("k", "v", options::ch);
    (void)cmd::zrange("k", 0, 9, 10);
#endif
}
