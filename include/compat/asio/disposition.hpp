#pragma once

#include <fairlead/base/disposition.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
