#pragma once

#include <fairlead/net/stream_socket.hpp>

#include <asio/fairlead.hpp>
