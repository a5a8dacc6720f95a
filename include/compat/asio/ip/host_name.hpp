#pragma once

#include <fairlead/net/host_name.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
