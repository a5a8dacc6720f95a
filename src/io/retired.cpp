#include <fairlead/exec/loop.hpp>
#include <fairlead/io/driver.hpp>
#include <io/signals.hpp>

#include <cerrno>
#include <chrono>

namespace fairlead::io {
namespace {

constexpr outcome closed{EBADF, 0};

class retired_driver final : public reactor,
                             public descriptors,
                             public host,
                             public driver,
                             public fairlead::impl::exec::in_context_memory {
public:
    retired_driver() noexcept : driver(*this, *this, *this) {}

    void attach(loop& l) noexcept override { loop_ = &l; }

    void submit(io_op& o) noexcept override {
        o.result = {EBADF, 0, 0};
        loop_->push(o); // For nobody: it is abandoned with the loop.
    }
    bool ready(handle, kind, std::size_t) noexcept override { return false; }
    bool try_now(io_op&) noexcept override { return false; }
    bool cancel(io_op&) noexcept override { return false; }
    bool cancel(handle, void*) noexcept override { return false; }
    void cancel_marked() noexcept override {}
    std::size_t cancel_all(handle) noexcept override { return 0; }
    void poll(std::int64_t) noexcept override {}
    std::size_t pending() const noexcept override { return 0; }
    void take_pending(op_queue&) noexcept override {}

    void wake() noexcept override {}
    std::int64_t now_ns() noexcept override {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
    std::int64_t wall_ns() noexcept override {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    }

    void resolve(resolve_op& o) noexcept override {
        resolve_blocking(o);
        loop_->push(o);
    }
    void cancel_resolve(resolve_op&) noexcept override {}
    void resolve_blocking(resolve_op& o) noexcept override { o.result = {EBADF, 0, 0}; }

    // A set that outlives its context keeps nothing of the process's.
    outcome open_signals(signal_source*& source) noexcept override {
        source = nullptr;
        return closed;
    }
    outcome add_signal(signal_source&, int, int) noexcept override { return closed; }
    void wait_signal(signal_source&, signal_op& o) noexcept override {
        o.result = {EBADF, 0, 0};
        loop_->push(o);
    }

    outcome open(int, int, int, handle&) noexcept override { return closed; }
    outcome pair(int, int, int, handle&, handle&) noexcept override { return closed; }
    outcome adopt(int, handle&) noexcept override { return closed; }
    outcome release(handle) noexcept override { return closed; }
    outcome close(handle) noexcept override { return {}; } // Closed it is.
    outcome bind(handle, void const*, std::size_t) noexcept override { return closed; }
    outcome listen(handle, int) noexcept override { return closed; }
    outcome shutdown(handle, int) noexcept override { return closed; }
    outcome set_option(handle, int, int, void const*, std::size_t) noexcept override { return closed; }
    outcome get_option(handle, int, int, void*, std::size_t) noexcept override { return closed; }
    outcome address(handle, name_of, void*, std::size_t) noexcept override { return closed; }
    outcome available(handle) noexcept override { return closed; }
    int native(handle) noexcept override { return -1; }
    void perform(io_op& o, bool) noexcept override { o.result = {EBADF, 0, 0}; }
    bool sleep_until(std::int64_t) noexcept override { return false; }

private:
    loop* loop_ = nullptr;
};

} // namespace

fairlead::impl::base::owned<driver> make_retired_driver(fairlead::impl::exec::context_memory_ref const& memory) {
    return fairlead::impl::base::owned<driver>(new (memory) retired_driver);
}

} // namespace fairlead::io
