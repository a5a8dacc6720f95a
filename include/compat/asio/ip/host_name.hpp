#pragma once

#include <fairlead/net/resolver.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
