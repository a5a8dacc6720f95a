// Fails: nodiscard|warn_unused_result
#include <fairlead/io/io_context.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/token/post.hpp>

void forget(fairlead::io_context& context) {
#ifdef GOOD
    auto operation = fairlead::post(context, fairlead::deferred);
    std::move(operation)([] {});
#else
    fairlead::post(context, fairlead::deferred);
#endif
}
