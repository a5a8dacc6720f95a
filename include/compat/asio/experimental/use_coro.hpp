#pragma once

#include <fairlead/coro/use_coro.hpp>

#include <asio/deferred.hpp>
#include <asio/experimental/coro.hpp>
#include <asio/fairlead.hpp>
