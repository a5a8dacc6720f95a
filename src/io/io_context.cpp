#include <fairlead/io/io_context.hpp>

#include <io/timer_heap.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace fairlead {

// One turn, numbered as in ARCHITECTURE.md:
//   1 run a bounded batch of the queue   2 take what other threads posted   3 expire timers
//   4 submit what the driver holds back  5 wait, or only look               6 harvest into the queue
// Handlers run in step 1 and nowhere else.

struct io_context::timers {
    io::timer_heap heap;
};

/// The calling thread inside run().
class io_context::ownership {
public:
    explicit ownership(io_context& c) : context_(c), nested_(c.mine()) {
        if (!nested_) {
            while (c.try_own() != nullptr) {
                // Either a thread is inside run(), or one has taken the idle context for the moment of a post.
                if (c.running_.load(std::memory_order_acquire))
                    detail::throw_error(error::no_permission,
                                        "io_context::run: another thread is inside run() of this context");
            }
            c.running_.store(true, std::memory_order_release);
        }
        uncounted_ = std::exchange(c.uncounted_, 0);
        outer_ = detail::this_thread.current;
        depth_ = detail::this_thread.depth;
        detail::this_thread.current = &c;
        detail::this_thread.depth = 0;
    }
    ownership(ownership const&) = delete;
    ownership& operator=(ownership const&) = delete;
    ~ownership() {
        detail::this_thread.current = outer_;
        detail::this_thread.depth = depth_;
        context_.uncounted_ = uncounted_;
        if (!nested_) {
            context_.running_.store(false, std::memory_order_release);
            context_.disown();
        }
    }

    bool nested() const noexcept { return nested_; }

private:
    io_context& context_;
    bool nested_;
    std::size_t uncounted_;
    loop* outer_;
    unsigned depth_;
};

io_context::io_context() : io_context(io::make_driver()) {}
io_context::io_context(int) : io_context(io::make_driver()) {}
io_context::io_context(std::unique_ptr<io::driver> d)
    : loop(static_cast<execution_context&>(*this)),
      driver_(std::move(d)),
      timers_(std::make_unique<timers>()) {
    driver_->attach(*this);
}
io_context::~io_context() { shut_down(); }

void io_context::shut_down() noexcept {
    ownership const own(*this);
    stopped_.store(true, std::memory_order_relaxed);
    // What is given up may start something new, or close sockets whose ops then are to be given up too.
    do {
        driver_->take_pending(local_);
        while (!timers_->heap.empty()) {
            auto& o = timers_->heap.pop();
            op_queue::unlink(o);
            local_.push_back(o);
        }
    } while (abandon_queued());
}

std::int64_t io_context::clock_ns() noexcept { return driver_->now_ns(); }
void io_context::wake() noexcept { driver_->wake(); }

steady_clock::time_point io_context::now() noexcept {
    return steady_clock::time_point(
        std::chrono::duration_cast<steady_clock::duration>(std::chrono::nanoseconds(driver_->now_ns())));
}

steady_clock::time_point steady_clock::now() noexcept {
    if (loop* l = detail::this_thread.current)
        return io_context::of(*l).now();
    return std::chrono::steady_clock::now();
}

steady_clock::time_point io_context::deadline_after(std::chrono::nanoseconds d) {
    auto const at = now();
    if (d > std::chrono::nanoseconds::zero() && at > steady_clock::time_point::max() - d)
        return steady_clock::time_point::max();
    return at + d;
}

bool io_context::has_work() noexcept {
    return !local_.empty() || !inbox_empty() || driver_->pending() != 0 || !timers_->heap.empty() || has_outside_work();
}

void io_context::expire_timers(std::int64_t now) noexcept {
    auto& heap = timers_->heap;
    while (!heap.empty() && heap.first_deadline() <= now) {
        auto& o = heap.pop();
        op_queue::unlink(o);
        o.result.error = 0;
        local_.push_back(o);
    }
}

std::size_t io_context::run_until_ns(std::size_t most, std::int64_t until_ns) {
    if (stopped())
        return 0;
    ownership const own(*this);
    auto& heap = timers_->heap;
    std::size_t total = 0;
    for (;;) {
        // 1
        ++counters_.turns;
        if (!local_.empty()) {
            driver_->arrange(local_);
            total += run_batch(most - total);
            total -= std::exchange(uncounted_, 0);
        }
        if (stopped_.load(std::memory_order_acquire) || total == most)
            break;
        // 2
        take_inbox();
        if (!local_.empty()) {
            // Busy: the world is looked at by time, not after each batch.
            auto const now = driver_->now_ns();
            if (++batches_since_poll_ < fairness::batches_per_poll && now < next_poll_ns_)
                continue;
            batches_since_poll_ = 0;
            next_poll_ns_ = now + fairness::slice_ns;
            expire_timers(now);
            ++counters_.polls;
            driver_->poll(0);
            continue;
        }
        // 3
        std::int64_t now = 0;
        if (!heap.empty() || until_ns > 0) {
            now = driver_->now_ns();
            expire_timers(now);
            if (!local_.empty())
                continue;
        }
        if (!has_work()) {
            // The handler that calls us from inside run() is work of the outer one.
            if (!own.nested())
                stopped_.store(true, std::memory_order_release);
            break;
        }
        // 5 and 6
        batches_since_poll_ = 0;
        ++counters_.polls;
        if (until_ns == 0 || (until_ns > 0 && now >= until_ns)) {
            driver_->poll(0);
            take_inbox();
            if (local_.empty())
                break;
            continue;
        }
        std::int64_t wait_until = until_ns;
        if (!heap.empty() && (wait_until < 0 || heap.first_deadline() < wait_until))
            wait_until = heap.first_deadline();
        detail::recycler_flush();
        if (!fall_asleep())
            continue;
        ++counters_.sleeps;
        driver_->poll(wait_until);
        awake();
    }
    counters_.items += total;
    return total;
}

std::size_t io_context::run() { return run_until_ns(std::numeric_limits<std::size_t>::max(), -1); }
std::size_t io_context::run_one() { return run_until_ns(1, -1); }
std::size_t io_context::poll() { return run_until_ns(std::numeric_limits<std::size_t>::max(), 0); }
std::size_t io_context::poll_one() { return run_until_ns(1, 0); }

std::size_t io_context::run_until(steady_clock::time_point t) {
    return run_until_ns(std::numeric_limits<std::size_t>::max(),
                        std::max<std::int64_t>(t.time_since_epoch().count(), 1));
}
std::size_t io_context::run_one_until(steady_clock::time_point t) {
    return run_until_ns(1, std::max<std::int64_t>(t.time_since_epoch().count(), 1));
}

void io_context::stop() {
    stopped_.store(true, std::memory_order_release);
    if (!mine())
        wake();
}
void io_context::restart() { stopped_.store(false, std::memory_order_release); }

loop_counters io_context::counters() const noexcept {
    auto c = counters_;
    c.verifications = driver_->verifications();
    c.system_calls = driver_->system_calls();
    return c;
}

namespace {

// An op that another thread hands in travels through the inbox as a runnable op; what it is to do when it is done waits
// in the result until the owner has taken it in.
void carry(op& o, op::run_function thunk) noexcept {
    o.result.n = reinterpret_cast<std::size_t>(o.run);
    o.run = thunk;
}
void unpack(op& o) noexcept {
    o.run = reinterpret_cast<op::run_function>(o.result.n);
    o.result = {};
}

} // namespace

template <class Op, void (io_context::*Start)(Op&) noexcept> void io_context::hand_in(Op& o) noexcept {
    // Nobody runs the context: act at once, unless something handed in before still waits.
    if (take_while_idle()) {
        bool const first = handed_in_.load(std::memory_order_relaxed) == 0;
        if (first)
            (this->*Start)(o);
        disown();
        if (first)
            return;
    }
    handed_in_.fetch_add(1, std::memory_order_relaxed);
    carry(o, [](op* base, op_mode mode) {
        auto& self = static_cast<Op&>(*base);
        unpack(self);
        if (mode == op_mode::abandon) {
            abandon(self);
            return;
        }
        auto& context = of(*detail::this_thread.current);
        context.handed_in_.fetch_sub(1, std::memory_order_relaxed);
        ++context.uncounted_;
        (context.*Start)(self);
    });
    post(o);
}

void io_context::submit_here(io::io_op& o) noexcept { driver_->submit(o); }
void io_context::submit_from_outside(io::io_op& o) noexcept { hand_in<io::io_op, &io_context::submit_here>(o); }

void io_context::arm_here(io::timer_op& o) noexcept {
    if (timers_->heap.insert(o)) {
        o.waits->push_back(o);
    } else {
        o.result.error = ENOMEM;
        local_.push_back(o);
    }
}

void io_context::arm(io::timer_op& o) noexcept {
    o.heap_index = io::timer_op::not_armed;
    if (mine()) [[likely]]
        arm_here(o);
    else
        hand_in<io::timer_op, &io_context::arm_here>(o);
}

void io_context::cancel(io::timer_op& o) noexcept {
    timers_->heap.erase(o);
    op_queue::unlink(o);
    o.result.error = ECANCELED;
    local_.push_back(o);
}

std::size_t io_context::cancel(io::handle h) noexcept {
    std::size_t n = 1;
    on_owner([this, h, &n](bool here) {
        auto const cancelled = driver_->cancel_all(h);
        if (here)
            n = cancelled;
    });
    return n;
}

template <class Door> io::outcome io_context::through(Door door) noexcept {
    // Another thread may be inside run(): an idle object can be closed all the same; one with pending ops is then used
    // by two threads at a time, which is a bug of the program.
    bool const taken = !mine() && take_while_idle();
    auto const r = door();
    if (taken)
        disown();
    return r;
}
io::outcome io_context::close(io::handle h) noexcept {
    return through([&]() noexcept { return driver_->close(h); });
}
io::outcome io_context::release(io::handle h) noexcept {
    return through([&]() noexcept { return driver_->release(h); });
}

} // namespace fairlead
