// The synchronous doors of this computer: one system call each.
#pragma once

#include <fairlead/io/descriptors.hpp>

#include <io/descriptor_table.hpp>
#include <io/native_modes.hpp>

namespace fairlead::io {

/// The reactor of these descriptors, as their doors see it.
class watcher {
public:
    watcher(watcher const&) = delete;
    watcher& operator=(watcher const&) = delete;
    /// Returns an errno value; EPERM: the system does not watch such a thing, which never waits.
    virtual int watch(descriptor& d, bool for_space) noexcept = 0;
    /// Its pending ops complete with operation_aborted, and no event is about it any more. Returns the descriptor,
    /// which is nobody's now. Owner.
    virtual int forget(descriptor& d) noexcept = 0;

protected:
    watcher() noexcept = default;
    ~watcher() = default;
};

class kernel_descriptors final : public descriptors {
public:
    kernel_descriptors(descriptor_table& t, native_modes& m, watcher& w) noexcept : table_(t), modes_(m), watcher_(w) {}

    outcome open(int family, int type, int protocol, handle& h) noexcept override;
    outcome pair(int family, int type, int protocol, handle& a, handle& b) noexcept override;
    outcome pipe(handle& reads, handle& writes) noexcept override;
    outcome adopt(int fd, handle& h) noexcept override;
    outcome release(handle h) noexcept override;
    void discard(int fd) noexcept override;
    outcome close(handle h) noexcept override;

    outcome bind(handle h, void const* address, std::size_t size) noexcept override;
    outcome listen(handle h, int backlog) noexcept override;
    outcome shutdown(handle h, int how) noexcept override;
    outcome set_option(handle h, int level, int name, void const* data, std::size_t size) noexcept override;
    outcome get_option(handle h, int level, int name, void* data, std::size_t size) noexcept override;
    outcome address(handle h, name_of which, void* data, std::size_t capacity) noexcept override;
    outcome available(handle h) noexcept override;
    outcome control(handle h, unsigned long command, void* data) noexcept override;

    int native(handle h) noexcept override;
    outcome native_blocking(handle h, bool blocking) noexcept override;
    bool is_native_blocking(handle h) noexcept override;
    void perform(io_op& o, bool may_wait) noexcept override;

private:
    template <class F> outcome on(handle h, F call) noexcept;

    descriptor_table& table_;
    native_modes& modes_;
    watcher& watcher_;
};

} // namespace fairlead::io
