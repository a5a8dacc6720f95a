#pragma once

#include <fairlead/net/socket.hpp>

#include <asio/fairlead.hpp>
