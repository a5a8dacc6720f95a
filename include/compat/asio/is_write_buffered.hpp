#pragma once

#include <fairlead/stream/buffered_fwd.hpp>

#include <asio/detail/config.hpp>
