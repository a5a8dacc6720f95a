#pragma once

#include <fairlead/net/socket_options.hpp>

#include <asio/fairlead.hpp>

namespace fairlead::detail {
namespace socket_option = impl::net::socket_option;
}
