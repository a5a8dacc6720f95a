// Fails: the first argument of bind_executor is an executor or a context
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/adapters.hpp>

#ifdef GOOD
using place = fairlead::io_context::executor_type;
#else
using place = int;
#endif

auto bind(place const& p) {
    return fairlead::bind_executor(p, [] {});
}
