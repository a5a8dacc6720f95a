// Fails: a subscription is confirmed by pushes, not by a reply: execute it by itself
#include <fairlead/redis/unordered_pipeline.hpp> // first: what is said of it is then shown with fewer lines

#include <fairlead/redis/cmd/pubsub.hpp>
#include <fairlead/redis/cmd/strings.hpp>

void commands() {
    using namespace fairlead::redis;
#ifdef GOOD
    (void)unordered_pipeline(cmd::publish("news", "m"), cmd::incr("k"));
#else
    (void)unordered_pipeline(cmd::subscribe("news"), cmd::incr("k"));
#endif
}
