#pragma once

#include <fairlead/token/deferred.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::deferred;
}
