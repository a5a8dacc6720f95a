#pragma once

#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/generic.hpp>
#include <fairlead/net/seq_packet_socket.hpp>

#include <asio/detail/brought_along.hpp>
