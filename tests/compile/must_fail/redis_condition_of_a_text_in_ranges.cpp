// Fails: a text in ranges has the conditions nx and xx
// Errors: 1
#include <fairlead/redis/value_ranges.hpp>

fairlead::redis::writing_options options() {
    using namespace fairlead::redis;
#ifdef GOOD
    return {.expiry = options::keep_ttl, .condition = options::nx};
#else
    return {.expiry = options::keep_ttl, .condition = options::gt};
#endif
}
