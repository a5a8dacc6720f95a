#pragma once

#include <fairlead/base/disposition.hpp>
#include <fairlead/token/use_future.hpp>

#include <asio/detail/executors.hpp>
#include <asio/detail/inside.hpp>
#include <asio/fairlead.hpp>
