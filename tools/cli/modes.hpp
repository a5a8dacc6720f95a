// What the program does with its connection.
#pragma once

#include "session.hpp"

namespace cli {

/// Executes the command of the arguments, or the lines of standard input. They return the status of the program.
fairlead::awaitable<int> execute_commands(options const& o);
fairlead::awaitable<int> measure_latency(options const& o);
fairlead::awaitable<int> pipe_input(options const& o);

} // namespace cli
