#include <io/posix.hpp>

#include <fairlead/io/transfer.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace fairlead::io::posix {
namespace {

constexpr int eof_value = -static_cast<int>(error::eof);

attempt finish(io_op& o, int error, std::size_t n) noexcept {
    o.result.error = error;
    o.result.n = n;
    return attempt::done;
}

/// Bytes that one call can move. No slice is empty: 0 means that nothing is left.
std::size_t total_of_call(io_op const& o) noexcept { return total_of(o, slices_most); }

/// Keeps SIGPIPE from the calling thread. Nothing but the mask can, where a call has no flag for it.
class sigpipe_blocked {
public:
    sigpipe_blocked() noexcept {
        ::sigemptyset(&only_);
        ::sigaddset(&only_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &only_, &before_);
    }
    sigpipe_blocked(sigpipe_blocked const&) = delete;
    sigpipe_blocked& operator=(sigpipe_blocked const&) = delete;
    ~sigpipe_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    /// Takes the signal back that has come of a write.
    void consume() noexcept {
        timespec const at_once{};
        restarted([&]() -> ssize_t { return ::sigtimedwait(&only_, nullptr, &at_once); });
    }

private:
    sigset_t only_;
    sigset_t before_;
};

int count_of(io_op const& o) noexcept { return static_cast<int>(o.size < slices_most ? o.size : slices_most); }

/// Reads once. A short read then says that nothing is left, unless `more` is set.
ssize_t read_once(int fd, io_op& o, bool& more) noexcept {
    switch (o.medium) {
    case medium::socket:
    case medium::unix_stream:
        return o.slices ? recv(fd, static_cast<slice*>(o.data), o.size, o.message_flags)
                        : recv(fd, o.data, o.size, o.message_flags);
    case medium::pipe: break;
    case medium::file: more = true; break;
    }
    return restarted(
        [&] { return o.slices ? ::readv(fd, static_cast<iovec*>(o.data), count_of(o)) : ::read(fd, o.data, o.size); });
}

ssize_t write_once(int fd, io_op& o) noexcept {
    if (o.medium <= medium::unix_stream)
        return o.slices ? send(fd, static_cast<slice*>(o.data), o.size, o.message_flags)
                        : send(fd, o.data, o.size, o.message_flags);
    sigpipe_blocked guard;
    ssize_t const n = restarted([&] {
        return o.slices ? ::writev(fd, static_cast<iovec*>(o.data), count_of(o)) : ::write(fd, o.data, o.size);
    });
    if (n == -EPIPE)
        guard.consume();
    return n;
}

FAIRLEAD_ALWAYS_INLINE attempt receive(int fd, io_op& o) noexcept {
    auto const wanted = total_of_call(o);
    if (wanted == 0 && o.stream)
        return finish(o, 0, 0);
    bool more = false;
    ssize_t const n = read_once(fd, o, more);
    if (n > 0) [[likely]] {
        finish(o, 0, static_cast<std::size_t>(n));
        return static_cast<std::size_t>(n) < wanted && !more ? attempt::done_less : attempt::done;
    }
    if (n == 0)
        return finish(o, o.stream ? eof_value : 0, 0);
    if (n == -EAGAIN)
        return attempt::again;
    return finish(o, static_cast<int>(-n), 0);
}

attempt send_some(int fd, io_op& o) noexcept {
    auto const wanted = total_of_call(o);
    if (wanted == 0 && o.stream)
        return finish(o, 0, 0);
    ssize_t const n = write_once(fd, o);
    if (n >= 0) [[likely]] {
        finish(o, 0, static_cast<std::size_t>(n));
        return static_cast<std::size_t>(n) < wanted ? attempt::done_less : attempt::done;
    }
    if (n == -EAGAIN)
        return attempt::again;
    return finish(o, static_cast<int>(-n), 0);
}

/// One datagram, whole. The bytes that its buffers cannot hold are gone, and it says so. There is no shorter call that
/// says it for every protocol.
attempt receive_datagram(int fd, io_op& o) noexcept {
    slice one{o.data, o.size};
    msghdr message{};
    message.msg_iov = reinterpret_cast<iovec*>(o.slices ? static_cast<slice*>(o.data) : &one);
    message.msg_iovlen = !o.slices ? 1 : o.size < slices_most ? o.size : slices_most;
    auto* const named = o.kind == kind::receive_from ? static_cast<datagram_op*>(&o) : nullptr;
    if (named) {
        message.msg_name = named->address;
        message.msg_namelen = named->address_size;
    }
    ssize_t const n = restarted([&] { return ::recvmsg(fd, &message, o.message_flags | MSG_DONTWAIT); });
    if (n == -EAGAIN)
        return attempt::again;
    if (named)
        named->address_size = n < 0 ? 0 : message.msg_namelen;
    o.result.flags = static_cast<unsigned>(message.msg_flags);
    if (n < 0)
        return finish(o, static_cast<int>(-n), 0);
    if (!(message.msg_flags & MSG_TRUNC)) [[likely]]
        return finish(o, 0, static_cast<std::size_t>(n));
    auto const space = total_of_call(o); // A caller's own MSG_TRUNC makes n the size of the datagram.
    return finish(o, EMSGSIZE, static_cast<std::size_t>(n) < space ? static_cast<std::size_t>(n) : space);
}

/// The system sends a datagram whole or not at all. More buffers than it takes are an error here, never a part.
attempt send_datagram(int fd, io_op& o) noexcept {
    void* to = nullptr;
    socklen_t to_size = 0;
    if (o.kind == kind::send_to) {
        auto const& named = static_cast<datagram_op const&>(o);
        to = named.address;
        to_size = named.address_size;
    }
    int const flags = o.message_flags | MSG_DONTWAIT | MSG_NOSIGNAL;
    ssize_t const n = restarted([&] {
        if (!o.slices)
            return ::sendto(fd, o.data, o.size, flags, static_cast<sockaddr const*>(to), to_size);
        msghdr message{};
        message.msg_name = to;
        message.msg_namelen = to_size;
        message.msg_iov = static_cast<iovec*>(o.data);
        message.msg_iovlen = o.size;
        return ::sendmsg(fd, &message, flags);
    });
    if (n == -EAGAIN)
        return attempt::again;
    return n < 0 ? finish(o, static_cast<int>(-n), 0) : finish(o, 0, static_cast<std::size_t>(n));
}

/// Repeats `some` until everything has moved. result.n counts across calls.
template <class Some> attempt until_done(int fd, io_op& o, Some some) noexcept {
    for (;;) {
        auto const before = o.result.n;
        attempt const a = some(fd, o);
        if (a == attempt::again) {
            o.result.n = before;
            return a;
        }
        auto const moved = o.result.n;
        o.result.n = before + moved;
        if (o.result.error)
            return attempt::done;
        advance(o, moved);
        if (total_of_call(o) == 0)
            return a; // done_less cannot be: everything has moved
        if (a == attempt::done_less)
            return attempt::paused;
    }
}

attempt connect(int fd, io_op& o) noexcept {
    constexpr unsigned in_progress = 1;
    if (!(o.result.flags & in_progress)) {
        ssize_t const r = restarted(
            [&] { return ::connect(fd, static_cast<sockaddr const*>(o.data), static_cast<socklen_t>(o.size)); });
        if (r == -EINPROGRESS || r == -EALREADY) {
            o.result.flags |= in_progress;
            return attempt::again;
        }
        if (r < 0)
            return finish(o, static_cast<int>(-r), 0);
    } else {
        ssize_t const r = poll_one(fd, POLLOUT, 0);
        if (r == 0)
            return attempt::again;
        if (r < 0)
            return finish(o, static_cast<int>(-r), 0);
        int e = 0;
        socklen_t size = sizeof e;
        if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &size) != 0)
            e = errno;
        if (e)
            return finish(o, e, 0);
    }
    // A connect to a free port of the ephemeral range on this host can meet itself (simultaneous open with one end).
    sockaddr_storage a{}, b{};
    socklen_t as = sizeof a, bs = sizeof b;
    auto const family = static_cast<sockaddr const*>(o.data)->sa_family;
    if (family == AF_INET || family == AF_INET6) {
        if (::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &as) == 0 &&
            ::getpeername(fd, reinterpret_cast<sockaddr*>(&b), &bs) == 0 && as == bs &&
            __builtin_memcmp(&a, &b, as) == 0) {
            int type = 0;
            socklen_t ts = sizeof type;
            if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &ts) == 0 && type == SOCK_STREAM)
                return finish(o, ECONNREFUSED, 0);
        }
    }
    return finish(o, 0, 0);
}

attempt accept(int fd, io_op& o) noexcept {
    // So many connections that are gone are passed over in a row; then the loop has its turn, and the program is told.
    constexpr int gone_most = 64;
    for (int gone = 0;; ++gone) {
        socklen_t size = static_cast<socklen_t>(o.size);
        ssize_t const r = restarted([&] {
            return ::accept4(fd, static_cast<sockaddr*>(o.data), o.data ? &size : nullptr,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
        });
        if (r >= 0) {
            if (o.data)
                o.size = size;
            return finish(o, 0, static_cast<std::size_t>(r));
        }
        // The connection that was to be accepted is gone; the acceptor is well (man 2 accept).
        if ((r == -ECONNABORTED || r == -EPROTO) && o.message_flags == 0 && gone != gone_most)
            continue;
        if (r == -EAGAIN)
            return attempt::again;
        return finish(o, static_cast<int>(-r), 0);
    }
}

} // namespace

attempt receive_lent(int fd, io_op& o) noexcept {
    auto* const from = static_cast<lender*>(o.data);
    void* const into = from->lend();
    if (!into)
        return finish(o, ENOMEM, 0);
    o.data = into;
    auto const a = o.medium <= medium::unix_stream ? receive_one(fd, o) : receive(fd, o);
    o.data = from;
    if (a == attempt::again)
        from->take_back();
    return a;
}

attempt once_in_general(int fd, io_op& o) noexcept {
    switch (o.kind) {
    case kind::receive: return o.stream ? receive(fd, o) : receive_datagram(fd, o);
    case kind::receive_from: return receive_datagram(fd, o);
    case kind::receive_lent: return receive_lent(fd, o);
    case kind::send: return o.stream ? send_some(fd, o) : send_datagram(fd, o);
    case kind::send_to: return send_datagram(fd, o);
    case kind::receive_all: return until_done(fd, o, [](int at, io_op& part) noexcept { return receive(at, part); });
    case kind::send_all: return until_done(fd, o, send_some);
    case kind::accept: return accept(fd, o);
    case kind::connect: return connect(fd, o);
    case kind::wait_read:
    case kind::wait_write:
    case kind::wait_error: break;
    }
    ssize_t const r = poll_one(fd, poll_events(o.kind), 0);
    if (r == 0)
        return attempt::again;
    return finish(o, r < 0 ? static_cast<int>(-r) : 0, 0);
}

bool sleep_until(std::int64_t until_ns, std::int64_t (*now_ns)() noexcept) noexcept {
    if (until_ns <= 0)
        return true;
    timespec const t{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
    int e = EINTR;
    while (e == EINTR)
        e = ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
    if (e == 0)
        return true;
    for (auto left = until_ns - now_ns(); left > 0; left = until_ns - now_ns())
        if (poll_one(-1, 0, whole_ms(left)) < 0)
            return false;
    return true;
}

bool may_stall(io_op const& o) noexcept {
    if (o.kind != kind::send_to)
        return false;
    auto const& named = static_cast<datagram_op const&>(o);
    sa_family_t family = AF_UNSPEC;
    if (named.address_size >= sizeof family)
        __builtin_memcpy(&family, named.address, sizeof family);
    return family == AF_UNIX;
}

bool poll_misled(int fd, io_op& o) noexcept {
    if (may_stall(o)) {
        poll_one(-1, 0, 1); // nothing to wait for but time
        return false;
    }
    // Datagram sockets that are shut down are readable for ever, and a call that may not wait finds nothing for ever.
    // One that may wait would return 0 bytes.
    bool const receives = o.kind == kind::receive || o.kind == kind::receive_from;
    if (!receives || o.stream || poll_one(fd, POLLRDHUP, 0) <= 0)
        return false;
    if (o.kind == kind::receive_from)
        static_cast<datagram_op&>(o).address_size = 0;
    finish(o, 0, 0);
    return true;
}

attempt receive_rest(int fd, io_op& o, ssize_t n) noexcept {
    if (n < 0)
        n = errno == EINTR ? recv(fd, o.data, o.size, o.message_flags) : -errno;
    if (n > 0) {
        o.result.n = static_cast<std::size_t>(n);
        return o.result.n < o.size ? attempt::done_less : attempt::done;
    }
    if (n == -EAGAIN)
        return attempt::again;
    o.result.error = n == 0 ? -static_cast<int>(error::eof) : static_cast<int>(-n);
    return attempt::done;
}

attempt send_rest(int fd, io_op& o, ssize_t n) noexcept {
    if (n < 0)
        n = errno == EINTR ? send(fd, o.data, o.size, o.message_flags) : -errno;
    if (n >= 0) {
        auto const moved = static_cast<std::size_t>(n);
        o.result.n += moved;
        if (moved == o.size)
            return attempt::done;
        if (o.kind == kind::send)
            return attempt::done_less;
        o.data = static_cast<std::byte*>(o.data) + moved;
        o.size -= moved;
        return attempt::again;
    }
    if (n == -EAGAIN)
        return attempt::again;
    o.result.error = static_cast<int>(-n);
    return attempt::done;
}

} // namespace fairlead::io::posix
