// Fails: this operation cannot be ended early, so that it takes no
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>

void post_it(fairlead::io_context& context, fairlead::cancellation_signal& signal) {
#ifdef GOOD
    static_cast<void>(signal);
    fairlead::post(context, [] {});
#else
    fairlead::post(context, fairlead::bind_cancellation_slot(signal.slot(), [] {}));
#endif
}
