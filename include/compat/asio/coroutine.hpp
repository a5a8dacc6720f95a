#pragma once

#include <fairlead/legacy/coroutine.hpp>

#include <asio/detail/config.hpp>
