#pragma once

#include <fairlead/token/prepend.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::prepend;
using fairlead::prepend_t;
} // namespace fairlead::experimental
