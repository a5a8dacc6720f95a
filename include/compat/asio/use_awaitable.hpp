#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/token/async_op.hpp>

#include <asio/fairlead.hpp>
