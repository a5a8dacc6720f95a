// Fails: names and values come in turn: write a value behind each name
#include <fairlead/redis/cmd/hashes.hpp>

void command() {
#ifdef GOOD
    (void)fairlead::redis::cmd::hset("user:1", "name", "ann", "age", 7);
#else
    (void)fairlead::redis::cmd::hset("user:1", "name", "ann", "age");
#endif
}
