#pragma once

#include <fairlead/net/local.hpp>

#include <asio/fairlead.hpp>
