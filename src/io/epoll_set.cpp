#include <io/epoll_set.hpp>

#include <fairlead/base/assert.hpp>

#include <io/posix.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

namespace fairlead::io {

int epoll_set::control(int set, int what, int fd, std::uint32_t events, std::uint64_t mark) noexcept {
    epoll_event event{};
    event.events = events | EPOLLET;
    event.data.u64 = mark;
    return ::epoll_ctl(set, what, fd, &event) != 0 ? errno : 0;
}

int epoll_set::open() noexcept {
    int const old_set = set_;
    int const old_waker = waker_;
    set_ = ::epoll_create1(EPOLL_CLOEXEC);
    int e = set_ < 0 ? errno : 0;
    waker_ = e ? -1 : ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!e && waker_ < 0)
        e = errno;
    if (!e)
        e = add(waker_, EPOLLIN, wake_mark); // Never read: each write is a new edge.
    // Refused now, the constructor of the driver says so. Later nobody could be told.
    epoll_event none;
    if (!e)
        e = static_cast<int>(-std::min<ssize_t>(posix::restarted([&] { return wait_ms(&none, 1, 0); }), 0));
    if (e) {
        close();
        set_ = old_set;
        waker_ = old_waker;
        return e;
    }
    if (old_set >= 0) {
        ::close(old_waker);
        ::close(old_set);
    }
    return 0;
}
void epoll_set::close() noexcept {
    if (waker_ >= 0)
        ::close(waker_);
    if (set_ >= 0)
        ::close(set_);
}

void epoll_set::wake() noexcept {
    std::uint64_t const one = 1;
    ssize_t const r = posix::restarted([&] { return ::write(waker_, &one, sizeof one); });
    if (r < 0) [[unlikely]] // after 2^64 - 2 wake-ups at the soonest; a lost one would be waited for without a word
        fairlead::impl::base::system_call_refused("write (eventfd)", static_cast<int>(-r));
}

int epoll_set::wait_until(epoll_event* events, int most, std::int64_t until_ns) noexcept {
    auto const left = std::max<std::int64_t>(until_ns - posix::monotonic_ns(), 0);
    if (precise_) {
        timespec const t{left / 1'000'000'000, left % 1'000'000'000};
        int const n = ::epoll_pwait2(set_, events, most, &t, nullptr);
        if (n >= 0 || errno == EINTR)
            return n;
        // Unknown before Linux 5.11, and refused by older profiles of seccomp, with whatever error: whole milliseconds
        // then, rounded up so as never to be early.
        precise_ = false;
    }
    return wait_ms(events, most, posix::whole_ms(left));
}

} // namespace fairlead::io
