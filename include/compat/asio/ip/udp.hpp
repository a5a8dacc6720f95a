#pragma once

#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/resolver.hpp>

#include <asio/detail/brought_along.hpp>
