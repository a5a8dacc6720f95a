#include <io/posix.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace fairlead::io::posix {
namespace {

constexpr int eof_value = -static_cast<int>(error::eof);

/// Bytes that one call can move. No slice is empty: 0 means that nothing is left.
std::size_t total_of(io_op const& o) noexcept {
    if (!o.slices)
        return o.size;
    std::size_t total = 0;
    auto const* s = static_cast<slice const*>(o.data);
    for (std::size_t i = 0; i != o.size && i != slices_most; ++i)
        total += s[i].size;
    return total;
}

attempt finish(io_op& o, int error, std::size_t n) noexcept {
    o.result.error = error;
    o.result.n = n;
    return attempt::done;
}

/// Drops the first n bytes of what an …_all op still has to move.
void advance(io_op& o, std::size_t n) noexcept {
    if (!o.slices) {
        o.data = static_cast<std::byte*>(o.data) + n;
        o.size -= n;
        return;
    }
    auto* s = static_cast<slice*>(o.data);
    while (o.size && n >= s->size) {
        n -= s->size;
        ++s;
        --o.size;
    }
    if (n) {
        s->base = static_cast<std::byte*>(s->base) + n;
        s->size -= n;
    }
    o.data = s;
}

attempt receive(int fd, io_op& o) noexcept {
    auto const wanted = total_of(o);
    if (wanted == 0 && o.stream)
        return finish(o, 0, 0);
    ssize_t const n = o.slices ? recv(fd, static_cast<slice*>(o.data), o.size, o.message_flags)
                               : recv(fd, o.data, o.size, o.message_flags);
    if (n > 0) [[likely]] {
        finish(o, 0, static_cast<std::size_t>(n));
        return static_cast<std::size_t>(n) < wanted ? attempt::done_less : attempt::done;
    }
    if (n == 0)
        return finish(o, o.stream ? eof_value : 0, 0);
    if (n == -EAGAIN)
        return attempt::again;
    return finish(o, static_cast<int>(-n), 0);
}

attempt send_some(int fd, io_op& o) noexcept {
    auto const wanted = total_of(o);
    if (wanted == 0 && o.stream)
        return finish(o, 0, 0);
    ssize_t const n = o.slices ? send(fd, static_cast<slice*>(o.data), o.size, o.message_flags)
                               : send(fd, o.data, o.size, o.message_flags);
    if (n >= 0) [[likely]] {
        finish(o, 0, static_cast<std::size_t>(n));
        return static_cast<std::size_t>(n) < wanted ? attempt::done_less : attempt::done;
    }
    if (n == -EAGAIN)
        return attempt::again;
    return finish(o, static_cast<int>(-n), 0);
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
        if (total_of(o) == 0)
            return a; // done_less cannot be: everything has moved
        if (a == attempt::done_less)
            return attempt::again;
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
        if (poll_one(fd, POLLOUT, 0) == 0)
            return attempt::again;
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
    for (;;) {
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
        if ((r == -ECONNABORTED || r == -EPROTO) && o.message_flags == 0)
            continue;
        if (r == -EAGAIN)
            return attempt::again;
        return finish(o, static_cast<int>(-r), 0);
    }
}

} // namespace

attempt once_in_general(int fd, io_op& o) noexcept {
    switch (o.kind) {
    case kind::receive: return receive(fd, o);
    case kind::send: return send_some(fd, o);
    case kind::receive_all: return until_done(fd, o, receive);
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

} // namespace fairlead::io::posix
