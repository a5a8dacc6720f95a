#include <fairlead/io/io_loop.hpp>

#include <fairlead/io/clock.hpp>

#include <io/timer_heap.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

namespace fairlead {

// One turn, numbered as in ARCHITECTURE.md:
//   1 run a bounded batch of the queue   2 take what other threads posted   3 expire timers
//   4 poll the driver: wait, or only look
// Handlers run in step 1 and nowhere else.

namespace {
// After which a thread that could not see whether others have left something for it looks again.
constexpr std::int64_t look_again_ns = 100'000;
// Of an idle thread whose loop others look after.
constexpr std::int64_t watch_ns = 1'000'000;
// Of an idle thread while others are at work, some microseconds apart, before it sleeps.
constexpr unsigned idle_looks = 16;
} // namespace

struct io_loop::timers : detail::in_context_memory {
    explicit timers(execution_context& context) noexcept : heap(context) {}
    io::timer_heap heap;
};

/// The calling thread inside run(): a frame on its stack, a member of those that share the loop, and mostly its owner.
/// Between construction and destruction the thread is inside one section, but for the handlers that it runs. Made after
/// enter() has returned true.
class io_loop::membership {
public:
    explicit membership(io_loop& l) noexcept
        : loop_(l),
          nested_(l.is_running_this()),
          frame_{&l, detail::this_thread.frames,
                 nested_ ? 1U : detail::this_thread.owning.sections.load(std::memory_order_relaxed),
                 detail::share(detail::this_thread.owning)},
          outer_(std::exchange(detail::this_thread.current, &l)),
          depth_(std::exchange(detail::this_thread.depth, 0U)),
          item_(detail::this_thread.item) {
        // The share behind the handler that calls us is to be run in here, or by the loop's owner.
        for (auto* f = nested_ ? frame_.outer : nullptr; f; f = f->outer)
            if (f->runs == &l && f->share.is_open())
                l.close_share(f->share);
        had_it_ = nested_ && l.mine(section_);
        detail::this_thread.frames = &frame_;
        if (!nested_ && !l.is_bound_)
            join();
        if (had_it_)
            l.ownership_.expect_revocation();
    }
    membership(membership const&) = delete;
    membership& operator=(membership const&) = delete;
    ~membership() {
        auto& thread = detail::this_thread;
        // The handler of the outer frame goes on as it was: with the loop only if it had it, and nobody else wants it.
        // Without, the outer frame finds out by itself that it was revoked.
        if (nested_) {
            bool const has_it = loop_.mine(section_);
            if (has_it && had_it_ && !loop_.ownership_.is_shared([] { return false; }))
                loop_.revoked_is_back();
            else if (has_it)
                loop_.disown();
        } else {
            loop_.ownership_.leave();
            loop_.disown();
            if (loop_.stopped())
                loop_.ownership_.wake_all();
        }
        thread.frames = frame_.outer;
        thread.current = outer_;
        thread.depth = depth_;
        thread.item = item_;
    }

    bool nested() const noexcept { return nested_; }
    /// The handler that calls run() is not to be waited for in there.
    unsigned revoked() const noexcept { return had_it_ ? 1 : 0; }
    bool owns() const noexcept { return loop_.mine(section_); }
    detail::inside_section only_section() const noexcept { return section_; }

    /// False: there is no reason to wait for the loop any more.
    bool take(std::int64_t until_ns) noexcept {
        auto& self = detail::this_thread.owning;
        while (!loop_.mine(section_) && !loop_.ownership_.try_take(self)) {
            if (loop_.stopped())
                return false;
            std::int64_t timeout = -1;
            if (until_ns >= 0) {
                timeout = std::max<std::int64_t>(until_ns - loop_.clock_ns(), 0);
                // An owner that sleeps has nothing to run.
                if (timeout == 0 && (until_ns != 0 || loop_.is_asleep()))
                    return false;
                if (timeout == 0)
                    timeout = 1'000'000;
            }
            if (loop_.ownership_.take_or_wait(self, timeout, loop_.is_asleep(), &nudge, &loop_))
                break;
        }
        return !loop_.stopped(); // If it is, the destructor gives back what was taken.
    }
    static void nudge(void* l) noexcept {
        auto& loop = *static_cast<io_loop*>(l);
        detail::rundown::guard const here(loop.rundown_); // The owner may be about to exchange its driver.
        loop.wake();
    }

private:
    /// The first thread goes on by itself while the second one waits for what sharing needs.
    void join() noexcept {
        if (loop_.ownership_.has_members())
            detail::shares::prepare();
        loop_.ownership_.join();
    }

    io_loop& loop_;
    bool nested_;
    detail::run_frame frame_;
    loop* outer_;
    unsigned depth_;
    detail::budget item_;
    bool had_it_;
    detail::section section_; // The last: everything else happens inside it.
};

io_loop* io_loop::make(execution_context& context, detail::owned<io::driver> d) {
    return new (detail::service_access::memory_of(context)) io_loop(context, std::move(d));
}
io_loop::io_loop(execution_context& context, detail::owned<io::driver> d)
    : loop(context),
      driver_(std::move(d)),
      reactor_(&driver_->reactor()),
      descriptors_(&driver_->descriptors()),
      host_(&driver_->host()),
      is_bound_(reactor_->is_bound()),
      waker_(reactor_),
      retired_(io::make_retired_driver(detail::service_access::memory_of(context))),
      timers_(new(detail::service_access::memory_of(context)) timers(context)) {
    attach(*driver_);
}
void io_loop::attach(io::driver& d) noexcept {
    d.reactor().attach(*this);
    d.host().attach(*this);
}
io_loop::~io_loop() { abandon_all(); }

/// Other threads may destroy what is given up. They close descriptors, as owners, and wake the loop, inside a guard.
/// Hence the owner exchanges the driver, and the old one goes when nobody is inside a guard any more.
void io_loop::retire() noexcept {
    rundown_.wait();
    abandon_all_and([this] {
        is_retired_.store(true, std::memory_order_relaxed);
        attach(*retired_);
        std::swap(driver_, retired_);
        reactor_ = &driver_->reactor();
        descriptors_ = &driver_->descriptors();
        host_ = &driver_->host();
        is_driver_shared_ = false;
        waker_.store(reactor_, std::memory_order_seq_cst);
    });
    rundown_.wait();
    retired_ = {}; // It closes what is still open.
}

void io_loop::abandon_all() noexcept {
    abandon_all_and([] {});
}

/// `last` is called by the owner, when there is nothing more to give up.
template <class Last> void io_loop::abandon_all_and(Last last) noexcept {
    bool const was_stopped = stopped_.exchange(false, std::memory_order_relaxed);
    while (!enter(-1, nullptr)) {
        // Stopped once more: who is inside has to leave first.
    }
    {
        membership member(*this);
        member.take(-1);
        // Ops that are given up may start something new, or close sockets whose ops then are to be given up too.
        do {
            reactor_->take_pending(local_);
            host_->take_pending(local_);
            while (!timers_->heap.empty()) {
                auto& t = timers_->heap.pop();
                if (t.is_limit)
                    continue; // Its op is given up as whatever it is.
                auto& o = static_cast<io::timer_op&>(t);
                op_queue::unlink(o);
                local_.push_back(o);
            }
        } while (abandon_queued());
        last();
    }
    stopped_.store(was_stopped, std::memory_order_relaxed);
}

io::outcome io_loop::notify_fork(execution_context::fork_event event) noexcept {
    auto const of_reactor = reactor_->notify_fork(event);
    auto const of_host = host_->notify_fork(event);
    return of_reactor.error ? of_reactor : of_host;
}

std::int64_t io_loop::clock_ns() noexcept { return host_->now_ns(); }
void io_loop::wake() noexcept { waker_.load(std::memory_order_seq_cst)->wake(); }

std::int64_t io_loop::now_ns() noexcept {
    auto const now = host_->now_ns();
    seen_ns_.store(now, std::memory_order_relaxed);
    return now;
}

steady_clock::time_point steady_clock::now() noexcept {
    if (loop* l = detail::this_thread.current)
        return at_ns(io_loop::of(*l).now_ns());
    return std::chrono::steady_clock::now();
}

/// It may not be able to, or only later.
void io_loop::share_driver(bool on) noexcept {
    if (reactor_->share(on) == on)
        is_driver_shared_ = on;
}

/// An item of another thread starts something before it stops counting as work. Hence what is pending is looked at
/// after the others, too.
bool io_loop::has_work(unsigned own) noexcept {
    auto const waits = [this] { return reactor_->pending() != 0 || !timers_->heap.empty(); };
    return !local_.empty() || waits() || has_work_of_others(own) || waits();
}

void io_loop::expire_timers(std::int64_t now) noexcept {
    auto& heap = timers_->heap;
    while (!heap.empty() && heap.first_deadline() <= now) {
        auto& t = heap.pop();
        if (t.is_limit) {
            auto& limit = static_cast<io::op_limit&>(t);
            limit.expire(limit, *this);
        } else {
            auto& o = static_cast<io::timer_op&>(t);
            op_queue::unlink(o);
            o.result.error = 0;
            local_.push_back(o);
        }
        ++turns_owed_;
    }
}

/// Has it been long enough since the driver was asked? Counts from the first look at the clock after that.
bool io_loop::is_time_to_look(std::int64_t now) noexcept {
    if (pace_.slice_end_ns() == 0)
        pace_.begin_slice(now);
    return ++batches_since_poll_ >= fairness::batches_per_poll || now >= pace_.slice_end_ns();
}

std::int64_t io_loop::look_at_clock() noexcept {
    auto const now = host_->now_ns();
    pace_.look(now);
    return now;
}

/// Busy: the world is looked at by time, not after each batch. Returns the time.
std::int64_t io_loop::look_around() noexcept {
    auto const now = look_at_clock();
    if (is_time_to_look(now)) {
        expire_timers_ahead(now);
        look_at_driver(now);
    }
    return now;
}

/// The items in the queue would make them later still, by the length of the queue. But none goes ahead of one that was
/// due before it, and those that went ahead let as many others have a turn. Until then the next ones stay in the heap.
void io_loop::expire_timers_ahead(std::int64_t now) noexcept {
    if (turns_owed_ != 0)
        return;
    op_queue others;
    others.splice_back(local_);
    expire_timers(now);
    if (!others.empty())
        turns_owed_ *= 2;
    local_.splice_back(others);
}

void io_loop::look_at_driver(std::int64_t now) noexcept {
    batches_since_poll_ = 0;
    pace_.begin_slice(now);
    ++counters_.polls;
    reactor_->poll(0);
}

/// A batch like any other, but for a look at the clock after each item: whoever gives a time returns within one of it.
template <class IsLate> loop::batch io_loop::run_batch_until(IsLate is_late, std::size_t most, std::size_t& total,
                                                             detail::inside_section only) {
    for (unsigned n = 0; n != fairness::batch_items && total != most && !local_.empty(); ++n) {
        if (run_batch(1, total, only) == batch::lost)
            return batch::lost;
        auto const now = look_at_clock();
        if (stopped() || is_late(now) || now >= pace_.slice_end_ns())
            break;
    }
    return batch::kept;
}

/// A bound loop has one thread inside run(). False: there is no reason to wait for its end any more.
bool io_loop::enter_alone(std::int64_t until_ns, detail::blocking_wait const* for_whom) noexcept {
    if (is_running_this())
        return true;
    for (;;) {
        auto const seen = ownership_.turns();
        if (ownership_.join_alone())
            return true;
        if (stopped() || (for_whom && for_whom->is_over()))
            return false;
        auto const left = until_ns < 0 ? until_ns : until_ns - clock_ns();
        if (until_ns >= 0 && left <= 0)
            return false;
        auto& self = detail::this_thread.owning;
        ownership_.wait_for_turn(self, self.sections, seen, left);
    }
}

/// After enter(). Without work the loop is stopped; but not by one who only waits for something, and returns also when
/// that is over.
std::size_t io_loop::run(std::size_t most, std::int64_t until_ns, detail::blocking_wait const* for_whom) {
    membership member(*this);
    auto& heap = timers_->heap;
    std::size_t total = 0;
    struct count_items {
        io_loop& l;
        std::size_t const& total;
        ~count_items() { l.counters_items_.fetch_add(total, std::memory_order_relaxed); }
    } const at_end{*this, total};
    bool is_first = most != std::numeric_limits<std::size_t>::max();
    auto const is_late = [until_ns](std::int64_t now) { return until_ns > 0 && now >= until_ns; };
    // However late it is, one that is ready has its turn.
    auto const is_to_end = [&](std::int64_t now) { return total != 0 && is_late(now); };
    unsigned looks_left = idle_looks;
    unsigned ran_beside = 0; // that ran while another thread may have had the loop
    for (;;) {
        if (!member.owns() && !member.take(until_ns))
            break;
        if (ran_beside != 0) [[unlikely]]
            have_run(std::exchange(ran_beside, 0U));
        if (for_whom && for_whom->is_over()) [[unlikely]]
            break;
        bool is_kept = false;
        bool const shared = ownership_.is_shared([&] { return is_kept = is_better_alone(); });
        // A caller that takes a few items at a time comes through here often, and might never get as far as the driver.
        // Nor might several threads with a queue that never ends.
        if ((std::exchange(is_first, false) || pace_.is_due()) && !local_.empty()) {
            take_inbox();
            look_around();
            if (is_driver_shared_ && !shared && ownership_.members() < 2)
                share_driver(false);
        }
        // 1
        ++counters_.turns;
        if (!local_.empty()) {
            reactor_->arrange(local_);
            if (shared) {
                if (!is_driver_shared_)
                    share_driver(true);
                looks_left = idle_looks;
                ran_beside = run_share(until_ns > 0 ? total + 1 : most, total, member.only_section());
                if (stopped() || total == most || (until_ns > 0 && is_late(host_->now_ns())))
                    break;
                continue;
            }
            auto const left = until_ns > 0 ? run_batch_until(is_late, most, total, member.only_section())
                                           : run_batch(most - total, total, member.only_section());
            if (stopped() || total == most)
                break;
            if (left == batch::lost)
                continue;
        }
        if (stopped_.load(std::memory_order_acquire) || total == most)
            break;
        // 2
        if (ownership_.has_borrowers()) [[unlikely]] {
            ownership_.lend(detail::this_thread.owning);
            continue;
        }
        take_inbox();
        if (!local_.empty() || is_kept) { // Before it sleeps, the others have to know that they share the loop.
            if (is_to_end(look_around()))
                break;
            continue;
        }
        // 3
        std::int64_t now = 0;
        if (!heap.empty() || until_ns > 0 || pace_.is_measuring()) {
            // A deadline that had passed when the program last read the clock needs no other look. That one counts
            // once.
            now = seen_ns_.load(std::memory_order_relaxed);
            if (pace_.is_measuring())
                now = look_at_clock();
            else if (until_ns > 0 || heap.first_deadline() > now)
                now = host_->now_ns();
            seen_ns_.store(0, std::memory_order_relaxed);
            expire_timers(now);
            if (!local_.empty()) {
                // A timer that is due again as soon as it has expired is a way of being busy, too.
                if (is_time_to_look(now))
                    look_at_driver(now);
                if (is_to_end(now))
                    break;
                continue;
            }
        }
        if (!has_work(member.revoked())) {
            // The handler that calls us from inside run() is work of the outer one.
            if (!member.nested() && !for_whom)
                stopped_.store(true, std::memory_order_release);
            break;
        }
        // 4
        batches_since_poll_ = 0;
        pace_.rest();
        ++counters_.polls;
        if (until_ns == 0 || is_late(now)) {
            reactor_->poll(0);
            take_inbox();
            if (shared && local_.empty())
                take_over_shares();
            if (local_.empty() || is_to_end(now))
                break;
            continue;
        }
        std::int64_t wait_until = until_ns;
        if (!heap.empty() && (wait_until < 0 || heap.first_deadline() < wait_until))
            wait_until = heap.first_deadline();
        // The threads that have shares start what this one would be woken for at once.
        if (shared && has_shares() && looks_left != 0) {
            --looks_left;
            reactor_->poll(0);
            if (local_.empty() && inbox_empty())
                step_back();
            continue;
        }
        if (shared && others_come_back_soon()) {
            watch(wait_until < 0 ? watch_ns : std::clamp<std::int64_t>(wait_until - host_->now_ns(), 0, watch_ns));
            continue;
        }
        detail::recycler_flush();
        if (!fall_asleep())
            continue;
        // Another thread may have ended the last item, or want to borrow the loop, before it could see that this one
        // sleeps.
        if (shared && (ownership_.has_borrowers() || !has_work(member.revoked()))) {
            awake();
            continue;
        }
        if (shared) {
            auto const found = take_over_shares();
            if (found == detail::shares::found::something) {
                awake();
                continue;
            }
            if (found == detail::shares::found::unknown) {
                auto const soon = host_->now_ns() + look_again_ns;
                wait_until = wait_until < 0 ? soon : std::min(wait_until, soon);
            }
        }
        ++counters_.sleeps;
        reactor_->poll(wait_until);
        awake();
    }
    return total;
}

bool io_loop::drive(detail::blocking_wait const& w, std::int64_t timeout_ns) {
    if (has_own_thread_ || ownership_.has_members())
        return false;
    // Whether run() would return at once is between those who call it.
    bool const was_stopped = stopped_.exchange(false, std::memory_order_acq_rel);
    struct at_end {
        io_loop& l;
        bool was_stopped;
        ~at_end() {
            if (was_stopped)
                l.stopped_.store(true, std::memory_order_release);
        }
    } const restored{*this, was_stopped};
    auto const until = timeout_ns < 0 ? timeout_ns : clock_ns() + timeout_ns;
    return (enter(until, &w) && run(1, until, &w) != 0) || (until >= 0 && clock_ns() >= until);
}

io_loop::outlook io_loop::look() noexcept {
    auto& heap = timers_->heap;
    return {!local_.empty() || !inbox_empty(), has_outside_work(),
            heap.empty() ? std::numeric_limits<std::int64_t>::max() : heap.first_deadline()};
}

std::size_t io_loop::turn() {
    if (stopped() || !enter(-1, nullptr))
        return 0;
    membership member(*this);
    if (!member.take(-1))
        return 0;
    ++counters_.turns;
    take_inbox();
    if (!timers_->heap.empty())
        expire_timers(host_->now_ns());
    if (local_.empty())
        return 0;
    reactor_->arrange(local_);
    pace_.rest();
    pace_.trust(); // A simulated clock stands still: the batch is as long as it may be.
    look_at_clock();
    std::size_t n = 0;
    run_batch(std::numeric_limits<std::size_t>::max(), n, member.only_section());
    counters_items_.fetch_add(n, std::memory_order_relaxed);
    return n;
}

void io_loop::stop() noexcept {
    detail::rundown::guard const here(rundown_); // A thread that sees it may end the loop.
    stopped_.store(true, std::memory_order_release);
    if (detail::section const s; !mine(s))
        wake();
    ownership_.wake_all();
}

loop_counters io_loop::counters() const noexcept {
    auto c = counters_;
    c.items = counters_items_.load(std::memory_order_relaxed);
    auto const of_reactor = reactor_->counters();
    c.verifications = of_reactor.verifications;
    c.system_calls = of_reactor.system_calls;
    return c;
}

template <class Op, void (io_loop::*Start)(Op&) noexcept> void io_loop::hand_in(Op& o) noexcept {
    // Nobody runs the loop: act at once.
    if (take_while_idle()) {
        (this->*Start)(o);
        leave_idle();
        return;
    }
    constexpr auto start = [](loop& owned, op& handed_in) {
        (static_cast<io_loop&>(owned).*Start)(static_cast<Op&>(handed_in));
    };
    static constinit detail::owner_request what{{}, start};
    post_request(o, what);
}

void io_loop::submit_here(io::io_op& o) noexcept { reactor_->submit(o); }
void io_loop::submit_from_outside(io::io_op& o, detail::inside_section s) noexcept {
    if (mine(s))
        submit_here(o);
    else if (has_share_here() && is_driver_shared_)
        reactor_->submit(o);
    else
        hand_in<io::io_op, &io_loop::submit_here>(o);
}

void io_loop::arm_here(io::timer_op& o) noexcept {
    if (timers_->heap.insert(o, o.deadline_ns)) {
        o.waits->push_back(o);
    } else {
        o.result.error = ENOMEM;
        local_.push_back(o);
    }
}

void io_loop::arm(io::timer_op& o) noexcept {
    detail::section const s;
    if (mine(s)) [[likely]]
        arm_here(o);
    else
        hand_in<io::timer_op, &io_loop::arm_here>(o);
}

void io_loop::cancel(io::timer_op& o) noexcept {
    timers_->heap.erase(o);
    op_queue::unlink(o);
    o.result.error = ECANCELED;
    local_.push_back(o);
}

bool io_loop::arm(io::op_limit& l, std::int64_t deadline_ns) noexcept { return timers_->heap.insert(l, deadline_ns); }

// The thread that has the loop may be about to look at the op: the caller waits until that is over.
void io_loop::disarm(io::op_limit& l) noexcept {
    as_owner([&]() noexcept {
        if (l.heap_index != io::timed::not_armed)
            timers_->heap.erase(l);
    });
}

bool io_loop::disarm(io::timer_op& o) noexcept {
    detail::section const s;
    bool const taken = !mine(s) && take_while_idle();
    if (!taken && !mine(s))
        return false;
    bool const armed = o.heap_index != io::timer_op::not_armed;
    if (armed) {
        timers_->heap.erase(o);
        op_queue::unlink(o);
    }
    if (taken)
        leave_idle();
    return armed;
}

/// `find(known_to_live)` cancels the op if it is pending.
template <class Find> void io_loop::cancel_one(Find find) noexcept {
    on_owner([this, find](bool here) {
        // An op that another thread has started may still be in the inbox. A message came behind it.
        if (!find(here) && here && take_inbox())
            find(true);
    });
}
void io_loop::cancel(io::handle h, void* ticket) noexcept {
    cancel_one([this, h, ticket](bool) { return reactor_->cancel(h, ticket); });
}
void io_loop::cancel(io::timer_op* o, void* ticket) noexcept {
    cancel_one([this, o, ticket](bool known_to_live) {
        bool const found = known_to_live ? o->heap_index != io::timer_op::not_armed
                                         : timers_->heap.contains(o) && detail::has_ticket(*o, ticket);
        if (found)
            cancel(*o);
        return found;
    });
}

std::size_t io_loop::cancel(io::handle h) noexcept {
    std::size_t n = 1;
    on_owner([this, h, &n](bool here) {
        auto const cancelled = reactor_->cancel_all(h);
        if (here)
            n = cancelled;
    });
    return n;
}

// Other than cancel(), these have to be done when they return. Should another thread be inside run(), it lets us in.
io::outcome io_loop::close(io::handle h) noexcept {
    return as_owner([&]() noexcept { return descriptors_->close(h); });
}
io::outcome io_loop::release(io::handle h) noexcept {
    return as_owner([&]() noexcept { return descriptors_->release(h); });
}

/// A call that the owner makes for a thread that waits, in whose stack this lies.
struct io_loop::question : op {
    void (*function)(void*);
    void* argument;
    std::atomic<bool> is_answered{false};

    static void answer(loop& owned, op& o) {
        auto& self = static_cast<question&>(o);
        self.function(self.argument);
        self.is_answered.store(true, std::memory_order_release); // It is gone.
        static_cast<io_loop&>(owned).ownership_.wake_all();
    }
    inline static constinit detail::owner_request what{{}, &answer};
};

/// A thread wants to borrow a loop, and may have bound loops itself whose borrowers wait for it.
struct io_loop::borrowing {
    io_loop& visited;
    detail::section const& only;

    /// Each time before it waits. Inside of another section it may be called by somebody who is carrying out requests.
    static void goes_on(void* v) noexcept {
        auto const& self = *static_cast<borrowing*>(v);
        for (auto* f = self.only.outer() == 0 ? detail::this_thread.frames : nullptr; f; f = f->outer)
            if (auto& own = of(*f->runs); own.is_bound_ && own.mine(self.only))
                own.take_inbox();
        membership::nudge(&self.visited);
    }
};

/// Calls f(arg) with the loop in the caller's hands, or in those of the thread that it is bound to.
void io_loop::as_borrower(detail::section const& s, void (*f)(void*), void* arg) noexcept {
    if (take_while_idle()) {
        f(arg);
        leave_idle();
        return;
    }
    borrowing v{*this, s};
    auto& self = detail::this_thread.owning;
    if (!is_bound_) {
        ownership_.borrow(self, s.outer(), &borrowing::goes_on, &v);
        take_inbox(); // In the order of arrival: what this thread has posted before comes first.
        f(arg);
        leave_idle();
        return;
    }
    question q;
    q.function = f;
    q.argument = arg;
    post_request(q, question::what);
    for (;;) {
        auto const seen = ownership_.turns();
        if (q.is_answered.load(std::memory_order_acquire))
            return;
        // The thread may have left run() without a look into its inbox.
        if (take_while_idle()) {
            leave_idle();
        } else {
            borrowing::goes_on(&v);
            ownership_.wait_for_turn(self, s.outer(), seen, -1);
        }
    }
}

} // namespace fairlead
