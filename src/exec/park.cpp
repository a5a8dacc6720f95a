#include <exec/park.hpp>

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fairlead::detail::park {
namespace {

std::uint32_t* address(std::atomic<std::uint32_t>& word) noexcept {
    static_assert(sizeof(word) == sizeof(std::uint32_t));
    return reinterpret_cast<std::uint32_t*>(&word);
}

} // namespace

void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t timeout_ns) noexcept {
    timespec limit{};
    limit.tv_sec = static_cast<std::time_t>(timeout_ns / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
    // Whatever it returns for: a wake-up, a change before it slept, a signal, the end of the time. The caller looks.
    ::syscall(SYS_futex, address(word), FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? nullptr : &limit, nullptr, 0);
}
void wake_one(std::atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, address(word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
void wake_all(std::atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, address(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool barrier_in_all_threads() noexcept {
    // Not before it is needed: a process that never shares a loop never registers.
    static bool const can = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    return can && ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void give_way() noexcept { std::this_thread::yield(); }

thread start_thread(std::function<void()> f) { return std::thread(std::move(f)); }
std::size_t processors() noexcept { return std::thread::hardware_concurrency(); }

} // namespace fairlead::detail::park
