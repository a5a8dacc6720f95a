#pragma once

#include <fairlead/legacy/inline_or_executor.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
