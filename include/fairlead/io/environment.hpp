// The environment of the process. It belongs to the system, and what belongs to the system is reached from this room.
#pragma once

#include <fairlead/base/config.hpp>

namespace fairlead::io {

/// The value of a variable, or null when there is none; valid until the process changes it.
FAIRLEAD_EXPORT char const* environment_variable(char const* name) noexcept;

} // namespace fairlead::io
