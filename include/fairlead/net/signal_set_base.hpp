// The flags of signal sets.
#pragma once

namespace fairlead {

/// Flags of signal sets.
class signal_set_base {
public:
    /// How the process takes a signal, as in sigaction(2).
    enum class flags : int {
        none = 0,
        restart = 0x10000000, ///< system calls that it interrupts go on
        no_child_stop = 0x1,  ///< SIGCHLD: not when a child stops
        no_child_wait = 0x2,  ///< SIGCHLD: children that end leave nothing to wait for
        dont_care = -1,       ///< what the signal has already, else restart
    };
    using flags_t = flags;

    friend constexpr flags operator|(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) | static_cast<int>(b));
    }
    friend constexpr flags operator&(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) & static_cast<int>(b));
    }

protected:
    signal_set_base() = default;
    ~signal_set_base() = default;
};

} // namespace fairlead
