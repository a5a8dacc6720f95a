#pragma once

#include <fairlead/net/raw_socket.hpp>
#include <fairlead/net/resolver.hpp>

#include <asio/detail/brought_along.hpp>
