#pragma once

#include <fairlead/net/signal_set_base.hpp>

#include <asio/detail/socket_types.hpp>
