#pragma once

#include <fairlead/net/ip.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
