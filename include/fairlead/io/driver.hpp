// The only door to the world: sockets, clock, name look-up. Nothing above calls the system.
//
// A backend has three parts, and callers use the one that they need. The reactor carries out operations. The
// descriptors have the synchronous doors. The host has clocks, names and signals. All may be one object.
#pragma once

#include <fairlead/base/owned.hpp>
#include <fairlead/exec/execution_context.hpp>
#include <fairlead/io/descriptors.hpp>
#include <fairlead/io/host.hpp>
#include <fairlead/io/reactor.hpp>

namespace fairlead::io {

/// A backend of one loop: the kernel has one (epoll), each simulated host another.
class driver {
public:
    driver(driver const&) = delete;
    driver& operator=(driver const&) = delete;
    virtual ~driver() = default;

    io::reactor& reactor() const noexcept { return *reactor_; }
    io::descriptors& descriptors() const noexcept { return *descriptors_; }
    io::host& host() const noexcept { return *host_; }

protected:
    /// The parts live as long as the driver. It may be one of them, or take them from another backend.
    driver(io::reactor& r, io::descriptors& d, io::host& h) noexcept : reactor_(&r), descriptors_(&d), host_(&h) {}

private:
    io::reactor* reactor_;
    io::descriptors* descriptors_;
    io::host* host_;
};

/// The driver of this computer: epoll.
FAIRLEAD_EXPORT fairlead::impl::base::owned<driver>
make_driver(fairlead::impl::exec::context_memory_ref const& memory = {});
/// The driver of a loop whose context has gone: it has no descriptors, and nothing that is started comes to an end.
fairlead::impl::base::owned<driver> make_retired_driver(fairlead::impl::exec::context_memory_ref const& memory);

} // namespace fairlead::io
