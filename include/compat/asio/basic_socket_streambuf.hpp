#pragma once

#include <fairlead/net/socket_iostream.hpp>

#include <asio/detail/brought_along.hpp>
