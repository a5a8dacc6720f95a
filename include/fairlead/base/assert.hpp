// Assertions: a bug of the program or of the library, never a condition of the world.
#pragma once

#include <fairlead/base/config.hpp>

namespace fairlead::impl::base {

/// Prints the failed fact with its place and aborts. Never returns.
[[noreturn]] FAIRLEAD_EXPORT void assertion_failed(char const* fact, char const* file, int line) noexcept;
/// For a system call that the loop cannot do without, where no caller could be told. Going on would mean to spin, or to
/// wait for ever. Prints the refused call and the reason, and aborts.
[[noreturn]] FAIRLEAD_EXPORT void system_call_refused(char const* call, int error) noexcept;

} // namespace fairlead::impl::base

/// Cheap facts; on in every build unless FAIRLEAD_NO_ASSERT is defined for the library and the program alike.
#ifndef FAIRLEAD_NO_ASSERT
#define FAIRLEAD_ASSERT(fact)                                                                                          \
    (static_cast<bool>(fact) ? void(0) : ::fairlead::impl::base::assertion_failed(#fact, __FILE__, __LINE__))
#else
#define FAIRLEAD_ASSERT(fact) void(0)
#endif

/// Facts whose check costs on a hot path; on in debug builds.
#ifndef NDEBUG
#define FAIRLEAD_ASSERT_SLOW(fact) FAIRLEAD_ASSERT(fact)
#else
#define FAIRLEAD_ASSERT_SLOW(fact) void(0)
#endif
