#pragma once

#include <fairlead/token/post_function.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
