#pragma once

#include <fairlead/net/stream_socket.hpp>

#include <asio/detail/brought_along.hpp>
