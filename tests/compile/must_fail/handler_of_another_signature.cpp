// Fails: neither a completion token nor a function that takes the arguments
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>

#ifdef GOOD
constexpr auto handler = [] {};
#else
constexpr auto handler = [](int) {};
#endif

void start(fairlead::io_context& context) { fairlead::post(context, handler); }
