#pragma once

#include <fairlead/exec/config.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
