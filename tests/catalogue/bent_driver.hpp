// A driver in front of the machine's own, for what one cannot ask a machine to do in a test: clocks that jump, a
// process that was stopped for a while, waiting that is interrupted.
#pragma once

#include <fairlead/io/driver.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace fairlead::test {

/// What the test bends; outlives the driver.
struct bend {
    std::atomic<std::int64_t> ahead_ns{0};    ///< of the steady clock; handlers of several threads may move it
    bool stands = false;                      ///< the machine's clock counts for nothing: time is what the test adds
    std::int64_t wall_ahead_ns = 0;           ///< of the wall clock
    std::uint64_t polls = 0;                  ///< looks at the machine
    std::uint64_t waits = 0;                  ///< those that were allowed to wait
    std::function<bool(std::int64_t)> poll{}; ///< instead of a look with this limit; true: it has been taken care of
    std::function<void()> wake{};             ///< before the machine is woken
    std::function<void()> end{};              ///< the driver goes
};

class bent_driver final : public io::driver {
public:
    explicit bent_driver(bend& b) : bend_(b), machine_(io::make_driver()) {}
    ~bent_driver() override {
        if (bend_.end)
            bend_.end();
    }

    void attach(loop& l) noexcept override { machine_->attach(l); }
    char const* name() const noexcept override { return "bent"; }
    std::uint64_t verifications() const noexcept override { return machine_->verifications(); }
    std::uint64_t system_calls() const noexcept override { return machine_->system_calls(); }

    void submit(io::io_op& o) noexcept override { machine_->submit(o); }
    bool ready(io::handle h, io::kind k, std::size_t size) noexcept override { return machine_->ready(h, k, size); }
    bool try_now(io::io_op& o) noexcept override { return machine_->try_now(o); }
    bool cancel(io::io_op& o) noexcept override { return machine_->cancel(o); }
    bool cancel(io::handle h, void* ticket) noexcept override { return machine_->cancel(h, ticket); }
    std::size_t cancel_all(io::handle h) noexcept override { return machine_->cancel_all(h); }
    void poll(std::int64_t until_ns) noexcept override {
        ++bend_.polls;
        bend_.waits += until_ns != 0;
        if (bend_.poll && bend_.poll(until_ns))
            return;
        if (until_ns > 0) {
            until_ns -= bend_.ahead_ns;
            if (until_ns <= 0)
                until_ns = 1; // long past, but no "only look"
        }
        machine_->poll(until_ns);
    }
    std::size_t pending() const noexcept override { return machine_->pending(); }
    void take_pending(op_queue& into) noexcept override { machine_->take_pending(into); }

    void wake() noexcept override {
        if (bend_.wake)
            bend_.wake();
        machine_->wake();
    }
    std::int64_t now_ns() noexcept override { return (bend_.stands ? began_ns_ : machine_->now_ns()) + bend_.ahead_ns; }
    std::int64_t wall_ns() noexcept override { return machine_->wall_ns() + bend_.wall_ahead_ns; }
    std::uint64_t entropy() noexcept override { return machine_->entropy(); }

    void resolve(io::resolve_op& o) noexcept override { machine_->resolve(o); }
    void cancel_resolve(io::resolve_op& o) noexcept override { machine_->cancel_resolve(o); }
    void resolve_blocking(io::resolve_op& o) noexcept override { machine_->resolve_blocking(o); }

    io::outcome open(int family, int type, int protocol, io::handle& h) noexcept override {
        return machine_->open(family, type, protocol, h);
    }
    io::outcome pair(int family, int type, int protocol, io::handle& a, io::handle& b) noexcept override {
        return machine_->pair(family, type, protocol, a, b);
    }
    io::outcome adopt(int fd, io::handle& h) noexcept override { return machine_->adopt(fd, h); }
    io::outcome release(io::handle h) noexcept override { return machine_->release(h); }
    io::outcome close(io::handle h) noexcept override { return machine_->close(h); }
    io::outcome bind(io::handle h, void const* address, std::size_t size) noexcept override {
        return machine_->bind(h, address, size);
    }
    io::outcome listen(io::handle h, int backlog) noexcept override { return machine_->listen(h, backlog); }
    io::outcome shutdown(io::handle h, int how) noexcept override { return machine_->shutdown(h, how); }
    io::outcome set_option(io::handle h, int level, int option, void const* data, std::size_t size) noexcept override {
        return machine_->set_option(h, level, option, data, size);
    }
    io::outcome get_option(io::handle h, int level, int option, void* data, std::size_t size) noexcept override {
        return machine_->get_option(h, level, option, data, size);
    }
    io::outcome address(io::handle h, io::name_of which, void* data, std::size_t capacity) noexcept override {
        return machine_->address(h, which, data, capacity);
    }
    io::outcome available(io::handle h) noexcept override { return machine_->available(h); }
    int native(io::handle h) noexcept override { return machine_->native(h); }
    void perform(io::io_op& o, bool may_wait) noexcept override { machine_->perform(o, may_wait); }
    bool sleep_until(std::int64_t until_ns) noexcept override {
        return machine_->sleep_until(until_ns - bend_.ahead_ns);
    }

private:
    bend& bend_;
    fairlead::detail::owned<io::driver> machine_;
    std::int64_t const began_ns_ = machine_->now_ns();
};

} // namespace fairlead::test
