#include <io/kernel_host.hpp>

#include <io/posix.hpp>
#include <io/signals.hpp>

#include <cerrno>

#include <time.h>
#include <unistd.h>

namespace fairlead::io {

void kernel_host::take_pending(op_queue& into) noexcept {
    resolving_.take_pending(into);
    if (has_signals_.load(std::memory_order_acquire))
        signal_hub::of_process().take_pending(*loop_, into);
}
outcome kernel_host::notify_fork(execution_context::fork_event event) noexcept {
    if (event == execution_context::fork_child)
        resolving_.start_over(*loop_);
    return {0, 0};
}

std::int64_t kernel_host::now_ns() noexcept { return posix::monotonic_ns(); }
std::int64_t kernel_host::wall_ns() noexcept { return posix::clock_ns(CLOCK_REALTIME); }
bool kernel_host::sleep_until(std::int64_t until_ns) noexcept {
    return posix::sleep_until(until_ns, &posix::monotonic_ns);
}

outcome kernel_host::open_signals(signal_source*& source) noexcept {
    source = nullptr;
    if (int const e = watcher_.watch_signals())
        return {e, 0};
    has_signals_.store(true, std::memory_order_release);
    source = signal_hub::of_process().open(*loop_);
    return {source ? 0 : ENOMEM, 0};
}
outcome kernel_host::add_signal(signal_source& s, int number, int flags) noexcept {
    return {signal_hub::of_process().add(static_cast<process_source&>(s), number, flags), 0};
}
void kernel_host::wait_signal(signal_source& s, signal_op& o) noexcept {
    signal_hub::of_process().wait(static_cast<process_source&>(s), o);
}
bool kernel_host::cancel_signal(signal_op& o) noexcept { return signal_hub::of_process().cancel(o); }
std::size_t kernel_host::cancel_signals(signal_source& s) noexcept {
    return signal_hub::of_process().cancel_all(static_cast<process_source&>(s));
}

outcome host::system_host_name(char* into, std::size_t capacity) noexcept {
    if (::gethostname(into, capacity) != 0)
        return {errno, 0};
    into[capacity - 1] = '\0'; // A name that was cut off has none.
    return {0, 0};
}

} // namespace fairlead::io
