#pragma once

#include <fairlead/net/socket_iostream.hpp>

#include <asio/fairlead.hpp>
