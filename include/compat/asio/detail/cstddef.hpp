#pragma once

#include <cstddef>

namespace fairlead {
using std::nullptr_t;
}
