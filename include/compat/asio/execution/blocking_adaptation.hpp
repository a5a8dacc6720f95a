#pragma once

#include <fairlead/exec/blocking_adaptation.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
