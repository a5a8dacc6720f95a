#pragma once

#include <fairlead/base/disposition.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/spawn_coro.hpp>
#include <fairlead/token/post_function.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>

namespace fairlead::experimental {
using fairlead::co_spawn;
}
