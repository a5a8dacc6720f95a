#pragma once

#include <fairlead/net/address.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
