#pragma once

#include <fairlead/coro/multiple_exceptions.hpp>

#include <asio/fairlead.hpp>
