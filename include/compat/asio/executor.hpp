#pragma once

#include <fairlead/legacy/ts_executor.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
