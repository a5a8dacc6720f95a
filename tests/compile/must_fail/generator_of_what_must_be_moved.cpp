// Fails: a generator yields values, or lvalues by reference
#include <fairlead/coro/generator.hpp>

#include <string>

#ifdef GOOD
fairlead::generator<std::string> child() { co_yield "text"; }
#else
fairlead::generator<std::string&&> child() { co_yield "text"; }
#endif
