// Fails: an operation is started once: std::move\(op\)\(token\)
#include <fairlead/io/io_context.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/token/post.hpp>

void start(fairlead::io_context& context) {
    auto operation = fairlead::post(context, fairlead::deferred);
#ifdef GOOD
    std::move(operation)([] {});
#else
    operation([] {});
#endif
}
