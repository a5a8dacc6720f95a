// How an attempt went, as far as it tells something about readiness.
#pragma once

namespace fairlead::io {

/// One attempt to perform an op without waiting.
enum class attempt : unsigned char {
    done,      ///< the result is in the op; it moved all it could have
    done_less, ///< the result is in the op; the descriptor gave or took less than offered
    again,     ///< nothing there, or no space: wait for readiness
    paused,    ///< an …_all op has not moved all, and the descriptor gave or took less than offered: wait, too
};
constexpr bool has_to_wait(attempt a) noexcept { return a >= attempt::again; }

} // namespace fairlead::io
