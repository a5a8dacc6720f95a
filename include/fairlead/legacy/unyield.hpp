// Takes the names of yield.hpp away again.
// No #pragma once: it does so as often as it is included.
#undef reenter
#undef yield
#undef fork
