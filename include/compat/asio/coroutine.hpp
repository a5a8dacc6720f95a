#pragma once

#include <fairlead/token/coroutine.hpp>

#include <asio/fairlead.hpp>
