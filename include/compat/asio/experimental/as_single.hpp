#pragma once

#include <fairlead/token/as_single.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::as_single;
using fairlead::as_single_t;
} // namespace fairlead::experimental
