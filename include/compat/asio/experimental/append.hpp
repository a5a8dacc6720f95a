#pragma once

#include <fairlead/token/append.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::append;
using fairlead::append_t;
} // namespace fairlead::experimental
