#pragma once

#include <fairlead/net/socket_options.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
