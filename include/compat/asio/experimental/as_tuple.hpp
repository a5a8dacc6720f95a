#pragma once

#include <fairlead/token/adapters.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::as_tuple;
using fairlead::as_tuple_t;
} // namespace fairlead::experimental
