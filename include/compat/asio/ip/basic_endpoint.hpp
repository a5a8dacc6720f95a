#pragma once

#include <fairlead/net/ip.hpp>

#include <asio/fairlead.hpp>
