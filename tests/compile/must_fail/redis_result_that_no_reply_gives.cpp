// Fails: no reply can be read into this type: write error_code from_reply\(redis::reply_reader&, T&\)
#include <fairlead/redis/command.hpp> // first: what is said of it is then shown with fewer lines

#include <fairlead/redis/cmd/strings.hpp>

#include <string_view>

struct user {
    int age;
};
#ifdef GOOD
fairlead::error_code from_reply(fairlead::redis::reply_reader& in, user& u) { return in.read(u.age); }
#endif

void command() { (void)fairlead::redis::cmd::get<user>("k"); }
