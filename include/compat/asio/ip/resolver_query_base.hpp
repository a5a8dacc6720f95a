#pragma once

#include <fairlead/net/resolver_base.hpp>

#include <asio/detail/socket_types.hpp>
