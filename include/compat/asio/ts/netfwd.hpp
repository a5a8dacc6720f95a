// Forward declarations.
#pragma once

#include <asio/detail/forward.hpp>
