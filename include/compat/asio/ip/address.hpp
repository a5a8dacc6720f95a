#pragma once

#include <fairlead/net/address.hpp>

#include <asio/fairlead.hpp>
