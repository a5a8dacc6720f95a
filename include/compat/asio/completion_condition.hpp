#pragma once

#include <fairlead/stream/completion_condition.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
