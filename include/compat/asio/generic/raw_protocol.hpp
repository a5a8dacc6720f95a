#pragma once

#include <fairlead/net/generic.hpp>
#include <fairlead/net/raw_socket.hpp>

#include <asio/detail/brought_along.hpp>
