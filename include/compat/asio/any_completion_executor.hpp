#pragma once

#include <fairlead/exec/executor.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
