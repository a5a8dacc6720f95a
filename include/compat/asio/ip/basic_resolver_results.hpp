#pragma once

#include <fairlead/net/resolver_results.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
