#pragma once

#include <fairlead/token/associated.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/socket_types.hpp>
#include <asio/fairlead.hpp>
