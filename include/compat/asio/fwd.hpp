// Forward declarations.
#pragma once

#include <fairlead/legacy/streambuf_fwd.hpp>
#include <fairlead/stream/buffered_fwd.hpp>

#include <asio/detail/forward.hpp>

namespace fairlead {

using streambuf = basic_streambuf<>;

} // namespace fairlead
