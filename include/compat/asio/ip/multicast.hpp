#pragma once

#include <fairlead/net/multicast_options.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
