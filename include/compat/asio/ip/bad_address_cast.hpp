#pragma once

#include <fairlead/net/bad_address_cast.hpp>

#include <asio/fairlead.hpp>
