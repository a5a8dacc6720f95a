// The reactor of this host: epoll. An op that cannot be done now is parked at its descriptor. An event says that
// what is parked there may be tried. Whether an attempt is worth it without an event, readiness.hpp tells.
//
// Several threads may run the loop. Then the reactor is shared: each descriptor is locked while somebody looks at it.
// News of a descriptor are an item of the queue (news.hpp), so that several threads make attempts at once.
#include <fairlead/base/assert.hpp>
#include <fairlead/exec/loop.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/io/transfer.hpp>

#include <io/descriptor_table.hpp>
#include <io/epoll_set.hpp>
#include <io/kernel_descriptors.hpp>
#include <io/kernel_host.hpp>
#include <io/late_checks.hpp>
#include <io/native_modes.hpp>
#include <io/news.hpp>
#include <io/posix.hpp>
#include <io/retry_pause.hpp>
#include <io/signals.hpp>

#include <atomic>
#include <mutex>
#include <utility>

#include <cerrno>

namespace fairlead::io {
namespace {

constexpr int events_most = 256;
constexpr std::uint64_t signal_mark = epoll_set::wake_mark - 1;
constexpr std::int64_t turn_of_several_ns = 1'000'000; // at least, because each of the threads looks for news
constexpr std::int64_t stall_least_ns = 20'000;
constexpr std::int64_t stall_most_ns = 1'000'000;
constexpr std::int64_t shortage_least_ns = 5'000'000;
constexpr std::int64_t shortage_most_ns = 100'000'000;

bool is_connecting(op_queue& writes) noexcept {
    bool found = false;
    writes.for_each([&](op& each) { found = found || static_cast<io_op&>(each).kind == kind::connect; });
    return found;
}

/// The process, or the system, has no space for another descriptor. That passes, but nothing tells when.
bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

io_op* op_with(descriptor& d, void* ticket) noexcept {
    io_op* found = nullptr;
    for (op_queue* q : {&d.reads, &d.writes, &d.waits})
        q->for_each([&](op& each) {
            if (fairlead::impl::exec::has_ticket(each, ticket))
                found = &static_cast<io_op&>(each);
        });
    return found;
}

/// While the loop is shared, nobody else holds what this one locks. Otherwise it does nothing.
class held {
public:
    held(bool is_shared, fairlead::impl::exec::short_lock& l) noexcept : lock_(is_shared ? &l : nullptr) {
        if (lock_) [[unlikely]]
            lock_->lock();
    }
    held(held const&) = delete;
    held& operator=(held const&) = delete;
    ~held() {
        if (lock_) [[unlikely]]
            lock_->unlock();
    }

private:
    fairlead::impl::exec::short_lock* const lock_;
};

class epoll_reactor final : public reactor, public watcher, public signal_watcher {
public:
    explicit epoll_reactor(fairlead::impl::exec::context_memory* memory) : table_(memory), news_(memory) {
        if (int const e = set_.open())
            fairlead::impl::base::throw_error({e, error::get_system_category()}, "epoll_create1");
    }

    descriptor_table& table() noexcept { return table_; }
    native_modes& modes() noexcept { return modes_; }

    void attach(loop& l) noexcept override { loop_ = &l; }
    reactor_counters counters() const noexcept override {
        return {checks_.count(), system_calls_ + system_calls_shared_.load(std::memory_order_relaxed)};
    }
    outcome notify_fork(execution_context::fork_event event) noexcept override;

    // ---- starting and ending ops

    void submit(io_op& o) noexcept override {
        if (is_shared_) [[unlikely]]
            return submit_shared(o);
        ++pending_;
        descriptor* const d = table_.find(o.handle);
        if (!d) [[unlikely]]
            return complete_with(o, EBADF);
        prepare(*d, o);
        // Nearly every operation, by the shortest way: a read that has to wait, a write that need not.
        if (d->is_plain() && !o.slices && o.size != 0) [[likely]] {
            if (o.kind == kind::receive && d->is_watched() && !d->expects_to_read()) [[likely]]
                return park(*d, d->reads, o);
            if (is_stream_send(o.kind) && d->writes.empty() && d->expects_to_write() && try_on(*d, o, false)) [[likely]]
                return complete(o, false);
            if (o.kind == kind::receive_lent && d->is_watched() && !d->expects_to_read())
                return park(*d, d->reads, o);
        }
        submit_in_general(*d, o);
    }
    bool ready(handle h, kind k, std::size_t size) noexcept override {
        if (is_shared_) [[unlikely]]
            return ready_shared(h, k, size);
        descriptor const* const d = table_.find(h);
        return d && is_ready(*d, k, size);
    }
    bool try_now(io_op& o) noexcept override {
        if (is_shared_) [[unlikely]]
            return try_shared(o);
        descriptor* const d = table_.find(o.handle);
        return d && try_first(*d, o, false);
    }
    bool cancel(io_op& o) noexcept override;
    bool cancel(handle h, void* ticket) noexcept override;
    void cancel_marked() noexcept override;
    std::size_t cancel_all(handle h) noexcept override;
    std::size_t pending() const noexcept override { return pending_ + pending_shared_.load(std::memory_order_relaxed); }
    void take_pending(op_queue& into) noexcept override;

    // ---- waiting

    void poll(std::int64_t until_ns) noexcept override {
        if (is_shared_) [[unlikely]]
            poll_shared(until_ns);
        else
            poll_as<false>(until_ns);
    }
    void wake() noexcept override { set_.wake(); }

    /// Owner, while nobody else has a share of the loop.
    bool share(bool on) noexcept override {
        if (on)
            is_shared_ = news_.make_space();
        else if (!news_.are_queued())
            is_shared_ = false;
        return is_shared_;
    }

    // ---- what is watched

    int watch(descriptor& d, bool for_space) noexcept override;
    int forget(descriptor& d) noexcept override;
    int watch_signals() noexcept override;

private:
    template <bool Shared> class port;

    held hold(descriptor& d) const noexcept { return {is_shared_, d.lock}; }
    /// For what belongs to all descriptors.
    held hold_lists() noexcept { return {is_shared_, lists_}; }

    // ---- one attempt

    void prepare(descriptor& d, io_op& o) noexcept {
        o.stream = d.is_stream();
        o.medium = d.medium();
        modes_.begin(d, o.kind);
    }
    static bool is_ready(descriptor const& d, kind k, std::size_t size) noexcept {
        if (is_write(k))
            return d.writes.empty() && d.expects_to_write();
        return d.reads.empty() && (d.expects_to_read() || (size == 0 && d.is_stream()));
    }
    FAIRLEAD_ALWAYS_INLINE bool try_first(descriptor& d, io_op& o, bool shared) noexcept {
        if (!d.queue_of(o.kind).empty())
            return false;
        prepare(d, o);
        return try_on(d, o, shared);
    }
    FAIRLEAD_ALWAYS_INLINE bool try_on(descriptor& d, io_op& o, bool shared) noexcept {
        count_system_call(shared);
        return attempt_on(d, o);
    }
    bool try_on(descriptor& d, io_op& o) noexcept { return try_on(d, o, is_shared_); }
    /// Nearly always a plain socket gave something, or took all: the rest has its own place, to keep this short.
    bool attempt_on(descriptor& d, io_op& o) noexcept {
        int const fd = d.fd.load(std::memory_order_relaxed);
        if (d.is_plain() && !o.slices && o.size != 0) [[likely]] {
            if (o.kind == kind::receive) {
                auto const a = posix::receive_one(fd, o);
                if (o.result.n == 0 || !d.is_usual_to_read() || (o.message_flags & MSG_PEEK)) [[unlikely]]
                    return was_tried(d, a, o);
                d.was_read_as_usual(a);
                return true;
            }
            if (is_stream_send(o.kind)) {
                auto const a = posix::send_one(fd, o);
                return a == attempt::done || was_tried(d, a, o);
            }
            if (o.kind == kind::receive_lent) {
                auto const a = posix::receive_lent(fd, o);
                if (o.result.n == 0 || !d.is_usual_to_read()) [[unlikely]]
                    return was_tried(d, a, o);
                d.was_read_as_usual(a);
                return true;
            }
        }
        return was_tried(d, posix::once_in_general(fd, o), o);
    }
    bool was_tried(descriptor& d, attempt a, io_op& o) noexcept;
    attempt read_on(descriptor& d, attempt a, io_op& o) noexcept;
    void count_system_call() noexcept { count_system_call(is_shared_); }
    FAIRLEAD_ALWAYS_INLINE void count_system_call(bool shared) noexcept {
        if (shared) [[unlikely]]
            system_calls_shared_.fetch_add(1, std::memory_order_relaxed);
        else
            ++system_calls_;
    }

    // ---- parked and complete

    void submit_in_general(descriptor& d, io_op& o) noexcept;
    void park(descriptor& d, op_queue& queue, io_op& o) noexcept {
        queue.push_back(o);
        if (d.doubts() != doubt::none && &queue == &d.reads)
            list(d);
    }
    void complete(io_op& o) noexcept { complete(o, is_shared_); }
    FAIRLEAD_ALWAYS_INLINE void complete(io_op& o, bool shared) noexcept {
        if (shared) [[unlikely]]
            return complete_shared(o);
        --pending_;
        loop_->push(o);
    }
    void complete_with(io_op& o, int error) noexcept;
    std::size_t abort_all(descriptor& d) noexcept;
    /// Tries what is parked, in order, as long as that is worth it.
    bool run_waiting(descriptor& d, op_queue& queue) noexcept { return run_waiting(d, queue, is_shared_); }
    FAIRLEAD_ALWAYS_INLINE bool run_waiting(descriptor& d, op_queue& queue, bool shared) noexcept {
        bool any = false;
        while (!queue.empty()) {
            auto& o = static_cast<io_op&>(*queue.front());
            if (!d.is_worth_trying(o.kind))
                break;
            if (!try_on(d, o, shared))
                break;
            op_queue::unlink(o);
            complete(o, shared);
            any = true;
        }
        return any;
    }
    void run_waits(descriptor& d) noexcept;

    /// Its parked read is in doubt. Out of line: most reads are not. That nothing is held here saves those a register.
    [[gnu::noinline]] void list(descriptor& d) noexcept {
        if (is_shared_) [[unlikely]]
            list_shared(d);
        else
            checks_.add(d);
    }
    void unlist(descriptor& d) noexcept { unlist(d, is_shared_); }
    FAIRLEAD_ALWAYS_INLINE void unlist(descriptor& d, bool shared) noexcept {
        if (shared) [[unlikely]]
            unlist_shared(d);
        else
            late_checks::remove(d);
    }
    void unlist_if_idle(descriptor& d) noexcept {
        if (d.reads.empty())
            unlist(d);
    }

    // ---- events

    /// A loop with one thread has nothing of what several need.
    template <bool Shared> void poll_as(std::int64_t until_ns) noexcept;
    template <bool Shared> int harvest(std::int64_t until_ns) noexcept;
    FAIRLEAD_ALWAYS_INLINE void happened(descriptor& d, std::uint32_t what, bool shared) noexcept {
        if (what & readiness::events_to_read) {
            unlist(d, shared);
            d.heard_of_reads(what);
            run_waiting(d, d.reads, shared);
            if (d.doubts() != doubt::none && !d.reads.empty())
                list(d);
        }
        if ((what & readiness::events_to_write) && d.heard_of_writes())
            run_waiting(d, d.writes, shared);
        if (!d.waits.empty()) [[unlikely]]
            run_waits(d);
    }

    // ---- pauses

    void set_stalled(descriptor& d, stall to) noexcept;
    void set_starved(descriptor& d, bool to) noexcept;
    FAIRLEAD_COLD std::int64_t retry_paused(std::int64_t until_ns) noexcept;
    std::int64_t retry_stalled(std::int64_t until_ns) noexcept;
    std::int64_t retry_starved(std::int64_t until_ns) noexcept;

    // ---- several threads: out of line, so that a loop with one has short ways

    [[gnu::noinline]] void submit_shared(io_op& o) noexcept;
    [[gnu::noinline]] bool ready_shared(handle h, kind k, std::size_t size) noexcept;
    [[gnu::noinline]] bool try_shared(io_op& o) noexcept;
    [[gnu::noinline]] void poll_shared(std::int64_t until_ns) noexcept { poll_as<true>(until_ns); }
    [[gnu::noinline]] void complete_shared(io_op& o) noexcept;
    [[gnu::noinline]] void list_shared(descriptor& d) noexcept;
    [[gnu::noinline]] void unlist_shared(descriptor& d) noexcept;
    template <bool Shared> void count_turn() noexcept;
    void spread(descriptor& d, epoll_event const& e) noexcept;
    void attend(news& told, op_mode mode) noexcept;
    static void run_news(op* base, op_mode mode);

    loop* loop_ = nullptr;
    bool is_shared_ = false; ///< changed by the loop's owner, while nobody else has a share of it
    std::size_t pending_ = 0;
    std::uint64_t system_calls_ = 0;
    std::atomic<std::size_t> pending_shared_{0}; ///< beyond those that pending_ counts
    std::atomic<std::uint64_t> system_calls_shared_{0};
    std::int64_t turn_began_ns_ = 0;         ///< under lists_
    fairlead::impl::exec::short_lock lists_; ///< while the loop is shared
    late_checks checks_;
    retry_pause stall_{stall_least_ns, stall_most_ns};
    retry_pause shortage_{shortage_least_ns, shortage_most_ns};
    epoll_set set_;
    std::atomic<bool> watches_signals_{false};
    native_modes modes_;
    descriptor_table table_;
    all_news news_;
};

// ---- starting and ending ops

/// Nothing is known, or something unusual is wanted.
[[gnu::noinline]] void epoll_reactor::submit_in_general(descriptor& d, io_op& o) noexcept {
    op_queue& queue = d.queue_of(o.kind);
    if ((queue.empty() || &queue == &d.waits) && d.is_worth_trying(o.kind)) {
        if (try_on(d, o))
            return complete(o);
    }
    if (d.is_stream() && moves_nothing(o)) [[unlikely]] // Never waits, as with Asio.
        return complete(o);
    if (o.kind == kind::connect && is_connecting(queue)) [[unlikely]]
        return complete_with(o, EALREADY);
    if (!d.is_watched_for(o.kind)) [[unlikely]] {
        count_system_call();
        if (int const e = watch(d, is_write(o.kind)))
            return complete_with(o, e);
    }
    park(d, queue, o);
}

void epoll_reactor::complete_with(io_op& o, int error) noexcept {
    o.result.error = error;
    if (o.kind != kind::receive_all && o.kind != kind::send_all)
        o.result.n = 0; // The others report what had moved.
    complete(o);
}

bool epoll_reactor::cancel(io_op& o) noexcept {
    descriptor* const d = table_.find(o.handle);
    if (!d)
        return false;
    auto const only = hold(*d);
    bool found = false;
    d->queue_of(o.kind).for_each([&](op& each) { found = found || &each == &o; });
    if (!found)
        return false;
    op_queue::unlink(o);
    unlist_if_idle(*d);
    complete_with(o, ECANCELED);
    return true;
}
bool epoll_reactor::cancel(handle h, void* ticket) noexcept {
    descriptor* const d = table_.find(h);
    if (!d)
        return false;
    auto const only = hold(*d);
    io_op* const o = op_with(*d, ticket);
    if (!o)
        return false;
    op_queue::unlink(*o);
    unlist_if_idle(*d);
    complete_with(*o, ECANCELED);
    return true;
}
void epoll_reactor::cancel_marked() noexcept {
    table_.for_each([&](descriptor& d) {
        auto const only = hold(d);
        for (op_queue* q : {&d.reads, &d.writes, &d.waits})
            q->for_each([&](op& o) {
                if (!fairlead::impl::exec::is_marked_asked(o))
                    return;
                op_queue::unlink(o);
                complete_with(static_cast<io_op&>(o), ECANCELED);
            });
        unlist_if_idle(d);
        return true;
    });
}
std::size_t epoll_reactor::cancel_all(handle h) noexcept {
    descriptor* const d = table_.find(h);
    if (!d)
        return 0;
    auto const only = hold(*d);
    return abort_all(*d);
}
std::size_t epoll_reactor::abort_all(descriptor& d) noexcept {
    std::size_t n = 0;
    for (op_queue* q : {&d.reads, &d.writes, &d.waits})
        while (!q->empty()) {
            complete_with(static_cast<io_op&>(*q->pop_front()), ECANCELED);
            ++n;
        }
    unlist(d);
    return n;
}
void epoll_reactor::take_pending(op_queue& into) noexcept {
    auto left = pending();
    if (left == 0)
        return;
    table_.for_each([&](descriptor& d) {
        auto const only = hold(d);
        for (op_queue* q : {&d.reads, &d.writes, &d.waits}) {
            q->for_each([&](op&) { --left; });
            into.splice_back(*q);
        }
        unlist(d);
        return left != 0;
    });
    pending_ = 0;
    pending_shared_.store(0, std::memory_order_relaxed);
}

// ---- one attempt

/// The conclusions from any attempt. Returns whether the op is done.
[[gnu::noinline]] bool epoll_reactor::was_tried(descriptor& d, attempt a, io_op& o) noexcept {
    if (has_to_wait(a) && o.kind == kind::receive_all)
        a = read_on(d, a, o);
    switch (o.kind) {
    case kind::receive:
    case kind::receive_all:
    case kind::receive_lent:
    case kind::receive_from: d.was_read(a, o.result.error, o.result.n, o.message_flags & MSG_PEEK); break;
    case kind::send:
    case kind::send_all: d.was_written(a); break;
    case kind::send_to:
        if (!has_to_wait(a)) {
            set_stalled(d, stall::none);
            break;
        }
        d.had_no_space();
        if (posix::may_stall(o))
            set_stalled(d, stall::echoes);
        break;
    case kind::connect: d.was_connected(a); break;
    case kind::accept:
        if (has_to_wait(a))
            d.had_nothing_to_accept();
        else if (o.result.error == 0)
            table_.keep_accepted(o, d);
        else if (is_shortage(o.result.error))
            set_starved(d, true);
        break;
    case kind::wait_read:
    case kind::wait_write:
    case kind::wait_error: break;
    }
    return !has_to_wait(a);
}
attempt epoll_reactor::read_on(descriptor& d, attempt a, io_op& o) noexcept {
    if (!d.goes_on_after_short_read())
        return a;
    do {
        count_system_call();
        a = posix::once(d.fd.load(std::memory_order_relaxed), o);
    } while (a == attempt::paused);
    return a;
}

void epoll_reactor::run_waits(descriptor& d) noexcept {
    d.waits.for_each([&](op& each) {
        auto& o = static_cast<io_op&>(each);
        if (try_on(d, o)) {
            op_queue::unlink(o);
            complete(o);
        }
    });
}

// ---- what is watched

int epoll_reactor::watch(descriptor& d, bool for_space) noexcept {
    constexpr std::uint32_t to_read = EPOLLIN | EPOLLRDHUP | EPOLLPRI;
    auto const events = for_space ? to_read | EPOLLOUT : to_read;
    auto const mark = descriptor_table::handle_of(d).packed();
    int const fd = d.fd.load(std::memory_order_relaxed);
    int const e = d.is_watched() ? set_.change(fd, events, mark) : set_.add(fd, events, mark);
    if (!e)
        d.watch(for_space);
    return e;
}
int epoll_reactor::forget(descriptor& d) noexcept {
    auto const only = hold(d);
    abort_all(d);
    set_stalled(d, stall::none);
    set_starved(d, false);
    if (d.is_watched()) // A copy of the descriptor elsewhere would keep the registration alive after close().
        set_.remove(d.fd.load(std::memory_order_relaxed));
    shortage_.end(); // An acceptor that waits for space may try again.
    return table_.remove(d);
}
/// From the first signal set on this loop hears of all signals. Never read, like the wake-up.
int epoll_reactor::watch_signals() noexcept {
    if (watches_signals_.load(std::memory_order_acquire))
        return 0;
    int const fd = signal_hub::of_process().wake_fd();
    if (fd < 0)
        return -fd;
    if (int const e = set_.add(fd, EPOLLIN, signal_mark); e && e != EEXIST)
        return e;
    watches_signals_.store(true, std::memory_order_release);
    return 0;
}
/// The child asks anew for all that it waits for, and is told again of what is ready.
outcome epoll_reactor::notify_fork(execution_context::fork_event event) noexcept {
    if (event != execution_context::fork_child)
        return {0, 0};
    if (int const e = set_.open())
        return {e, 0};
    int error = 0;
    table_.for_each([&](descriptor& d) {
        if (!d.is_watched())
            return true;
        d.unwatch();
        if (int const e = watch(d, d.is_watched_for_space()))
            error = e;
        return true;
    });
    if (watches_signals_.exchange(false, std::memory_order_relaxed))
        if (int const e = watch_signals())
            error = e;
    return {error, 0};
}

// ---- events

/// The reactor, as late_checks sees it.
template <bool Shared> class epoll_reactor::port {
    struct nothing {
        ~nothing() {} // A variable of it is used.
    };

public:
    static constexpr bool has_helpers = Shared;

    explicit port(epoll_reactor& r) noexcept : r_(r) {}
    int look(std::int64_t until_ns) noexcept { return r_.harvest<Shared>(until_ns); }
    auto lists() noexcept {
        if constexpr (Shared)
            return std::lock_guard(r_.lists_);
        else
            return nothing();
    }
    auto hold(readiness& which) noexcept {
        if constexpr (Shared)
            return std::lock_guard(static_cast<descriptor&>(which).lock);
        else
            return nothing();
    }
    static bool is_read_waited_for(readiness& which) noexcept { return !static_cast<descriptor&>(which).reads.empty(); }
    bool run_reads(readiness& which) noexcept {
        auto& d = static_cast<descriptor&>(which);
        return r_.run_waiting(d, d.reads, Shared);
    }
    static std::int64_t now_ns() noexcept { return posix::monotonic_ns(); }

private:
    epoll_reactor& r_;
};

template <bool Shared> void epoll_reactor::poll_as(std::int64_t until_ns) noexcept {
    count_turn<Shared>();
    if ((stall_.count() | shortage_.count()) != 0) [[unlikely]]
        until_ns = retry_paused(until_ns);
    port<Shared> self(*this);
    checks_.poll(self, until_ns);
}
/// Returns the number of events (wake-ups included).
template <bool Shared> int epoll_reactor::harvest(std::int64_t until_ns) noexcept {
    count_system_call(Shared);
    epoll_event events[events_most];
    int const n = until_ns == late_checks::for_a_moment
                      ? set_.wait_ms(events, events_most, static_cast<int>(late_checks::moment_ns / 1'000'000))
                      : set_.wait(events, events_most, until_ns);
    if (n < 0 && errno != EINTR) [[unlikely]] // A loop that went on would only turn, and nothing would ever happen.
        fairlead::impl::base::system_call_refused("epoll_wait", errno);
    for (int i = 0; i < n; ++i) {
        auto const mark = events[i].data.u64;
        if (mark >= signal_mark) [[unlikely]] {
            if (mark == signal_mark)
                signal_hub::of_process().dispatch();
            continue;
        }
        auto const h = handle::unpacked(mark);
        descriptor& d = table_.at(h.index);
        // Closed in this very batch, perhaps with a new tenant: the event is not for whoever lives here now.
        if (!d.is_of(h))
            continue;
        if constexpr (Shared)
            spread(d, events[i]);
        else
            happened(d, events[i].events, false);
    }
    return n;
}

// ---- pauses: what waits for one stands at the front of the table's list

void epoll_reactor::set_stalled(descriptor& d, stall to) noexcept {
    if (d.stalled() == to)
        return;
    auto const only = hold_lists();
    if (d.stalled() == stall::none) {
        if (!stall_.any()) {
            stall_.shorten();
            stall_.lengthen(posix::monotonic_ns());
        }
        stall_.add();
        table_.move(d, true);
    } else if (to == stall::none) {
        stall_.remove();
        table_.move(d, false);
    }
    d.set_stalled(to);
}
void epoll_reactor::set_starved(descriptor& d, bool to) noexcept {
    if (!d.is_starved() && !to)
        return;
    auto const only = hold_lists();
    if (to)
        shortage_.lengthen(posix::monotonic_ns());
    if (d.is_starved() != to) {
        if (to)
            shortage_.add();
        else
            shortage_.remove();
        table_.move(d, to);
    }
    d.set_starved(to);
}
/// Returns until when one may wait now.
std::int64_t epoll_reactor::retry_paused(std::int64_t until_ns) noexcept {
    if (stall_.any())
        until_ns = retry_stalled(until_ns);
    if (shortage_.any())
        until_ns = retry_starved(until_ns);
    return until_ns;
}
std::int64_t epoll_reactor::retry_stalled(std::int64_t until_ns) noexcept {
    auto const now = posix::monotonic_ns();
    if (!stall_.is_over(now))
        return stall_.limit(until_ns);
    bool any = false;
    table_.for_each([&](descriptor& d) {
        auto const only = hold(d);
        if (d.stalled() != stall::none) {
            set_stalled(d, d.writes.empty() ? stall::none : stall::waits);
            d.retry_after_stall();
            any = run_waiting(d, d.writes) || any;
            return true;
        }
        return d.is_paused();
    });
    if (any)
        stall_.shorten();
    stall_.lengthen(now);
    return any ? 0 : stall_.any() ? stall_.limit(until_ns) : until_ns;
}
/// The error has been reported. The next accept waits for the end of the pause, or until something is closed here.
std::int64_t epoll_reactor::retry_starved(std::int64_t until_ns) noexcept {
    auto const now = posix::monotonic_ns();
    if (!shortage_.is_over(now))
        return shortage_.limit(until_ns);
    bool any = false;
    table_.for_each([&](descriptor& d) {
        auto const only = hold(d);
        if (d.is_starved()) {
            set_starved(d, false);
            d.retry_after_shortage();
            any = run_waiting(d, d.reads) || any;
            return true;
        }
        return d.is_paused();
    });
    if (!shortage_.any())
        shortage_.shorten();
    return any ? 0 : until_ns;
}

// ---- several threads

bool epoll_reactor::ready_shared(handle h, kind k, std::size_t size) noexcept {
    descriptor* const d = table_.find(h);
    if (!d)
        return false;
    auto const only = hold(*d);
    return is_ready(*d, k, size);
}
bool epoll_reactor::try_shared(io_op& o) noexcept {
    descriptor* const d = table_.find(o.handle);
    if (!d)
        return false;
    auto const only = hold(*d);
    return d->is_of(o.handle) && try_first(*d, o, true);
}
void epoll_reactor::submit_shared(io_op& o) noexcept {
    pending_shared_.fetch_add(1, std::memory_order_relaxed);
    descriptor* const d = table_.find(o.handle);
    if (!d) [[unlikely]]
        return complete_with(o, EBADF);
    prepare(*d, o);
    auto const only = hold(*d);
    if (!d->is_of(o.handle)) [[unlikely]]
        return complete_with(o, EBADF);
    submit_in_general(*d, o);
}
void epoll_reactor::complete_shared(io_op& o) noexcept {
    pending_shared_.fetch_sub(1, std::memory_order_relaxed);
    loop_->post(o);
}
void epoll_reactor::list_shared(descriptor& d) noexcept {
    bool is_first;
    {
        std::lock_guard const only(lists_);
        is_first = checks_.add(d);
    }
    if (is_first) // Else the owner does not sleep for long.
        loop_->wake_if_asleep();
}
void epoll_reactor::unlist_shared(descriptor& d) noexcept {
    std::lock_guard const only(lists_);
    late_checks::remove(d);
}
template <bool Shared> void epoll_reactor::count_turn() noexcept {
    if constexpr (Shared) {
        std::lock_guard const only(lists_);
        auto const now = posix::monotonic_ns();
        if (now - turn_began_ns_ < turn_of_several_ns)
            return;
        turn_began_ns_ = now;
        checks_.count_turn();
    } else {
        checks_.count_turn();
    }
}
/// The thread that comes to it makes the attempt, while the loop goes on. Owner.
void epoll_reactor::spread(descriptor& d, epoll_event const& e) noexcept {
    news* const told = news_.of(d, this, &run_news);
    if (!told) [[unlikely]] { // no memory
        auto const only = hold(d);
        return happened(d, e.events, true);
    }
    if (news_.add(*told, {handle::unpacked(e.data.u64).generation, e.events}))
        loop_->push(*told);
}
void epoll_reactor::run_news(op* base, op_mode mode) {
    auto& self = *static_cast<news*>(base);
    fairlead::impl::exec::section const s;
    static_cast<epoll_reactor*>(self.reactor)->attend(self, mode);
}
[[gnu::noinline]] void epoll_reactor::attend(news& told, op_mode mode) noexcept {
    ++fairlead::impl::exec::this_thread.item.functions;
    auto& d = *told.of;
    {
        auto const only = hold(d);
        auto const heard = tenant_events::unpacked(told.events.exchange(0, std::memory_order_acq_rel));
        if (mode == op_mode::complete && d.is_open() && d.is_of({d.index, heard.generation}))
            happened(d, heard.events, true);
    }
    news_.heard();
}

/// A base of the driver, so that the parts are there before it.
struct epoll_parts {
    epoll_reactor of_ops;
    kernel_descriptors doors{of_ops.table(), of_ops.modes(), of_ops};
    kernel_host here{of_ops};

    explicit epoll_parts(fairlead::impl::exec::context_memory* memory) : of_ops(memory) {}
};

class epoll_driver final : epoll_parts, public driver, public fairlead::impl::exec::in_context_memory {
public:
    explicit epoll_driver(fairlead::impl::exec::context_memory* memory)
        : epoll_parts(memory),
          driver(of_ops, doors, here) {}
};

} // namespace

fairlead::impl::base::owned<driver> make_driver(fairlead::impl::exec::context_memory_ref const& memory) {
    return fairlead::impl::base::owned<driver>(new (memory) epoll_driver(memory.get()));
}

} // namespace fairlead::io
