#pragma once

#include <fairlead/base/error.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
