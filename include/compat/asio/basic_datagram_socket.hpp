#pragma once

#include <fairlead/net/datagram_socket.hpp>

#include <asio/fairlead.hpp>
