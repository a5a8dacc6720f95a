#pragma once

#include <fairlead/coro/spawn.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::co_spawn;
}
