#pragma once

#include <fairlead/exec/config.hpp>
#include <fairlead/exec/thread_pool.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
