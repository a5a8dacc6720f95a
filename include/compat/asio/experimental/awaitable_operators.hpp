#pragma once

#include <fairlead/coro/awaitable_operators.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/deferred.hpp>
#include <asio/fairlead.hpp>
#include <asio/multiple_exceptions.hpp>
#include <asio/this_coro.hpp>
