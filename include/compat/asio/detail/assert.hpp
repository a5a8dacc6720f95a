// Asio's assertion, which programs use as their own.
#pragma once

#include <cassert>

#define ASIO_ASSERT(expr) assert(expr)
