// Whether calls of others on a descriptor wait: the mode that the system knows it in, of all descriptors of a loop.
#pragma once

#include <fairlead/io/io_op.hpp>

#include <io/descriptor_table.hpp>

#include <mutex>

namespace fairlead::io {

/// The system's mode is changed under the mutex only. The first asynchronous operation leaves not_asked_for without it.
/// A thread that asks at that moment finds the descriptor as it is from then on.
class native_modes {
public:
    /// An asynchronous operation begins: calls of others do not wait any more.
    void begin(descriptor& d, kind k) noexcept {
        if (d.native.load(std::memory_order_relaxed) != native_mode::non_blocking) [[unlikely]]
            stop_blocking(d, k);
    }
    outcome set(descriptor& d, bool blocking) noexcept;
    /// Somebody wants to see the descriptor.
    void show(descriptor& d) noexcept;

private:
    void stop_blocking(descriptor& d, kind k) noexcept;

    std::mutex mutex_;
};

} // namespace fairlead::io
