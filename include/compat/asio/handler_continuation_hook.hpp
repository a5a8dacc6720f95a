// With this hook a handler said that it continues the operation that calls it, for schedulers that made use of it. Ours
// does not need to be told; programs that call the hook for a handler inside theirs get Asio's default.
#pragma once

#include <asio/detail/config.hpp>

namespace fairlead {

inline bool asio_handler_is_continuation(...) { return false; }

} // namespace fairlead
