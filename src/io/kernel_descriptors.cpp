#include <io/kernel_descriptors.hpp>

#include <io/posix.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fairlead::io {
namespace {

outcome failed(int e) noexcept { return {e, 0}; }
outcome done(std::int64_t v = 0) noexcept { return {0, v}; }
outcome from(long r) noexcept { return r < 0 ? failed(errno) : done(r); }

nature nature_of_socket(int family, int type) noexcept {
    bool const stream = type == SOCK_STREAM;
    return {stream, stream && family == AF_UNIX ? medium::unix_stream : medium::socket};
}
/// Returns an errno value.
int look_at(int fd, int flags, nature& what) noexcept {
    struct stat s;
    if (::fstat(fd, &s) != 0)
        return errno;
    if (S_ISSOCK(s.st_mode)) {
        int type = 0, family = 0;
        socklen_t size = sizeof type;
        if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
            ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0)
            return errno;
        what = nature_of_socket(family, type);
    } else if (S_ISFIFO(s.st_mode) && !(flags & O_DIRECT)) { // With it, a read ends with each packet.
        what.medium = medium::pipe;
    }
    return 0;
}

} // namespace

template <class F> outcome kernel_descriptors::on(handle h, F call) noexcept {
    descriptor const* const d = table_.find(h);
    return d ? from(call(d->fd.load(std::memory_order_relaxed))) : failed(EBADF);
}

outcome kernel_descriptors::open(int family, int type, int protocol, handle& h) noexcept {
    int const fd = ::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    return fd < 0 ? failed(errno) : table_.keep(fd, nature_of_socket(family, type), h);
}
outcome kernel_descriptors::pair(int family, int type, int protocol, handle& a, handle& b) noexcept {
    int fds[2];
    if (::socketpair(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol, fds) != 0)
        return failed(errno);
    return table_.keep_both(fds, nature_of_socket(family, type), a, b);
}
outcome kernel_descriptors::pipe(handle& reads, handle& writes) noexcept {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
        return failed(errno);
    return table_.keep_both(fds, {true, medium::pipe}, reads, writes);
}
outcome kernel_descriptors::adopt(int fd, handle& h) noexcept {
    int const flags = ::fcntl(fd, F_GETFL);
    if (flags < 0)
        return failed(errno);
    if (!(flags & O_NONBLOCK) && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return failed(errno);
    nature what{true, medium::file};
    if (int const e = look_at(fd, flags, what))
        return failed(e);
    descriptor* const d = table_.add(fd, what);
    if (!d)
        return failed(ENOMEM);
    if (flags & O_NONBLOCK) // It stays as its owner had it.
        d->native.store(native_mode::non_blocking, std::memory_order_relaxed);
    if (what.medium > medium::unix_stream) {
        // Whether the system watches it at all shows only in trying.
        int const e = watcher_.watch(*d, false);
        if (e == EPERM) {
            d->never_waits();
        } else if (e) {
            watcher_.forget(*d);
            return failed(e);
        }
    }
    h = descriptor_table::handle_of(*d);
    return done();
}
outcome kernel_descriptors::release(handle h) noexcept {
    descriptor* const d = table_.find(h);
    return d ? done(watcher_.forget(*d)) : failed(EBADF);
}
void kernel_descriptors::discard(int fd) noexcept { ::close(fd); }
outcome kernel_descriptors::close(handle h) noexcept {
    descriptor* const d = table_.find(h);
    if (!d)
        return failed(EBADF);
    // EINTR: Linux has closed the descriptor all the same.
    if (::close(watcher_.forget(*d)) != 0 && errno != EINTR)
        return failed(errno);
    return done();
}

outcome kernel_descriptors::bind(handle h, void const* address, std::size_t size) noexcept {
    return on(h,
              [&](int fd) { return ::bind(fd, static_cast<sockaddr const*>(address), static_cast<socklen_t>(size)); });
}
outcome kernel_descriptors::listen(handle h, int backlog) noexcept {
    return on(h, [&](int fd) { return ::listen(fd, backlog); });
}
outcome kernel_descriptors::shutdown(handle h, int how) noexcept {
    return on(h, [&](int fd) { return ::shutdown(fd, how); });
}
outcome kernel_descriptors::set_option(handle h, int level, int name, void const* data, std::size_t size) noexcept {
    return on(h, [&](int fd) { return ::setsockopt(fd, level, name, data, static_cast<socklen_t>(size)); });
}
outcome kernel_descriptors::get_option(handle h, int level, int name, void* data, std::size_t size) noexcept {
    auto length = static_cast<socklen_t>(size);
    auto r = on(h, [&](int fd) { return ::getsockopt(fd, level, name, data, &length); });
    r.value = length;
    return r;
}
outcome kernel_descriptors::address(handle h, name_of which, void* data, std::size_t capacity) noexcept {
    auto length = static_cast<socklen_t>(capacity);
    auto* a = static_cast<sockaddr*>(data);
    auto r = on(h, [&](int fd) {
        return which == name_of::local ? ::getsockname(fd, a, &length) : ::getpeername(fd, a, &length);
    });
    r.value = length;
    return r;
}
outcome kernel_descriptors::available(handle h) noexcept {
    int n = 0;
    auto r = on(h, [&](int fd) { return ::ioctl(fd, FIONREAD, &n); });
    r.value = n;
    return r;
}
outcome kernel_descriptors::control(handle h, unsigned long command, void* data) noexcept {
    return on(h, [&](int fd) { return ::ioctl(fd, command, data); });
}

int kernel_descriptors::native(handle h) noexcept {
    descriptor* const d = table_.find(h);
    if (!d)
        return -1;
    modes_.show(*d);
    return d->fd.load(std::memory_order_relaxed);
}
outcome kernel_descriptors::native_blocking(handle h, bool blocking) noexcept {
    descriptor* const d = table_.find(h);
    return d ? modes_.set(*d, blocking) : failed(EBADF);
}
bool kernel_descriptors::is_native_blocking(handle h) noexcept {
    descriptor const* const d = table_.find(h);
    return d && d->native.load(std::memory_order_relaxed) != native_mode::non_blocking;
}

void kernel_descriptors::perform(io_op& o, bool may_wait) noexcept {
    descriptor* const d = table_.find(o.handle);
    if (!d) {
        o.result.error = EBADF;
        return;
    }
    o.stream = d->is_stream();
    o.medium = d->medium();
    int const fd = d->fd.load(std::memory_order_relaxed);
    for (bool first = true;; first = false) {
        if (!has_to_wait(posix::once(fd, o))) {
            if (o.kind == kind::accept && o.result.error == 0)
                table_.keep_accepted(o, *d);
            return;
        }
        if (!may_wait) {
            o.result.error = EAGAIN;
            return;
        }
        if (!first && posix::poll_misled(fd, o))
            return;
        ssize_t const r = posix::poll_one(fd, posix::poll_events(o.kind), -1);
        if (r < 0) {
            o.result.error = static_cast<int>(-r);
            return;
        }
    }
}

} // namespace fairlead::io
