#pragma once

#include <fairlead/token/coroutine.hpp>

#include <asio/detail/config.hpp>
