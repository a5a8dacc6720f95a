#pragma once

#include <fairlead/exec/execution_context.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
