// A driver for completions, as one for io_uring would be. It is bound to the thread inside run(). Nothing is ever
// ready: every op completes in a poll(), also one that is cancelled, or whose descriptor is closed. The kernel's
// driver performs a copy of each op.
#pragma once

#include <fairlead/exec/execution_context.hpp>
#include <fairlead/exec/loop.hpp>
#include <fairlead/io/driver.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::test {

/// The facts that a test wants to know; outlives the driver.
struct completion_log {
    std::atomic<std::thread::id> runner{};     ///< set by the test while this thread is inside run()
    std::atomic<unsigned> calls_of_others{0};  ///< meanwhile, to functions for the owner
    std::atomic<std::size_t> copies{0};        ///< that the kernel has
    std::atomic<std::uint64_t> late_aborts{0}; ///< ops that completed in a poll() after they had been aborted
};

class completion_reactor final : public io::reactor {
public:
    completion_reactor(completion_log& l, io::reactor& kernel) : log_(l), kernel_(kernel) { kernel_.attach(done_); }

    void attach(loop& l) noexcept override { loop_ = &l; }
    io::reactor_counters counters() const noexcept override { return kernel_.counters(); }
    io::outcome notify_fork(execution_context::fork_event e) noexcept override { return kernel_.notify_fork(e); }
    bool is_bound() const noexcept override { return true; }

    void submit(io::io_op& o) noexcept override {
        note_caller();
        ++pending_;
        copies_.push_back(std::make_unique<copy>(o, log_));
        kernel_.submit(*copies_.back());
    }
    bool ready(io::handle, io::kind, std::size_t) noexcept override { return false; }
    bool try_now(io::io_op&) noexcept override { return false; }
    bool cancel(io::io_op& o) noexcept override {
        note_caller();
        for (auto& each : copies_)
            if (each->original == &o) {
                kernel_.cancel(*each); // unless it is done, and waits to be told of
                return true;
            }
        return false;
    }
    bool cancel(io::handle h, void* ticket) noexcept override {
        note_caller();
        return kernel_.cancel(h, ticket);
    }
    void cancel_marked() noexcept override {
        note_caller();
        for (auto& each : copies_)
            if (impl::exec::is_marked_asked(*each->original))
                kernel_.cancel(*each);
    }
    std::size_t cancel_all(io::handle h) noexcept override {
        note_caller();
        return kernel_.cancel_all(h);
    }
    void poll(std::int64_t until_ns) noexcept override {
        note_caller();
        bool const has_late_ones = !done_.all().empty();
        kernel_.poll(has_late_ones ? 0 : until_ns);
        while (!done_.all().empty()) {
            auto& o = hand_back(*done_.all().pop_front());
            log_.late_aborts += o.result.error == ECANCELED;
            --pending_;
            loop_->push(o);
        }
    }
    std::size_t pending() const noexcept override { return pending_; }
    void take_pending(op_queue& into) noexcept override {
        note_caller();
        op_queue stopped;
        kernel_.take_pending(stopped);
        stopped.splice_back(done_.all());
        while (!stopped.empty())
            into.push_back(hand_back(*stopped.pop_front()));
        pending_ = 0;
    }
    void wake() noexcept override { kernel_.wake(); }

private:
    /// The kernel's.
    struct copy : io::datagram_op {
        io::io_op* original;
        completion_log& log;

        copy(io::io_op& o, completion_log& l) : original(&o), log(l) {
            handle = o.handle;
            kind = o.kind;
            data = o.data;
            size = o.size;
            message_flags = o.message_flags;
            slices = o.slices;
            run = nullptr;
            cancel = impl::exec::ticket_of(o).load(std::memory_order_relaxed);
            if (auto* const d = datagram())
                address = d->address, address_size = d->address_size;
            ++log.copies;
        }
        ~copy() { --log.copies; }
        io::datagram_op* datagram() const {
            bool const is_one = kind == io::kind::receive_from || kind == io::kind::send_to;
            return is_one ? static_cast<io::datagram_op*>(original) : nullptr;
        }
        io::io_op& hand_back() const {
            original->result = result;
            if (kind == io::kind::accept)
                original->size = size;
            if (auto* const d = datagram())
                d->address_size = address_size;
            return *original;
        }
    };
    /// The kernel's loop: a queue of what it has done.
    class done_queue final : public loop {
    public:
        done_queue() : loop(context_) {}
        op_queue& all() noexcept { return local_; }
        bool drive(impl::exec::blocking_wait const&, std::int64_t) override { return false; }

    private:
        std::int64_t clock_ns() noexcept override { return 0; }
        void wake() noexcept override {}
        inline static execution_context context_;
    };

    io::io_op& hand_back(op& o) noexcept {
        auto const found = std::find_if(copies_.begin(), copies_.end(), [&](auto const& c) { return c.get() == &o; });
        auto& original = (*found)->hand_back();
        copies_.erase(found);
        return original;
    }
    void note_caller() noexcept {
        auto const inside = log_.runner.load();
        if (inside != std::thread::id() && inside != std::this_thread::get_id())
            ++log_.calls_of_others;
    }

    completion_log& log_;
    io::reactor& kernel_;
    done_queue done_;
    std::vector<std::unique_ptr<copy>> copies_;
    loop* loop_ = nullptr;
    std::size_t pending_ = 0;
};

/// The base of the driver, so that the parts are there before it.
struct completion_parts {
    fairlead::impl::base::owned<io::driver> kernel = io::make_driver();
    completion_reactor reactor;

    explicit completion_parts(completion_log& l) : reactor(l, kernel->reactor()) {}
};

class completion_driver final : completion_parts, public io::driver {
public:
    explicit completion_driver(completion_log& l)
        : completion_parts(l),
          driver(completion_parts::reactor, kernel->descriptors(), kernel->host()) {}
};

} // namespace fairlead::test
