#pragma once

#include <fairlead/token/promise.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/fairlead.hpp>
