#pragma once

#include <fairlead/net/socket_options.hpp>

#include <asio/fairlead.hpp>
