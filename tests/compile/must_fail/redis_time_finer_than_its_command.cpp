// Fails: this command counts in a coarser unit: write its form in milliseconds
#include <fairlead/redis/cmd/strings.hpp>

void command() {
    using namespace fairlead::redis;
    using namespace std::chrono_literals;
#ifdef GOOD
    (void)cmd::set("k", "v", options::px(1500ms));
#else
    (void)cmd::set("k", "v", options::ex(1500ms));
#endif
}
