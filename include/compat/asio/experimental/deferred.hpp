#pragma once

#include <fairlead/token/deferred.hpp>

#include <asio/detail/executors.hpp>
#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::deferred;
using fairlead::deferred_t;
} // namespace fairlead::experimental
