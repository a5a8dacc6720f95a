#include <fairlead/io/io_loop.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <fairlead/io/loop_clock.hpp>

#include <io/run_watch.hpp>
#include <io/timer_heap.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

namespace fairlead {

// One turn, numbered as in ARCHITECTURE.md:
//   1 run a bounded batch of the queue, or a share        run_items
//   2 lend the loop, and take what other threads posted   attend_to_others
//   3 expire timers                                       expire_due_timers
//   4 poll the driver: wait, or only look                 poll_driver
// Handlers run in step 1 and nowhere else.

namespace {
// After which a thread that could not see whether others have left something for it looks again.
constexpr std::int64_t look_again_ns = 100'000;
// Of an idle thread whose loop others look after.
constexpr std::int64_t watch_ns = 1'000'000;
// Of an idle thread while others are at work, some microseconds apart, before it sleeps.
constexpr unsigned idle_looks = 16;
// Looks at the inbox before a sleep, some hundred nanoseconds each. A clock may stand still.
constexpr int moments_most = 256;
constexpr std::int64_t spin_without_driver_ns = 10'000;
} // namespace

struct io_loop::timers : impl::exec::in_context_memory {
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
          frame_{&l, impl::exec::this_thread.frames,
                 nested_ ? 1U : impl::exec::this_thread.owning.sections.load(std::memory_order_relaxed),
                 impl::exec::share(impl::exec::this_thread.owning)},
          outer_(std::exchange(impl::exec::this_thread.current, &l)),
          depth_(std::exchange(impl::exec::this_thread.depth, 0U)),
          item_(impl::exec::this_thread.item) {
        // The share behind the handler that calls us is to be run in here, or by the loop's owner.
        for (auto* f = nested_ ? frame_.outer : nullptr; f; f = f->outer)
            if (f->runs == &l && f->share.is_open())
                l.close_share(f->share);
        had_it_ = nested_ && l.mine(section_);
        impl::exec::this_thread.frames = &frame_;
        if (!nested_ && !l.is_bound_)
            join();
        if (had_it_)
            l.ownership_.expect_revocation();
    }
    membership(membership const&) = delete;
    membership& operator=(membership const&) = delete;
    ~membership() {
        auto& thread = impl::exec::this_thread;
        // The handler of the outer frame goes on as it was: with the loop only if it had it, and nobody else wants it.
        // Without, the outer frame finds out by itself that it was revoked.
        if (nested_) {
            bool const has_it = loop_.mine(section_);
            if (has_it && had_it_ && !loop_.ownership_.is_shared([] { return false; }))
                loop_.revoked_is_back();
            else if (has_it)
                loop_.disown();
        } else {
            if (loop_.watch_.load(std::memory_order_relaxed) != 0) [[unlikely]]
                io::impl::run_watch::leaves(loop_);
            if (auto* const others = loop_.abandoned_too())
                others->run_ends();
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
    impl::exec::inside_section only_section() const noexcept { return section_; }

    /// False: there is no reason to wait for the loop any more.
    bool take(std::int64_t until_ns) noexcept {
        auto& self = impl::exec::this_thread.owning;
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
        if (loop_.watch_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            io::impl::run_watch::enters(loop_);
        return !loop_.stopped(); // If it is, the destructor gives back what was taken.
    }
    static void nudge(void* l) noexcept {
        auto& loop = *static_cast<io_loop*>(l);
        impl::exec::rundown::guard const here(loop.rundown_); // The owner may be about to exchange its driver.
        loop.wake();
    }

private:
    /// The first thread goes on by itself while the second one waits for what sharing needs.
    void join() noexcept {
        if (loop_.ownership_.has_members())
            impl::exec::shares::prepare();
        loop_.ownership_.join();
    }

    io_loop& loop_;
    bool nested_;
    impl::exec::run_frame frame_;
    loop* outer_;
    unsigned depth_;
    impl::exec::budget item_;
    bool had_it_;
    impl::exec::section section_; // The last: everything else happens inside it.
};

io_loop* io_loop::make(execution_context& context, impl::base::owned<io::driver> d) {
    return new (impl::exec::service_access::memory_of(context)) io_loop(context, std::move(d));
}
io_loop::io_loop(execution_context& context, impl::base::owned<io::driver> d)
    : loop(context),
      driver_(std::move(d)),
      reactor_(&driver_->reactor()),
      descriptors_(&driver_->descriptors()),
      host_(&driver_->host()),
      is_bound_(reactor_->is_bound()),
      waker_(reactor_),
      retired_(io::make_retired_driver(impl::exec::service_access::memory_of(context))),
      timers_(new(impl::exec::service_access::memory_of(context)) timers(context)) {
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
            if (auto* const others = abandoned_too())
                others->take_pending(local_);
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

io::steady_clock::time_point io::steady_clock::now() noexcept {
    if (loop* l = fairlead::impl::exec::this_thread.current)
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
        ++counters_.timers_expired;
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

/// A bound loop has one thread inside run(). False: there is no reason to wait for its end any more.
bool io_loop::enter_alone(std::int64_t until_ns, impl::exec::blocking_wait const* for_whom) noexcept {
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
        auto& self = impl::exec::this_thread.owning;
        ownership_.wait_for_turn(self, self.sections, seen, left);
    }
}

/// How a step of a turn ends.
enum class io_loop::next : unsigned char {
    go_on, ///< with the next step
    again, ///< with another turn
    leave, ///< with the end of run()
};

/// A call of run(), or of turn(): what it is to do, and how far it has come.
struct io_loop::run_state {
    membership& member;
    std::size_t most;
    std::int64_t until_ns;
    impl::exec::blocking_wait const* for_whom;
    std::size_t total = 0;
    bool looks_first = false; ///< around, before it runs the first items
    unsigned looks_left = idle_looks;
    unsigned ran_beside = 0; ///< items, while another thread may have had the loop

    // Of this turn.
    bool is_shared = false;
    bool is_kept = false;    ///< not shared, although other threads are inside run()
    std::int64_t now_ns = 0; ///< as of step 3, where there is a time limit

    bool is_late(std::int64_t now) const noexcept { return until_ns > 0 && now >= until_ns; }
    /// However late it is, one that is ready has its turn.
    bool is_to_end(std::int64_t now) const noexcept { return total != 0 && is_late(now); }
};

/// After enter(). Without work the loop is stopped; but not by one who only waits for something, and returns also when
/// that is over.
std::size_t io_loop::run(std::size_t most, std::int64_t until_ns, impl::exec::blocking_wait const* for_whom) {
    membership member(*this);
    run_state r{member, most, until_ns, for_whom};
    r.looks_first = most != std::numeric_limits<std::size_t>::max();
    impl::base::at_scope_end const count_items(
        [this, &r] { counters_items_.fetch_add(r.total, std::memory_order_relaxed); });
    while (begin_turn(r)) {
        auto then = run_items(r); // 1
        if (then == next::go_on)
            then = attend_to_others(r); // 2
        if (then == next::go_on)
            then = expire_due_timers(r); // 3
        if (then == next::go_on)
            then = poll_driver(r); // 4
        if (then == next::leave)
            break;
    }
    return r.total;
}

/// Takes the loop for a turn. False: there is no reason for another one.
bool io_loop::begin_turn(run_state& r) noexcept {
    if (!r.member.owns() && !r.member.take(r.until_ns))
        return false;
    if (r.ran_beside != 0) [[unlikely]]
        have_run(std::exchange(r.ran_beside, 0U));
    if (r.for_whom && r.for_whom->is_over()) [[unlikely]]
        return false;
    r.is_kept = false;
    r.is_shared = ownership_.is_shared([&] { return r.is_kept = is_better_alone(); });
    // A caller that takes a few items at a time comes through here often, and might never get as far as the driver.
    // Nor might several threads with a queue that never ends.
    if (r.looks_first || pace_.is_due()) {
        r.looks_first = false;
        if (!local_.empty())
            look_around_first(r);
    }
    ++counters_.turns;
    return true;
}

void io_loop::look_around_first(run_state const& r) noexcept {
    take_inbox();
    look_around();
    if (is_driver_shared_ && !r.is_shared && ownership_.members() < 2)
        share_driver(false);
}

/// Step 1.
io_loop::next io_loop::run_items(run_state& r) {
    auto left = batch::kept;
    if (!local_.empty()) {
        reactor_->arrange(local_);
        if (r.is_shared)
            return run_shared_items(r);
        auto const only = r.member.only_section();
        left = r.until_ns > 0 ? run_batch_until(r, only) : run_batch(r.most - r.total, r.total, only);
    }
    if (stopped() || r.total == r.most)
        return next::leave;
    return left == batch::lost ? next::again : next::go_on;
}

/// A batch like any other, but for a look at the clock after each item: whoever gives a time returns within one of it.
loop::batch io_loop::run_batch_until(run_state& r, impl::exec::inside_section only) {
    for (unsigned n = 0; n != fairness::batch_items && r.total != r.most && !local_.empty(); ++n) {
        if (run_batch(1, r.total, only) == batch::lost)
            return batch::lost;
        auto const now = look_at_clock();
        if (stopped() || r.is_late(now) || now >= pace_.slice_end_ns())
            break;
    }
    return batch::kept;
}

/// A share, while others have the loop.
io_loop::next io_loop::run_shared_items(run_state& r) {
    if (!is_driver_shared_)
        share_driver(true);
    r.looks_left = idle_looks;
    r.ran_beside = run_share(r.until_ns > 0 ? r.total + 1 : r.most, r.total, r.member.only_section());
    bool const is_over = stopped() || r.total == r.most || (r.until_ns > 0 && r.is_late(host_->now_ns()));
    return is_over ? next::leave : next::again;
}

/// Step 2.
io_loop::next io_loop::attend_to_others(run_state const& r) noexcept {
    if (ownership_.has_borrowers()) [[unlikely]] {
        ownership_.lend(impl::exec::this_thread.owning);
        return next::again;
    }
    take_inbox();
    if (local_.empty() && !r.is_kept)
        return next::go_on;
    // Before it sleeps, the others have to know that they share the loop.
    return r.is_to_end(look_around()) ? next::leave : next::again;
}

/// Step 3.
io_loop::next io_loop::expire_due_timers(run_state& r) noexcept {
    auto& heap = timers_->heap;
    if (heap.empty() && r.until_ns <= 0 && !pace_.is_measuring())
        return next::go_on;
    // A deadline that had passed when the program last read the clock needs no other look. That one counts once.
    auto now = seen_ns_.load(std::memory_order_relaxed);
    if (pace_.is_measuring())
        now = look_at_clock();
    else if (r.until_ns > 0 || heap.first_deadline() > now)
        now = host_->now_ns();
    seen_ns_.store(0, std::memory_order_relaxed);
    r.now_ns = now;
    expire_timers(now);
    if (local_.empty())
        return next::go_on;
    // A timer that is due again as soon as it has expired is a way of being busy, too.
    if (is_time_to_look(now))
        look_at_driver(now);
    return r.is_to_end(now) ? next::leave : next::again;
}

/// Step 4. Where nothing is left to wait for, it stops the loop instead.
io_loop::next io_loop::poll_driver(run_state& r) noexcept {
    if (!has_work(r.member.revoked())) {
        // The handler that calls us from inside run() is work of the outer one.
        if (!r.member.nested() && !r.for_whom)
            stopped_.store(true, std::memory_order_release);
        return next::leave;
    }
    batches_since_poll_ = 0;
    pace_.rest();
    ++counters_.polls;
    if (r.until_ns == 0 || r.is_late(r.now_ns))
        return poll_once(r);
    auto& heap = timers_->heap;
    auto wait_until = r.until_ns;
    if (!heap.empty() && (wait_until < 0 || heap.first_deadline() < wait_until))
        wait_until = heap.first_deadline();
    if (!r.is_shared || !leave_it_to_others(r, wait_until))
        sleep(r, wait_until);
    return next::again;
}

/// The time is over, but items that are ready run.
io_loop::next io_loop::poll_once(run_state const& r) noexcept {
    reactor_->poll(0);
    take_inbox();
    if (r.is_shared && local_.empty())
        take_over_shares();
    return local_.empty() || r.is_to_end(r.now_ns) ? next::leave : next::again;
}

/// Threads with shares may soon start what this one would be woken for. False: none of them does.
bool io_loop::leave_it_to_others(run_state& r, std::int64_t wait_until) noexcept {
    if (has_shares() && r.looks_left != 0) {
        --r.looks_left;
        reactor_->poll(0);
        if (local_.empty() && inbox_empty())
            step_back();
        return true;
    }
    if (!others_come_back_soon())
        return false;
    watch(wait_until < 0 ? watch_ns : std::clamp<std::int64_t>(wait_until - host_->now_ns(), 0, watch_ns));
    return true;
}

void io_loop::sleep(run_state const& r, std::int64_t wait_until) noexcept {
    impl::exec::recycler_flush();
    if (spin_.is_due() && has_looked_out(r, wait_until)) [[unlikely]]
        return; // All that a thread wakes a loop for is looked at once more: a look at the driver may have heard it.
    if (!fall_asleep())
        return;
    if (!r.is_shared || may_sleep_beside_others(r, wait_until)) {
        ++counters_.sleeps;
        reactor_->poll(wait_until);
    }
    spin_.has_slept(awake());
}

/// Looks at the inbox until another thread has posted, for long enough that one that sleeps could. Meanwhile it looks
/// at the driver now and then, so that no event waits for long. False: this is not the time for it.
bool io_loop::has_looked_out(run_state const& r, std::int64_t wait_until) noexcept {
    if (!has_a_second_processor() || !host_->has_threads() || r.is_shared || r.for_whom)
        return false;
    auto now = host_->now_ns();
    auto const until = now + impl::exec::adaptive_spin::longest_ns;
    if (wait_until >= 0 && wait_until <= until)
        return false;
    ++counters_.spins;
    auto look_at_driver_at = now + spin_without_driver_ns;
    bool is_posted = false;
    for (int n = 0; n != moments_most && now < until && local_.empty() && !stopped(); ++n) {
        is_posted = is_posted_in_a_moment();
        if (is_posted || ownership_.has_borrowers())
            break;
        now = host_->now_ns();
        if (now >= look_at_driver_at) {
            look_at_driver_at = now + spin_without_driver_ns;
            if (reactor_->pending() != 0)
                reactor_->poll(0);
        }
    }
    if (!is_posted)
        ++counters_.spins_in_vain;
    spin_.has_spun(is_posted);
    return true;
}

/// Another thread may have ended the last item, or want to borrow the loop, before it could see that this one sleeps.
/// Brings `wait_until` forward if a share could not be looked at.
bool io_loop::may_sleep_beside_others(run_state const& r, std::int64_t& wait_until) noexcept {
    if (ownership_.has_borrowers() || !has_work(r.member.revoked()))
        return false;
    auto const found = take_over_shares();
    if (found == impl::exec::shares::found::unknown) {
        auto const soon = host_->now_ns() + look_again_ns;
        wait_until = wait_until < 0 ? soon : std::min(wait_until, soon);
    }
    return found != impl::exec::shares::found::something;
}

bool io_loop::drive(impl::exec::blocking_wait const& w, std::int64_t timeout_ns) {
    if (has_own_thread_ || ownership_.has_members())
        return false;
    // Whether run() would return at once is between those who call it.
    bool const was_stopped = stopped_.exchange(false, std::memory_order_acq_rel);
    impl::base::at_scope_end const restore([this, was_stopped] {
        if (was_stopped)
            stopped_.store(true, std::memory_order_release);
    });
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
    take_inbox(); // 2
    if (!timers_->heap.empty())
        expire_timers(host_->now_ns()); // 3
    if (local_.empty())
        return 0;
    run_state r{member, std::numeric_limits<std::size_t>::max(), -1, nullptr};
    impl::base::at_scope_end const count_items( // also when a handler throws
        [this, &r] { counters_items_.fetch_add(r.total, std::memory_order_relaxed); });
    pace_.rest();
    pace_.trust(); // A simulated clock stands still: the batch is as long as it may be.
    look_at_clock();
    run_items(r); // 1
    return r.total;
}

void io_loop::stop() noexcept {
    impl::exec::rundown::guard const here(rundown_); // A thread that sees it may end the loop.
    stopped_.store(true, std::memory_order_release);
    if (impl::exec::section const s; !mine(s))
        wake();
    ownership_.wake_all();
}

loop_counters io_loop::counters() const noexcept {
    auto c = counters_;
    c.items = counters_items_.load(std::memory_order_relaxed);
    c.posts_remote = taken_from_inbox();
    auto const of_reactor = reactor_->counters();
    c.verifications = of_reactor.verifications;
    c.system_calls = of_reactor.system_calls;
    return c;
}

std::size_t io_loop::timers_pending() const noexcept { return timers_->heap.size(); }

template <class Op, void (io_loop::*Start)(Op&) noexcept> void io_loop::hand_in(Op& o) noexcept {
    // Nobody runs the loop: act at once.
    if (hold_while_idle const held(*this); held) {
        (this->*Start)(o);
        return;
    }
    constexpr auto start = [](loop& owned, op& handed_in) {
        (static_cast<io_loop&>(owned).*Start)(static_cast<Op&>(handed_in));
    };
    static constinit impl::exec::owner_request what{{}, start};
    post_request(o, what);
}

void io_loop::submit_here(io::io_op& o) noexcept { reactor_->submit(o); }
void io_loop::submit_from_outside(io::io_op& o, impl::exec::inside_section s) noexcept {
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
    impl::exec::section const s;
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
    bool was_armed = false;
    at_once([&] {
        was_armed = o.heap_index != io::timer_op::not_armed;
        if (was_armed) {
            timers_->heap.erase(o);
            op_queue::unlink(o);
        }
    });
    return was_armed;
}

/// `find(known_to_live)` cancels `o` if it is pending.
template <class Find> void io_loop::cancel_one(op& o, Find find) noexcept {
    impl::exec::section const s;
    auto const find_now = [this, find](bool here) {
        // An op that another thread has started may still be in the inbox. A message came behind it.
        if (!find(here) && here && take_inbox())
            find(true);
    };
    if (!on_owner_or(find_now)) {
        impl::exec::mark_asked(o);
        call_for_marked();
    }
}
void io_loop::ask(io::handle h, op& o) noexcept {
    auto* const ticket = impl::exec::ticket_of(o).load(std::memory_order_relaxed);
    cancel_one(o, [this, h, ticket](bool) { return reactor_->cancel(h, ticket); });
}
void io_loop::ask(io::timer_op& o) noexcept {
    auto* const ticket = impl::exec::ticket_of(o).load(std::memory_order_relaxed);
    cancel_one(o, [this, where = &o, ticket](bool known_to_live) {
        bool const found = known_to_live ? where->heap_index != io::timer_op::not_armed
                                         : timers_->heap.contains(where) && impl::exec::has_ticket(*where, ticket);
        if (found)
            cancel(*where);
        return found;
    });
}

/// After a mark. The owner is to look behind all that is in the inbox now: the op may be in there.
void io_loop::call_for_marked() noexcept {
    static constinit impl::exec::owner_request what{
        {}, [](loop& owned, op&) { static_cast<io_loop&>(owned).cancel_marked(); }};
    if (marks_.fetch_add(1, std::memory_order_acq_rel) == 0)
        post_request(marked_, what);
}
void io_loop::cancel_marked() noexcept {
    if (marks_.exchange(0, std::memory_order_acq_rel) > 1)
        call_for_marked(); // The later ones may belong to ops that stand behind the request.
    reactor_->cancel_marked();
    while (auto* const o = timers_->heap.find_marked())
        cancel(*o);
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
    inline static constinit impl::exec::owner_request what{{}, &answer};
};

/// A thread wants to borrow a loop, and may have bound loops itself whose borrowers wait for it.
struct io_loop::borrowing {
    io_loop& lender;
    impl::exec::section const& only;

    /// Each time before it waits. Inside of another section it may be called by somebody who is carrying out requests.
    static void goes_on(void* v) noexcept {
        auto const& self = *static_cast<borrowing*>(v);
        for (auto* f = self.only.outer() == 0 ? impl::exec::this_thread.frames : nullptr; f; f = f->outer)
            if (auto& own = of(*f->runs); own.is_bound_ && own.mine(self.only))
                own.take_inbox();
        membership::nudge(&self.lender);
    }
};

/// Calls f(arg) with the loop in the caller's hands, or in those of the thread that it is bound to.
void io_loop::as_borrower(impl::exec::section const& s, void (*f)(void*), void* arg) noexcept {
    borrowing v{*this, s};
    auto& self = impl::exec::this_thread.owning;
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
