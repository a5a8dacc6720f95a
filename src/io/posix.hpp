// The system calls of the data path, as functions that return a count or minus an errno value. EINTR never leaves here.
// errno is read on the error path only.
#pragma once

#include <fairlead/io/io_op.hpp>

#include <io/attempt.hpp>
#include <io/transfer_call.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

namespace fairlead::io::posix {

static_assert(sizeof(slice) == sizeof(iovec) && offsetof(slice, base) == offsetof(iovec, iov_base) &&
              offsetof(slice, size) == offsetof(iovec, iov_len));

template <class Call> ssize_t restarted(Call call) noexcept {
    for (;;) {
        ssize_t const r = call();
        if (r >= 0) [[likely]]
            return r;
        if (errno != EINTR)
            return -errno;
    }
}

inline ssize_t recv(int fd, void* data, std::size_t size, int flags) noexcept {
    return restarted([&] { return receive_call(fd, data, size, flags | MSG_DONTWAIT); });
}
inline ssize_t send(int fd, void const* data, std::size_t size, int flags) noexcept {
    return restarted([&] { return send_call(fd, data, size, flags | MSG_DONTWAIT | MSG_NOSIGNAL); });
}
/// The kernel takes no more in one call.
inline constexpr std::size_t slices_most = 1024;

inline ssize_t recv(int fd, slice* slices, std::size_t count, int flags) noexcept {
    msghdr message{};
    message.msg_iov = reinterpret_cast<iovec*>(slices);
    message.msg_iovlen = count < slices_most ? count : slices_most;
    return restarted([&] { return ::recvmsg(fd, &message, flags | MSG_DONTWAIT); });
}
inline ssize_t send(int fd, slice* slices, std::size_t count, int flags) noexcept {
    msghdr message{};
    message.msg_iov = reinterpret_cast<iovec*>(slices);
    message.msg_iovlen = count < slices_most ? count : slices_most;
    return restarted([&] { return ::sendmsg(fd, &message, flags | MSG_DONTWAIT | MSG_NOSIGNAL); });
}
/// > 0: ready, 0: not within the time, < 0: error.
inline ssize_t poll_one(int fd, short events, int timeout_ms) noexcept {
    pollfd p{fd, events, 0};
    return restarted([&] { return ::poll(&p, 1, timeout_ms); });
}

inline std::int64_t clock_ns(clockid_t clock) noexcept {
    timespec t;
    ::clock_gettime(clock, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}
inline std::int64_t monotonic_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }

/// Rounded up: who waits in whole milliseconds is not early. An hour at the most; the caller looks again.
inline int whole_ms(std::int64_t ns) noexcept {
    return ns >= 3'600'000'000'000 ? 3'600'000 : static_cast<int>((ns + 999'999) / 1'000'000);
}
/// Blocks the calling thread until `now_ns()`, a monotonic clock, shows `until_ns`. False: no call may wait.
bool sleep_until(std::int64_t until_ns, std::int64_t (*now_ns)() noexcept) noexcept;

/// Does the op's system call once, without waiting and without looking at what is known of the descriptor.
attempt once_in_general(int fd, io_op& o) noexcept;

/// As `receive`, into memory of a lender.
attempt receive_lent(int fd, io_op& o) noexcept;

/// The rest of receive_one and send_one, after a first call that returned `n`.
attempt receive_rest(int fd, io_op& o, ssize_t n) noexcept;
attempt send_rest(int fd, io_op& o, ssize_t n) noexcept;

/// One buffer that is not empty, of a stream, as nearly every operation has; hence inline.
inline attempt receive_one(int fd, io_op& o) noexcept {
    ssize_t const n = receive_call(fd, o.data, o.size, o.message_flags | MSG_DONTWAIT);
    if (n <= 0) [[unlikely]]
        return receive_rest(fd, o, n);
    o.result.n = static_cast<std::size_t>(n);
    return o.result.n < o.size ? attempt::done_less : attempt::done;
}
/// Writes one buffer; also a datagram on a connected socket, of which never a part is taken.
inline attempt send_one(int fd, io_op& o) noexcept {
    ssize_t const n = send_call(fd, o.data, o.size, o.message_flags | MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 || static_cast<std::size_t>(n) != o.size) [[unlikely]]
        return send_rest(fd, o, n);
    o.result.n += static_cast<std::size_t>(n);
    return attempt::done;
}

inline attempt once(int fd, io_op& o) noexcept {
    if (!o.slices && o.size != 0) [[likely]] {
        if (o.kind == kind::receive && o.stream && o.medium <= medium::unix_stream)
            return receive_one(fd, o);
        if ((o.kind == kind::send || o.kind == kind::send_all) && o.medium <= medium::unix_stream)
            return send_one(fd, o);
    }
    return once_in_general(fd, o);
}

/// Is this EAGAIN one that readiness to write will not end? On a UNIX socket that is not connected it also means that
/// the receiver has no space. The system tells only sockets that are connected to it when it has.
bool may_stall(io_op const& o) noexcept;
/// To be asked when poll() has said "ready" and the attempt found nothing after all. True: nothing can come any more,
/// and the op is done. Otherwise, where asking again at once would only spin, waits for a moment.
bool poll_misled(int fd, io_op& o) noexcept;

inline short poll_events(kind k) noexcept { return k == kind::wait_error ? POLLPRI : is_write(k) ? POLLOUT : POLLIN; }

} // namespace fairlead::io::posix
