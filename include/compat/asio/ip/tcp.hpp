#pragma once

#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/socket_iostream.hpp>
#include <fairlead/net/stream_socket.hpp>

#include <asio/detail/brought_along.hpp>
