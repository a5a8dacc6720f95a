// No #pragma once: it does so as often as it is included.
#include <fairlead/legacy/yield.hpp>
