#pragma once

#include <fairlead/net/descriptor_base.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
