// The synchronous doors to descriptors: what returns its result, and needs no op but for perform().
//
// The thread that uses a descriptor may call them. close() and release() are for the owner of the loop.
#pragma once

#include <fairlead/io/io_op.hpp>

#include <cstdint>

namespace fairlead::io {

/// Which end's address is asked for.
enum class name_of : std::uint8_t { local, peer };

/// The table of a backend's descriptors.
class descriptors {
public:
    descriptors(descriptors const&) = delete;
    descriptors& operator=(descriptors const&) = delete;
    virtual ~descriptors() = default;

    virtual outcome open(int family, int type, int protocol, handle& h) noexcept = 0;
    virtual outcome pair(int family, int type, int protocol, handle& a, handle& b) noexcept = 0;
    /// Makes the two ends of a pipe.
    virtual outcome pipe(handle& /*reads*/, handle& /*writes*/) noexcept { return not_supported; }
    /// Not only sockets. A descriptor that never makes its reader wait (a regular file) is always ready.
    virtual outcome adopt(int fd, handle& h) noexcept = 0;
    /// Value: the descriptor, no longer ours. Otherwise as close().
    virtual outcome release(handle h) noexcept = 0;
    /// Closes a descriptor that was released and that nobody could adopt.
    virtual void discard(int /*fd*/) noexcept {}
    /// The handle is invalid when it returns. Pending ops complete with operation_aborted, as those that are cancelled:
    /// perhaps late. The system may have the descriptor until then.
    virtual outcome close(handle h) noexcept = 0;

    virtual outcome bind(handle h, void const* address, std::size_t size) noexcept = 0;
    virtual outcome listen(handle h, int backlog) noexcept = 0;
    virtual outcome shutdown(handle h, int how) noexcept = 0;
    virtual outcome set_option(handle h, int level, int name, void const* data, std::size_t size) noexcept = 0;
    virtual outcome get_option(handle h, int level, int name, void* data, std::size_t size) noexcept = 0;
    virtual outcome address(handle h, name_of which, void* data, std::size_t capacity) noexcept = 0;
    virtual outcome available(handle h) noexcept = 0;
    /// ioctl
    virtual outcome control(handle, unsigned long /*command*/, void* /*data*/) noexcept { return not_supported; }

    /// The descriptor, -1 where there is none. Calls of others on it wait, unless that has been turned off.
    virtual int native(handle h) noexcept = 0;
    /// For calls of others on the descriptor. Ours never wait; an asynchronous one, other than a wait for readiness,
    /// turns this off.
    virtual outcome native_blocking(handle, bool /*on*/) noexcept { return not_supported; }
    virtual bool is_native_blocking(handle) noexcept { return false; }

    /// Performs the op in the calling thread, waiting as long as it takes, or not at all; the result is in the op.
    virtual void perform(io_op& o, bool may_wait) noexcept = 0;

protected:
    descriptors() noexcept = default;
};

} // namespace fairlead::io
