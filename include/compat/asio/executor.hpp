#pragma once

#include <fairlead/exec/ts_executor.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
