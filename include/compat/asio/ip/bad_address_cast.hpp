#pragma once

#include <fairlead/net/bad_address_cast.hpp>

#include <asio/detail/config.hpp>
