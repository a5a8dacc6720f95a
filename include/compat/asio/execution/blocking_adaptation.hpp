#pragma once

#include <fairlead/legacy/blocking_adaptation.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
