#pragma once

#include <fairlead/net/network.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
