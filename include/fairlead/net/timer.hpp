// Timers with the clock that they follow.
#pragma once

#include <fairlead/io/clock.hpp>
#include <fairlead/net/waitable_timer.hpp>
