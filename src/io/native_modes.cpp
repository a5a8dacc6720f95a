#include <io/native_modes.hpp>

#include <cerrno>

#include <sys/ioctl.h>

namespace fairlead::io {
namespace {

outcome set_blocking(descriptor const& d, bool on) noexcept {
    int non_blocking = !on;
    return {::ioctl(d.fd.load(std::memory_order_relaxed), FIONBIO, &non_blocking) < 0 ? errno : 0, 0};
}

} // namespace

/// Waiting for readiness leaves the mode alone, as with Asio.
void native_modes::stop_blocking(descriptor& d, kind k) noexcept {
    if (is_wait(k))
        return;
    auto mode = native_mode::not_asked_for;
    if (d.native.compare_exchange_strong(mode, native_mode::non_blocking, std::memory_order_relaxed) ||
        mode == native_mode::non_blocking)
        return;
    std::lock_guard const lock(mutex_);
    if (d.native.exchange(native_mode::non_blocking, std::memory_order_relaxed) == native_mode::blocking)
        set_blocking(d, false);
}
outcome native_modes::set(descriptor& d, bool blocking) noexcept {
    std::lock_guard const lock(mutex_);
    auto const wanted = blocking ? native_mode::blocking : native_mode::non_blocking;
    auto const before = d.native.exchange(wanted, std::memory_order_relaxed);
    if ((before == native_mode::blocking) == blocking)
        return {0, 0};
    auto const r = set_blocking(d, blocking);
    if (r.error)
        d.native.store(before, std::memory_order_relaxed);
    return r;
}
void native_modes::show(descriptor& d) noexcept {
    if (d.native.load(std::memory_order_relaxed) != native_mode::not_asked_for)
        return;
    std::lock_guard const lock(mutex_);
    auto mode = native_mode::not_asked_for;
    if (d.native.compare_exchange_strong(mode, native_mode::blocking, std::memory_order_relaxed))
        set_blocking(d, true);
}

} // namespace fairlead::io
