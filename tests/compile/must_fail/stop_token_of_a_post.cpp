// Fails: this operation cannot be ended early, so that it takes no stop token
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/bind_stop_token.hpp>
#include <fairlead/token/post.hpp>

void post_it(fairlead::io_context& context, std::stop_token const& stop) {
#ifdef GOOD
    static_cast<void>(stop);
    fairlead::post(context, [] {});
#else
    fairlead::post(context, fairlead::bind_stop_token(stop, [] {}));
#endif
}
