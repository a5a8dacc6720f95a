#pragma once

#include <fairlead/exec/thread_pool.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
