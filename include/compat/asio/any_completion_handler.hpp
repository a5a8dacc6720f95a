#pragma once

#include <fairlead/token/any_completion_handler.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
