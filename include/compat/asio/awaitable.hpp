#pragma once

#include <fairlead/base/disposition.hpp>
#include <fairlead/coro/awaitable.hpp>
#include <fairlead/operation/async_op.hpp>
#include <fairlead/token/post_function.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
