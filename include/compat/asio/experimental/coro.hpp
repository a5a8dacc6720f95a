#pragma once

#include <fairlead/coro/coro.hpp>

#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/error_code.hpp>
#include <asio/experimental/coro_traits.hpp>
#include <asio/experimental/detail/partial_promise.hpp>
#include <asio/fairlead.hpp>
#include <asio/post.hpp>
