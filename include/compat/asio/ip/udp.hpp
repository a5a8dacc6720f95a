#pragma once

#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/resolver.hpp>

#include <asio/fairlead.hpp>
