#pragma once

#include <fairlead/sync/channel.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/experimental/channel_error.hpp>
#include <asio/fairlead.hpp>
