// Fails: a value is text, a number or a span of bytes: write \*x for an optional, x.count\(\) for a duration
#include <fairlead/redis/cmd/strings.hpp>

#include <optional>

void commands(std::optional<int> value) {
    using namespace fairlead::redis;
#ifdef GOOD
    (void)cmd::set("k", *value);
#else
    (void)cmd::set("k", value);
#endif
}
