#include <exec/park.hpp>

#include <fairlead/base/assert.hpp>
#include <fairlead/base/config.hpp>

#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fairlead::impl::exec::park {
namespace {

std::uint32_t* address(std::atomic<std::uint32_t>& word) noexcept {
    static_assert(sizeof(word) == sizeof(std::uint32_t));
    return reinterpret_cast<std::uint32_t*>(&word);
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, timespec const* limit) noexcept {
    return ::syscall(SYS_futex, address(word), operation, value, limit, nullptr, 0);
}
void wake(std::atomic<std::uint32_t>& word, std::uint32_t most) noexcept {
    // Refused, somebody would sleep for ever. But who has been woken by then may have gone, with the memory.
    if (futex(word, FUTEX_WAKE_PRIVATE, most, nullptr) < 0 && errno != EFAULT) [[unlikely]]
        base::system_call_refused("futex", errno);
}

} // namespace

void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::int64_t timeout_ns) noexcept {
    // The thread sanitizer holds a signal back until its thread calls a function that the sanitizer replaces. It does
    // not see this wait. So the wait has to be short, and such a call has to follow.
    constexpr std::int64_t tsan_most_ns = 10'000'000;
    if (FAIRLEAD_TSAN && (timeout_ns < 0 || timeout_ns > tsan_most_ns))
        timeout_ns = tsan_most_ns;
    timespec limit{};
    limit.tv_sec = static_cast<std::time_t>(timeout_ns / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
    long const r = futex(word, FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? nullptr : &limit);
    // A wake-up, a change before it slept, a signal, the end of the time: the caller looks. It would look for ever
    // without a pause if the system refused to let it sleep.
    if (r != 0 && errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT) [[unlikely]]
        base::system_call_refused("futex", errno);
    if (FAIRLEAD_TSAN) {
        timespec const at_once{};
        ::nanosleep(&at_once, nullptr);
    }
}
void wake_one(std::atomic<std::uint32_t>& word) noexcept { wake(word, 1); }
void wake_all(std::atomic<std::uint32_t>& word) noexcept { wake(word, INT_MAX); }

namespace {
std::atomic<bool> barriers_are_prepared{false};
}

bool can_have_barriers() noexcept {
    // With other threads about, the system waits here until each of its processors has changed tasks.
    static bool const can = [] {
        bool const registered = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
        barriers_are_prepared.store(true, std::memory_order_release);
        return registered;
    }();
    return can;
}
bool are_barriers_prepared() noexcept { return barriers_are_prepared.load(std::memory_order_acquire); }
bool is_single_threaded() noexcept { return __libc_single_threaded; }
bool barrier_in_all_threads() noexcept {
    return can_have_barriers() && ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

namespace {

std::int64_t system_clock_ns() noexcept {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

} // namespace

constinit std::atomic<std::int64_t (*)() noexcept> clock{&system_clock_ns};
std::int64_t now_ns() noexcept { return clock.load(std::memory_order_relaxed)(); }

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void give_way() noexcept { std::this_thread::yield(); }

thread start_thread(std::function<void()> f) { return std::thread(std::move(f)); }
std::size_t processors() noexcept { return std::thread::hardware_concurrency(); }

} // namespace fairlead::impl::exec::park
