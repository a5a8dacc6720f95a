#pragma once

#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/legacy/inline_properties.hpp>

#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
