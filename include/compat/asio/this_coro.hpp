#pragma once

#include <fairlead/coro/this_coro.hpp>

#include <asio/fairlead.hpp>
