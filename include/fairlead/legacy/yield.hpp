// reenter, yield and fork as short names of the macros in coroutine.hpp. Include it last, and unyield.hpp afterwards.
// No #pragma once: a file may take the names away and give them back.
#include <fairlead/legacy/coroutine.hpp>

#ifndef reenter
#define reenter(c) FAIRLEAD_CORO_REENTER(c)
#endif
#ifndef yield
#define yield FAIRLEAD_CORO_YIELD
#endif
#ifndef fork
#define fork FAIRLEAD_CORO_FORK
#endif
