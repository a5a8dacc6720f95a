// The table of "The Costs of Asynchronous Abstractions": operations that are complete when they are started.
#pragma once

#include <cstdint>

namespace demo {

/// Times `reads` searches of a buffer in which the delimiter always stands, in each form that waits for nothing.
/// False: a form did not find it as often.
bool show_immediate(std::uint64_t reads);

} // namespace demo
