#pragma once

#include <fairlead/coro/coro_traits.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/fairlead.hpp>
