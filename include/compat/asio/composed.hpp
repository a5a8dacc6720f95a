#pragma once

#include <fairlead/token/compose.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
