#pragma once

#include <fairlead/legacy/config.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
