// The second part: the other papers in a few seconds.
#pragma once

#include <cstdint>

namespace demo {

/// One operation in its five call forms; the echo of 100 pairs, raw, with callbacks and with coroutines; and operations
/// that are complete when they are started.
/// False: a form gave a wrong result.
bool show_papers(std::uint64_t echo_messages);

} // namespace demo
