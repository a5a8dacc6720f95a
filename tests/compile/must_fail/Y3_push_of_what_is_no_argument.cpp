// Fails: an argument is text or a number: write \*x for an optional, x.count\(\) for a duration
// Errors: 2
#include <fairlead/redis/request.hpp>

#include <chrono>
#include <optional>

void fill(fairlead::redis::request& q, std::optional<int> value, std::chrono::seconds limit) {
#ifdef GOOD
    q.push("SET", "k", *value);
    q.push("EXPIRE", "k", limit.count());
#else
    q.push("SET", "k", value);
    q.push("EXPIRE", "k", limit);
#endif
}
