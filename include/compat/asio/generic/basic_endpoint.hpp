#pragma once

#include <fairlead/net/generic.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
