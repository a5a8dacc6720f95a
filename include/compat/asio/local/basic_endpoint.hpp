#pragma once

#include <fairlead/net/local.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
