// Fails: a key is text or a span of bytes: write std::to_string\(n\) for a number
#include <fairlead/redis/cmd/strings.hpp>

#include <string>

void command(int id) {
#ifdef GOOD
    (void)fairlead::redis::cmd::get(std::to_string(id));
#else
    (void)fairlead::redis::cmd::get(id);
#endif
}
