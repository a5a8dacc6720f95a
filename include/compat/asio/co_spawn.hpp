#pragma once

#include <fairlead/coro/spawn.hpp>

#include <asio/fairlead.hpp>
