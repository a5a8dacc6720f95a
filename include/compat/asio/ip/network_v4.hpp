#pragma once

#include <fairlead/net/network.hpp>

#include <asio/fairlead.hpp>
