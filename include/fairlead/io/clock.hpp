// steady_clock: the clock that timers follow. A header of its own: Asio's programs have the standard one of that name
// beside its namespace.
#pragma once

#include <fairlead/io/loop_clock.hpp>

namespace fairlead {

/// The clock of timers: as std::chrono::steady_clock, but inside a simulated world now() is the world's time.
using steady_clock = io::steady_clock;

} // namespace fairlead
