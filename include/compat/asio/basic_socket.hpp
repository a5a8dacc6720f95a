#pragma once

#include <fairlead/net/socket.hpp>

#include <asio/detail/brought_along.hpp>
