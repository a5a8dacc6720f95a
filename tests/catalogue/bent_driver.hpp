// A driver in front of the kernel's own. It does things that a test cannot ask of a kernel. Clocks jump, the process
// was stopped for a while, and waiting is interrupted.
#pragma once

#include <fairlead/io/driver.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace fairlead::test {

/// The things that the test bends; outlives the driver.
struct bend {
    std::atomic<std::int64_t> ahead_ns{0};    ///< of the steady clock; handlers of several threads may move it
    bool stands = false;                      ///< the kernel's clock counts for nothing: time is what the test adds
    std::int64_t wall_ahead_ns = 0;           ///< of the wall clock
    std::uint64_t polls = 0;                  ///< looks at the kernel
    std::uint64_t waits = 0;                  ///< those that were allowed to wait
    std::function<bool(std::int64_t)> poll{}; ///< instead of a look with this limit; true: it has been taken care of
    std::function<void()> look_at_clock{};    ///< before the time is told
    std::function<void()> wake{};             ///< before the kernel is woken
    std::function<void()> end{};              ///< the driver goes
};

/// As the kernel's, but for poll() and wake().
class bent_reactor final : public io::reactor {
public:
    bent_reactor(bend& b, io::reactor& kernel) : bend_(b), kernel_(kernel) {}

    void attach(loop& l) noexcept override { kernel_.attach(l); }
    io::reactor_counters counters() const noexcept override { return kernel_.counters(); }
    void submit(io::io_op& o) noexcept override { kernel_.submit(o); }
    bool ready(io::handle h, io::kind k, std::size_t size) noexcept override { return kernel_.ready(h, k, size); }
    bool try_now(io::io_op& o) noexcept override { return kernel_.try_now(o); }
    bool cancel(io::io_op& o) noexcept override { return kernel_.cancel(o); }
    bool cancel(io::handle h, void* ticket) noexcept override { return kernel_.cancel(h, ticket); }
    void cancel_marked() noexcept override { kernel_.cancel_marked(); }
    std::size_t cancel_all(io::handle h) noexcept override { return kernel_.cancel_all(h); }
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
        kernel_.poll(until_ns);
    }
    std::size_t pending() const noexcept override { return kernel_.pending(); }
    void take_pending(op_queue& into) noexcept override { kernel_.take_pending(into); }
    void wake() noexcept override {
        if (bend_.wake)
            bend_.wake();
        kernel_.wake();
    }

private:
    bend& bend_;
    io::reactor& kernel_;
};

/// As the kernel, but for its clocks. It has no signals.
class bent_host final : public io::host {
public:
    bent_host(bend& b, io::host& kernel) : bend_(b), kernel_(kernel) {}

    void attach(loop& l) noexcept override { kernel_.attach(l); }
    void take_pending(op_queue& into) noexcept override { kernel_.take_pending(into); }
    std::int64_t now_ns() noexcept override {
        if (bend_.look_at_clock)
            bend_.look_at_clock();
        return (bend_.stands ? began_ns_ : kernel_.now_ns()) + bend_.ahead_ns;
    }
    std::int64_t wall_ns() noexcept override { return kernel_.wall_ns() + bend_.wall_ahead_ns; }
    bool sleep_until(std::int64_t until_ns) noexcept override { return kernel_.sleep_until(until_ns - bend_.ahead_ns); }
    void resolve(io::resolve_op& o) noexcept override { kernel_.resolve(o); }
    void cancel_resolve(io::resolve_op& o) noexcept override { kernel_.cancel_resolve(o); }
    void resolve_blocking(io::resolve_op& o) noexcept override { kernel_.resolve_blocking(o); }

private:
    bend& bend_;
    io::host& kernel_;
    std::int64_t const began_ns_ = kernel_.now_ns();
};

/// The parts of a bent backend. The base of the driver, so that it is there before it.
struct bent_parts {
    bend& bent;
    fairlead::impl::base::owned<io::driver> kernel = io::make_driver();
    bent_reactor reactor{bent, kernel->reactor()};
    bent_host host{bent, kernel->host()};

    explicit bent_parts(bend& b) : bent(b) {}
};

class bent_driver final : bent_parts, public io::driver {
public:
    explicit bent_driver(bend& b)
        : bent_parts(b),
          driver(bent_parts::reactor, kernel->descriptors(), bent_parts::host) {}
    ~bent_driver() override {
        if (bent.end)
            bent.end();
    }
};

} // namespace fairlead::test
