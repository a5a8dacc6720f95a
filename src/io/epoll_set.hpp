// An epoll set, and the eventfd that wakes whoever waits for it.
#pragma once

#include <fairlead/base/config.hpp>

#include <cerrno>
#include <cstdint>

#include <sys/epoll.h>

namespace fairlead::io {

/// Registrations are edge-triggered. Functions that return an int return an errno value, but for wait().
class epoll_set {
public:
    static constexpr std::uint64_t wake_mark = ~std::uint64_t{0};
    static constexpr std::int64_t for_ever = -1;

    epoll_set() noexcept = default;
    epoll_set(epoll_set const&) = delete;
    epoll_set& operator=(epoll_set const&) = delete;
    ~epoll_set() { close(); }

    /// May be called again, in the child of a fork. Set and waker are shared with the parent as long as they are open.
    /// A change of the set is one of the parent's, too. After an error all is as before.
    int open() noexcept;
    int add(int fd, std::uint32_t events, std::uint64_t mark) noexcept {
        return control(EPOLL_CTL_ADD, fd, events, mark);
    }
    /// Reports what is ready now, as if it were new.
    int change(int fd, std::uint32_t events, std::uint64_t mark) noexcept {
        return control(EPOLL_CTL_MOD, fd, events, mark);
    }
    void remove(int fd) noexcept { control(EPOLL_CTL_DEL, fd, 0, 0); }
    /// Any thread. Its event has wake_mark.
    void wake() noexcept;

    /// Waits until `until_ns` on the monotonic clock. 0: looks only; negative: for ever. Returns how many events came;
    /// less than 0: none, errno tells why.
    int wait(epoll_event* events, int most, std::int64_t until_ns) noexcept {
        return until_ns <= 0 ? wait_ms(events, most, until_ns == 0 ? 0 : -1) : wait_until(events, most, until_ns);
    }
    /// As wait(), for whole milliseconds. Two calls do that: a profile of seccomp may know only one of them.
    int wait_ms(epoll_event* events, int most, int timeout_ms) noexcept {
        int const n = ::epoll_wait(set_, events, most, timeout_ms);
        if (n >= 0 || errno == EINTR) [[likely]]
            return n;
        return ::epoll_pwait(set_, events, most, timeout_ms, nullptr);
    }

private:
    int wait_until(epoll_event* events, int most, std::int64_t until_ns) noexcept;
    int control(int what, int fd, std::uint32_t events, std::uint64_t mark) noexcept {
        return control(set_, what, fd, events, mark);
    }
    static int control(int set, int what, int fd, std::uint32_t events, std::uint64_t mark) noexcept;
    void close() noexcept;

    int set_ = -1;
    int waker_ = -1;
    bool precise_ = !FAIRLEAD_TSAN; // g++ 12's thread sanitizer holds signals back while a thread is in epoll_pwait2.
};

} // namespace fairlead::io
