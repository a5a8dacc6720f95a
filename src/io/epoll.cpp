// The epoll driver: readiness is remembered per descriptor and direction, and asked for as rarely as can be.
//
// Registration is edge-triggered, so an event comes once for what is new. What is known:
//   write side   ready until a send takes less than offered.
//   read side    not ready until an event says so; a read that filled less than its buffer has drained the socket.
// A read that filled its buffer exactly proves nothing. Trying again would mostly cost a useless system call, not
// trying could wait for ever, because data that was already there makes no new edge. Such a descriptor is *unverified*:
// the next wait parks its op and puts the descriptor on a list; an event takes it off; what no event has confirmed
// after three turns, or when the loop is about to sleep, gets one verifying call. When that finds something, the socket
// has a backlog: it stays ready, until an attempt finds nothing. A socket that never had one pays nothing for it.
// Among many sockets in turn three turns pass before the next event: there a turn verifies a few, and more of them only
// as long as that is worth it.
// On a UNIX socket a short read has drained it unless the peer passed a descriptor: a read ends there, whatever
// follows. recvmsg(2) would tell, but costs a tenth more for every read. So such a socket is *doubtful*: when the loop
// has slept for a moment without any event, or turned many times without one from it, it gets its verifying call.
//
// Several threads may run the loop. Then the driver is shared: each descriptor is locked while somebody looks at it.
// News of a descriptor are an item of the queue, so that several threads make attempts at once.
//
// Of datagrams a read says nothing but that there was one: only EAGAIN means that none is left. Asking for it after
// each would add a useless call where they come one by one; leaving the socket unverified after each would add one
// where they come in bursts. So what stood behind the last one decides. Full reads of a stream and datagrams are alike
// in that: something_was_read().
#include <fairlead/base/assert.hpp>

#include <fairlead/exec/loop.hpp>
#include <fairlead/io/driver.hpp>

#include <io/machine.hpp>
#include <io/posix.hpp>
#include <io/signals.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace fairlead::io {
namespace {

constexpr int events_most = 256;
constexpr unsigned verify_after_turns = 3;
constexpr std::size_t verified_least = 4; // in one turn, while others have news: a system call in vain for each
constexpr std::size_t verified_most = 256;
constexpr unsigned doubt_after_turns = 1000;
constexpr int moment_ms = 1; // that the loop sleeps before it doubts
constexpr std::int64_t moment_of_several_ns = 50'000;
constexpr std::int64_t turn_of_several_ns = 1'000'000; // at least, because each of the threads looks for news
constexpr std::int64_t stall_least_ns = 20'000;        // doubled with each attempt in vain
constexpr std::int64_t stall_most_ns = 1'000'000;
constexpr std::int64_t pause_least_ns = 5'000'000; // doubled with each attempt in vain
constexpr std::int64_t pause_most_ns = 100'000'000;

/// A transfer with buffers that are empty.
bool moves_nothing(io_op const& o) noexcept {
    if (o.kind != kind::receive && o.kind != kind::receive_all && o.kind != kind::send && o.kind != kind::send_all)
        return false;
    if (!o.slices)
        return o.size == 0;
    auto const* s = static_cast<slice const*>(o.data);
    return std::all_of(s, s + o.size, [](slice const& each) { return each.size == 0; });
}

bool is_connecting(op_queue& writes) noexcept {
    bool found = false;
    writes.for_each([&](op& each) { found = found || static_cast<io_op&>(each).kind == kind::connect; });
    return found;
}

/// The process, or the system, has no room for another descriptor. That passes, but nothing tells when.
bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

/// What a descriptor is, for the table.
struct nature {
    bool stream;
    io::medium medium;
};
nature nature_of_socket(int family, int type) noexcept {
    bool const stream = type == SOCK_STREAM;
    return {stream, stream && family == AF_UNIX ? medium::unix_stream : medium::socket};
}

struct verify_link {
    verify_link* next = nullptr;
    verify_link* prev = nullptr;
};

/// Has a read left something behind that makes no event?
enum class doubt : std::uint8_t { none, slight, strong };

/// The receiver of a UNIX datagram had no room, and perhaps no event will tell when it has. But the failed attempt
/// itself makes an event, because it took memory for the datagram and gave it back: the next event is taken for that
/// echo.
enum class stall : std::uint8_t { none, echoes, waits };

/// Whether calls of others on a descriptor wait. As with Asio they do until the first asynchronous operation; but a
/// descriptor is made so only when somebody asks for it, and never for those who do not.
enum class native_mode : std::uint8_t {
    not_asked_for, ///< it does not wait, and nobody has seen it
    blocking,
    non_blocking,
};

class epoll_driver;
struct descriptor;

/// News of a descriptor whose loop several threads run. The one that runs this attends to them.
struct news : op {
    epoll_driver* driver;
    descriptor* of;
    std::atomic<std::uint64_t> events{0}; ///< with the generation that they are of; 0: the op is in no queue
};

struct descriptor : verify_link {
    std::atomic<int> fd{-1};
    std::atomic<std::uint32_t> generation{0};
    bool registered = false;
    bool watches_writes = false;
    bool stream = false;
    bool plain = false; ///< a stream socket: one buffer is moved by one recv or send
    io::medium medium = io::medium::socket;
    bool always_ready = false; ///< the system refuses to watch it, and it never waits
    /// The system's mode is changed under native_mutex_ only. The first asynchronous operation leaves not_asked_for
    /// without it, so whoever asks at that moment finds the descriptor as it is from then on.
    std::atomic<native_mode> native{native_mode::not_asked_for};
    // Written by the thread that uses the descriptor and by the loop's owner; never by both at a time that matters, but
    // an event may arrive while another thread closes.
    std::atomic<bool> read_ready{false};
    std::atomic<bool> write_ready{true};
    /// A short read has not drained it. A stream: the peer has finished or the connection broke, and reading always
    /// says something. Datagrams: always.
    std::atomic<bool> reads_on{false};
    io::doubt doubt = io::doubt::none; ///< slight: doubtful, strong: unverified
    io::doubt after_short_read = io::doubt::none;
    unsigned parked_turn = 0;
    std::uint32_t index = 0;
    std::uint32_t next_free = handle::none;
    bool urgent = false;    ///< out-of-band data has been seen: reads stop short at its mark
    bool bursts = false;    ///< the last time there was something behind the first datagram, or the first full read
    std::uint8_t taken = 0; ///< datagrams or full reads since one found nothing; counts to 2
    io::stall stalled = io::stall::none;
    bool starved = false;              ///< accepting found no room for a new descriptor: tried again after a pause
    fairlead::detail::short_lock lock; ///< while the loop is shared
    op_queue reads;
    op_queue writes;
    op_queue waits; ///< for readiness: they neither hold up transfers nor are held up

    bool listed() const noexcept { return next != nullptr; }
};
static_assert(sizeof(descriptor) <= 104, "each idle connection takes one");

using posix::monotonic_ns;

outcome failed(int e) noexcept { return {e, 0}; }
outcome done(std::int64_t v = 0) noexcept { return {0, v}; }
outcome from(long r) noexcept { return r < 0 ? failed(errno) : done(r); }

class epoll_driver final : public reactor,
                           public descriptors,
                           public driver,
                           signal_watcher,
                           public fairlead::detail::in_context_memory {
public:
    explicit epoll_driver(fairlead::detail::context_memory* memory)
        : driver(*this, *this, machine_),
          chunk_memory_(memory),
          news_memory_(memory),
          table_memory_(memory) {
        if (int const e = open_set())
            detail::throw_error({e, error::get_system_category()}, "epoll_create1");
        unverified_.next = unverified_.prev = &unverified_;
        doubtful_.next = doubtful_.prev = &doubtful_;
    }
    ~epoll_driver() override {
        for (std::size_t c = 0; c != chunks_most; ++c) {
            descriptor* chunk = chunks_[c].load(std::memory_order_acquire);
            if (!chunk)
                break;
            for (std::size_t i = 0; i != chunk_size; ++i)
                if (int const fd = chunk[i].fd.load(std::memory_order_relaxed); fd >= 0)
                    ::close(fd);
            std::destroy_n(chunk, chunk_size);
            chunk_memory_.deallocate(chunk, chunk_size);
            if (news_of_chunks_ && news_of_chunks_[c])
                news_memory_.deallocate(news_of_chunks_[c], chunk_size); // There is nothing to destroy.
        }
        if (news_of_chunks_)
            table_memory_.deallocate(news_of_chunks_, chunks_most);
        ::close(wake_);
        ::close(epoll_);
    }

    void attach(loop& l) noexcept override { loop_ = &l; }
    reactor_counters counters() const noexcept override {
        return {verifications_, system_calls_ + system_calls_shared_.load(std::memory_order_relaxed)};
    }

    // ---- asynchronous verbs

    bool share(bool on) noexcept override {
        if (on)
            is_shared_ = has_place_for_news();
        else if (news_.load(std::memory_order_acquire) == 0)
            is_shared_ = false;
        return is_shared_;
    }

    void submit(io_op& o) noexcept override {
        if (is_shared_) [[unlikely]]
            return submit_shared(o);
        ++pending_;
        descriptor* const d = find(o.handle);
        if (!d) [[unlikely]]
            return complete_with(o, EBADF);
        prepare(*d, o);
        // What nearly every operation is, by the shortest way: a read that has to wait, a write that need not.
        if (d->plain && !o.slices && o.size != 0) [[likely]] {
            if (o.kind == kind::receive && d->registered && !d->read_ready.load(std::memory_order_relaxed)) [[likely]]
                return park(*d, d->reads, o);
            if (is_stream_send(o.kind) && d->writes.empty() && d->write_ready.load(std::memory_order_relaxed) &&
                try_on(*d, o, false)) [[likely]]
                return complete(o, false);
        }
        submit_in_general(*d, o);
    }

    bool ready(handle h, kind k, std::size_t size) noexcept override {
        if (is_shared_) [[unlikely]]
            return ready_shared(h, k, size);
        descriptor const* const d = find(h);
        return d && is_ready(*d, k, size);
    }

    bool try_now(io_op& o) noexcept override {
        if (is_shared_) [[unlikely]]
            return try_shared(o);
        descriptor* const d = find(o.handle);
        return d && try_first(*d, o, false);
    }

    bool cancel(io_op& o) noexcept override {
        descriptor* const d = find(o.handle);
        if (!d)
            return false;
        auto const only = hold(*d);
        bool found = false;
        queue_of(*d, o.kind).for_each([&](op& each) { found = found || &each == &o; });
        if (!found)
            return false;
        op_queue::unlink(o);
        unlist_if_idle(*d);
        complete_with(o, ECANCELED);
        return true;
    }

    bool cancel(handle h, void* ticket) noexcept override {
        descriptor* const d = find(h);
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

    std::size_t cancel_all(handle h) noexcept override {
        descriptor* const d = find(h);
        if (!d)
            return 0;
        auto const only = hold(*d);
        return abort_all(*d);
    }

    void poll(std::int64_t until_ns) noexcept override {
        if (is_shared_) [[unlikely]]
            poll_shared(until_ns);
        else
            poll_as<false>(until_ns);
    }
    /// The case of a loop with one thread has nothing of the other.
    template <bool Shared> void poll_as(std::int64_t until_ns) noexcept {
        count_turn<Shared>();
        if ((stalled_.load(std::memory_order_relaxed) | starved_.load(std::memory_order_relaxed)) != 0) [[unlikely]] {
            if (stalled_ != 0)
                until_ns = retry_stalled(until_ns);
            if (starved_ != 0)
                until_ns = retry_starved(until_ns);
        }
        if (any_in(Shared, unverified_)) {
            // Of whichever: others must not keep these waiting. Where other threads are at work, their peers' answers
            // are on the way.
            bool const has_news = harvest<Shared>(Shared && until_ns != 0 ? in_a_moment(until_ns) : 0) > 0;
            bool const about_to_sleep = !has_news && until_ns != 0;
            bool any = about_to_sleep ? verify(unverified_, 0) != 0 : verify_overdue();
            if (any_in(Shared, doubtful_)) [[unlikely]]
                any = long_doubted_had_something() || any;
            if (any || !about_to_sleep)
                return;
        }
        if (any_in(Shared, doubtful_)) {
            if (long_doubted_had_something()) {
                harvest<Shared>(0);
                return;
            }
            if (until_ns != 0) {
                bool const for_long = until_ns < 0 || until_ns - monotonic_ns() > moment_ms * 1'000'000;
                if (harvest<Shared>(for_long ? for_a_moment : until_ns) == 0)
                    verify(doubtful_, 0);
                return;
            }
        }
        harvest<Shared>(until_ns);
    }

    std::size_t pending() const noexcept override { return pending_ + pending_shared_.load(std::memory_order_relaxed); }

    void take_pending(op_queue& into) noexcept override {
        for_each_descriptor([&](descriptor& d) {
            auto const only = hold(d);
            into.splice_back(d.reads);
            into.splice_back(d.writes);
            into.splice_back(d.waits);
            unlist(d);
        });
        pending_ = 0;
        pending_shared_.store(0, std::memory_order_relaxed);
    }

    // ---- any thread

    void wake() noexcept override {
        std::uint64_t const one = 1;
        ssize_t const r = posix::restarted([&] { return ::write(wake_, &one, sizeof one); });
        if (r < 0) [[unlikely]] // after 2^64 - 2 wake-ups at the soonest; a lost one would be waited for without a word
            fairlead::detail::system_call_refused("write (eventfd)", static_cast<int>(-r));
    }
    // ---- synchronous doors

    outcome open(int family, int type, int protocol, handle& h) noexcept override {
        int const fd = ::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
        if (fd < 0)
            return failed(errno);
        return keep(fd, nature_of_socket(family, type), h);
    }
    outcome pair(int family, int type, int protocol, handle& a, handle& b) noexcept override {
        int fds[2];
        if (::socketpair(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol, fds) != 0)
            return failed(errno);
        return keep_both(fds, nature_of_socket(family, type), a, b);
    }
    outcome pipe(handle& reads, handle& writes) noexcept override {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
            return failed(errno);
        return keep_both(fds, {true, medium::pipe}, reads, writes);
    }
    outcome adopt(int fd, handle& h) noexcept override {
        int const flags = ::fcntl(fd, F_GETFL);
        if (flags < 0)
            return failed(errno);
        if (!(flags & O_NONBLOCK) && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
            return failed(errno);
        nature what{true, medium::file};
        if (int const e = look_at(fd, flags, what))
            return failed(e);
        std::uint32_t const place = take_place();
        if (place == handle::none)
            return failed(ENOMEM);
        h = occupy(place, fd, what);
        descriptor& d = at(place);
        if (flags & O_NONBLOCK) // It stays as its owner had it.
            d.native.store(native_mode::non_blocking, std::memory_order_relaxed);
        if (what.medium <= medium::unix_stream)
            return done();
        // Whether the system watches it at all shows only in trying.
        int const e = watch(d, false);
        if (e == EPERM) {
            d.always_ready = true;
            d.read_ready.store(true, std::memory_order_relaxed);
            d.reads_on.store(true, std::memory_order_relaxed);
        } else if (e) {
            vacate(d);
            h = {};
            return failed(e);
        }
        return done();
    }
    void discard(int fd) noexcept override { ::close(fd); }
    outcome release(handle h) noexcept override {
        descriptor* const d = find(h);
        if (!d)
            return failed(EBADF);
        int const fd = vacate(*d);
        return done(fd);
    }
    outcome close(handle h) noexcept override {
        descriptor* const d = find(h);
        if (!d)
            return failed(EBADF);
        int const fd = vacate(*d);
        resume_at_ns_.store(0, std::memory_order_relaxed); // Whoever waits for room for a descriptor may try again.
        // EINTR: Linux has closed the descriptor all the same.
        if (::close(fd) != 0 && errno != EINTR)
            return failed(errno);
        return done();
    }
    outcome bind(handle h, void const* address, std::size_t size) noexcept override {
        return on(
            h, [&](int fd) { return ::bind(fd, static_cast<sockaddr const*>(address), static_cast<socklen_t>(size)); });
    }
    outcome listen(handle h, int backlog) noexcept override {
        return on(h, [&](int fd) { return ::listen(fd, backlog); });
    }
    outcome shutdown(handle h, int how) noexcept override {
        return on(h, [&](int fd) { return ::shutdown(fd, how); });
    }
    outcome set_option(handle h, int level, int name, void const* data, std::size_t size) noexcept override {
        return on(h, [&](int fd) { return ::setsockopt(fd, level, name, data, static_cast<socklen_t>(size)); });
    }
    outcome get_option(handle h, int level, int name, void* data, std::size_t size) noexcept override {
        auto length = static_cast<socklen_t>(size);
        auto r = on(h, [&](int fd) { return ::getsockopt(fd, level, name, data, &length); });
        r.value = length;
        return r;
    }
    outcome address(handle h, name_of which, void* data, std::size_t capacity) noexcept override {
        auto length = static_cast<socklen_t>(capacity);
        auto* a = static_cast<sockaddr*>(data);
        auto r = on(h, [&](int fd) {
            return which == name_of::local ? ::getsockname(fd, a, &length) : ::getpeername(fd, a, &length);
        });
        r.value = length;
        return r;
    }
    outcome available(handle h) noexcept override {
        int n = 0;
        auto r = on(h, [&](int fd) { return ::ioctl(fd, FIONREAD, &n); });
        r.value = n;
        return r;
    }
    outcome control(handle h, unsigned long command, void* data) noexcept override {
        return on(h, [&](int fd) { return ::ioctl(fd, command, data); });
    }
    outcome native_blocking(handle h, bool blocking) noexcept override {
        descriptor* const d = find(h);
        if (!d)
            return failed(EBADF);
        std::lock_guard lock(native_mutex_);
        auto const wanted = blocking ? native_mode::blocking : native_mode::non_blocking;
        auto const before = d->native.exchange(wanted, std::memory_order_relaxed);
        if ((before == native_mode::blocking) == blocking)
            return done();
        auto const r = set_blocking(*d, blocking);
        if (r.error)
            d->native.store(before, std::memory_order_relaxed);
        return r;
    }
    bool is_native_blocking(handle h) noexcept override {
        descriptor const* const d = find(h);
        return d && d->native.load(std::memory_order_relaxed) != native_mode::non_blocking;
    }
    int native(handle h) noexcept override {
        descriptor* const d = find(h);
        if (!d)
            return -1;
        if (d->native.load(std::memory_order_relaxed) == native_mode::not_asked_for) {
            std::lock_guard lock(native_mutex_);
            auto mode = native_mode::not_asked_for;
            if (d->native.compare_exchange_strong(mode, native_mode::blocking, std::memory_order_relaxed))
                set_blocking(*d, true);
        }
        return d->fd.load(std::memory_order_relaxed);
    }

    void perform(io_op& o, bool may_wait) noexcept override {
        descriptor* const d = find(o.handle);
        if (!d) {
            o.result.error = EBADF;
            return;
        }
        o.stream = d->stream;
        o.medium = d->medium;
        int const fd = d->fd.load(std::memory_order_relaxed);
        for (bool first = true;; first = false) {
            if (!posix::has_to_wait(posix::once(fd, o))) {
                if (o.kind == kind::accept && o.result.error == 0)
                    adopt_accepted(o, *d);
                return;
            }
            if (!may_wait) {
                o.result.error = EAGAIN;
                return;
            }
            if (!first && posix::poll_misled(fd, o))
                return;
            ssize_t const r = posix::poll_one(fd, posix::poll_events(o.kind), -1);
            if (r < 0) {
                o.result.error = static_cast<int>(-r);
                return;
            }
        }
    }
    outcome notify_fork(execution_context::fork_event event) noexcept override {
        if (event != execution_context::fork_child)
            return done();
        // Both are shared with the parent as long as they are open, and what is done to the set is done to the
        // parent's. The child asks anew for all that it waits for, and is told again of what is ready.
        int const old_set = epoll_;
        int const old_wake = wake_;
        if (int const e = open_set()) {
            epoll_ = old_set;
            wake_ = old_wake;
            return failed(e);
        }
        ::close(old_wake);
        ::close(old_set);
        int error = 0;
        for_each_descriptor([&](descriptor& d) {
            if (!std::exchange(d.registered, false))
                return;
            if (int const e = watch(d, d.watches_writes))
                error = e;
        });
        if (watches_signals_.exchange(false, std::memory_order_relaxed))
            if (int const e = watch_signals())
                error = e;
        return error ? failed(error) : done();
    }

private:
    /// While the loop is shared, nobody else holds what this one locks. Otherwise it does nothing.
    class held {
    public:
        held(bool is_shared, fairlead::detail::short_lock& l) noexcept : lock_(is_shared ? &l : nullptr) {
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
        fairlead::detail::short_lock* const lock_;
    };
    held hold(descriptor& d) const noexcept { return {is_shared_, d.lock}; }
    /// For what belongs to all descriptors.
    held lock_if_shared() noexcept { return {is_shared_, lists_}; }
    static std::int64_t in_a_moment(std::int64_t until_ns) noexcept {
        auto const moment = monotonic_ns() + moment_of_several_ns;
        return until_ns < 0 ? moment : std::min(until_ns, moment);
    }
    /// Out of line, so that a loop with one thread has short ways.
    template <class F> [[gnu::noinline]] auto with_lists(F f) noexcept {
        std::lock_guard const only(lists_);
        return f();
    }
    FAIRLEAD_ALWAYS_INLINE bool any_in(bool shared, verify_link const& list) noexcept {
        auto const any = [&list] { return list.next != &list; };
        return shared ? with_lists(any) : any();
    }
    static bool is_ready(descriptor const& d, kind k, std::size_t size) noexcept {
        if (is_write(k))
            return d.writes.empty() && d.write_ready.load(std::memory_order_relaxed);
        return d.reads.empty() && (d.read_ready.load(std::memory_order_relaxed) || (size == 0 && d.stream));
    }
    FAIRLEAD_ALWAYS_INLINE bool try_first(descriptor& d, io_op& o, bool shared) noexcept {
        if (!queue_of(d, o.kind).empty())
            return false;
        prepare(d, o);
        return try_on(d, o, shared);
    }

    [[gnu::noinline]] void poll_shared(std::int64_t until_ns) noexcept { poll_as<true>(until_ns); }
    /// These by any thread with a share of the loop.
    [[gnu::noinline]] bool ready_shared(handle h, kind k, std::size_t size) noexcept {
        descriptor* const d = find(h);
        if (!d)
            return false;
        auto const only = hold(*d);
        return is_ready(*d, k, size);
    }
    [[gnu::noinline]] bool try_shared(io_op& o) noexcept {
        descriptor* const d = find(o.handle);
        if (!d)
            return false;
        auto const only = hold(*d);
        return d->generation.load(std::memory_order_relaxed) == o.handle.generation && try_first(*d, o, true);
    }
    [[gnu::noinline]] void submit_shared(io_op& o) noexcept {
        pending_shared_.fetch_add(1, std::memory_order_relaxed);
        descriptor* const d = find(o.handle);
        if (!d) [[unlikely]]
            return complete_with(o, EBADF);
        prepare(*d, o);
        auto const only = hold(*d);
        if (d->generation.load(std::memory_order_relaxed) != o.handle.generation) [[unlikely]]
            return complete_with(o, EBADF);
        submit_in_general(*d, o);
    }

    static constexpr std::uint64_t wake_mark = ~std::uint64_t{0};
    static constexpr std::uint64_t signal_mark = wake_mark - 1;
    static constexpr std::size_t chunk_size = 256;
    static constexpr std::size_t chunks_most = 8192; // two million descriptors

    /// Makes the set and what wakes its waiter up.
    int open_set() noexcept {
        int const set = ::epoll_create1(EPOLL_CLOEXEC);
        if (set < 0)
            return errno;
        int const waker = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        int e = waker < 0 ? errno : 0;
        if (!e) {
            // Edge-triggered, hence never read: each write is a new edge.
            epoll_event event{};
            event.events = EPOLLIN | EPOLLET;
            event.data.u64 = wake_mark;
            if (::epoll_ctl(set, EPOLL_CTL_ADD, waker, &event) != 0)
                e = errno;
        }
        // Refused now, the constructor says so. Later nobody could be told.
        epoll_event none;
        if (!e && posix::restarted([&] { return wait_ms(set, &none, 1, 0); }) < 0)
            e = errno;
        if (e) {
            if (waker >= 0)
                ::close(waker);
            ::close(set);
            return e;
        }
        epoll_ = set;
        wake_ = waker;
        return 0;
    }

    /// From the first signal set on this loop hears of all signals. Edge-triggered and never read, like the wake-up.
    int watch_signals() noexcept override {
        if (watches_signals_.load(std::memory_order_acquire))
            return 0;
        int const fd = signal_hub::of_process().wake_fd();
        if (fd < 0)
            return -fd;
        epoll_event event{};
        event.events = EPOLLIN | EPOLLET;
        event.data.u64 = signal_mark;
        if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0 && errno != EEXIST)
            return errno;
        watches_signals_.store(true, std::memory_order_release);
        return 0;
    }

    // ---- the table of descriptors: chunks that never move, because ops and events refer to their places

    descriptor& at(std::uint32_t index) noexcept {
        return chunks_[index / chunk_size].load(std::memory_order_acquire)[index % chunk_size];
    }
    descriptor* find(handle h) noexcept {
        if (!h.is_open())
            return nullptr;
        descriptor& d = at(h.index);
        return d.generation.load(std::memory_order_relaxed) == h.generation ? &d : nullptr;
    }
    template <class F> void for_each_descriptor(F f) noexcept {
        for (std::size_t c = 0; c != chunks_most; ++c) {
            descriptor* chunk = chunks_[c].load(std::memory_order_acquire);
            if (!chunk)
                return;
            for (std::size_t i = 0; i != chunk_size; ++i)
                if (chunk[i].fd.load(std::memory_order_relaxed) >= 0)
                    f(chunk[i]);
        }
    }
    /// Null: no memory.
    descriptor* make_chunk() noexcept {
        try {
            descriptor* const chunk = chunk_memory_.allocate(chunk_size);
            std::uninitialized_default_construct_n(chunk, chunk_size);
            return chunk;
        } catch (...) {
            return nullptr;
        }
    }
    std::uint32_t take_place() noexcept {
        std::lock_guard lock(table_mutex_);
        if (free_ == handle::none) {
            if (chunk_count_ == chunks_most)
                return handle::none;
            descriptor* const chunk = make_chunk();
            if (!chunk)
                return handle::none;
            auto const first = static_cast<std::uint32_t>(chunk_count_ * chunk_size);
            for (std::uint32_t i = 0; i != chunk_size; ++i) {
                chunk[i].index = first + i;
                chunk[i].next_free = i + 1 == chunk_size ? handle::none : first + i + 1;
            }
            chunks_[chunk_count_++].store(chunk, std::memory_order_release);
            free_ = first;
        }
        auto const place = free_;
        free_ = at(place).next_free;
        return place;
    }
    handle occupy(std::uint32_t place, int fd, nature what) noexcept {
        descriptor& d = at(place);
        d.registered = false;
        d.watches_writes = false;
        d.stream = what.stream;
        d.medium = what.medium;
        d.plain = what.stream && what.medium <= medium::unix_stream;
        d.always_ready = false;
        d.native.store(native_mode::not_asked_for, std::memory_order_relaxed);
        d.read_ready.store(false, std::memory_order_relaxed);
        d.write_ready.store(true, std::memory_order_relaxed);
        d.reads_on.store(!what.stream, std::memory_order_relaxed);
        d.doubt = doubt::none;
        d.after_short_read = what.medium == medium::unix_stream ? doubt::slight : doubt::none;
        d.bursts = false;
        d.taken = 0;
        d.urgent = false;
        d.fd.store(fd, std::memory_order_relaxed);
        return {place, d.generation.load(std::memory_order_relaxed)};
    }
    /// Owns fd from here on: it is closed when there is no place.
    outcome keep(int fd, nature what, handle& h) noexcept {
        auto const place = take_place();
        if (place == handle::none) {
            ::close(fd);
            return failed(ENOMEM);
        }
        h = occupy(place, fd, what);
        return done();
    }
    outcome keep_both(int const (&fds)[2], nature what, handle& a, handle& b) noexcept {
        if (auto r = keep(fds[0], what, a); r.error) {
            ::close(fds[1]);
            return r;
        }
        if (auto r = keep(fds[1], what, b); r.error) {
            close(a);
            a = {};
            return r;
        }
        return done();
    }
    static int look_at(int fd, int flags, nature& what) noexcept {
        struct stat s;
        if (::fstat(fd, &s) != 0)
            return errno;
        if (S_ISSOCK(s.st_mode)) {
            int type = 0, family = 0;
            socklen_t size = sizeof type;
            if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
                ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0)
                return errno;
            what = nature_of_socket(family, type);
        } else if (S_ISFIFO(s.st_mode) && !(flags & O_DIRECT)) { // With it, a read ends with each packet.
            what.medium = medium::pipe;
        }
        return 0;
    }
    void prepare(descriptor& d, io_op& o) noexcept {
        o.stream = d.stream;
        o.medium = d.medium;
        if (d.native.load(std::memory_order_relaxed) != native_mode::non_blocking) [[unlikely]]
            stop_blocking(d, o.kind);
    }
    /// Waiting for readiness leaves the mode alone, as with Asio.
    [[gnu::noinline]] void stop_blocking(descriptor& d, kind k) noexcept {
        if (is_wait(k))
            return;
        auto mode = native_mode::not_asked_for;
        if (d.native.compare_exchange_strong(mode, native_mode::non_blocking, std::memory_order_relaxed) ||
            mode == native_mode::non_blocking)
            return;
        std::lock_guard lock(native_mutex_);
        if (d.native.exchange(native_mode::non_blocking, std::memory_order_relaxed) == native_mode::blocking)
            set_blocking(d, false);
    }
    outcome set_blocking(descriptor const& d, bool on) noexcept {
        int non_blocking = !on;
        return from(::ioctl(d.fd.load(std::memory_order_relaxed), FIONBIO, &non_blocking));
    }
    int vacate(descriptor& d) noexcept {
        auto const only = hold(d);
        abort_all(d);
        unlist(d);
        set_stalled(d, stall::none);
        set_starved(d, false);
        int const fd = d.fd.load(std::memory_order_relaxed);
        if (d.registered) {
            // A copy of the descriptor elsewhere would keep the registration alive after close().
            epoll_event unused{};
            ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, &unused);
            d.registered = false;
        }
        d.fd.store(-1, std::memory_order_relaxed);
        d.generation.fetch_add(1, std::memory_order_relaxed);
        std::lock_guard lock(table_mutex_);
        d.next_free = free_;
        free_ = d.index;
        return fd;
    }
    template <class F> outcome on(handle h, F call) noexcept {
        descriptor const* const d = find(h);
        if (!d)
            return failed(EBADF);
        return from(call(d->fd.load(std::memory_order_relaxed)));
    }

    // ---- trying

    static bool is_wait(kind k) noexcept {
        return k == kind::wait_read || k == kind::wait_write || k == kind::wait_error;
    }
    static op_queue& queue_of(descriptor& d, kind k) noexcept {
        if (is_wait(k)) [[unlikely]]
            return d.waits;
        return is_write(k) ? d.writes : d.reads;
    }

    static io_op* op_with(descriptor& d, void* ticket) noexcept {
        io_op* found = nullptr;
        for (op_queue* q : {&d.reads, &d.writes, &d.waits})
            q->for_each([&](op& each) {
                if (fairlead::detail::has_ticket(each, ticket))
                    found = &static_cast<io_op&>(each);
            });
        return found;
    }

    static bool worth_trying(descriptor const& d, kind k) noexcept {
        if (k == kind::receive)
            return d.read_ready.load(std::memory_order_relaxed);
        if (k == kind::connect || is_wait(k))
            return true;
        return is_write(k) ? d.write_ready.load(std::memory_order_relaxed)
                           : d.read_ready.load(std::memory_order_relaxed);
    }

    static bool is_stream_send(kind k) noexcept { return k == kind::send || k == kind::send_all; }

    [[gnu::noinline]] void submit_in_general(descriptor& d, io_op& o) noexcept {
        op_queue& queue = queue_of(d, o.kind);
        if ((queue.empty() || &queue == &d.waits) && worth_trying(d, o.kind)) {
            if (try_on(d, o))
                return complete(o);
        }
        if (d.stream && moves_nothing(o)) [[unlikely]] // Never waits, as with Asio.
            return complete(o);
        if (o.kind == kind::connect && is_connecting(queue)) [[unlikely]]
            return complete_with(o, EALREADY);
        if (!d.registered || (is_write(o.kind) && !d.watches_writes)) [[unlikely]] {
            count_system_call();
            if (int const e = watch(d, is_write(o.kind)))
                return complete_with(o, e);
        }
        park(d, queue, o);
    }
    void park(descriptor& d, op_queue& queue, io_op& o) noexcept {
        queue.push_back(o);
        if (d.doubt != doubt::none && &queue == &d.reads)
            list(d);
    }

    /// Nearly always a plain socket gave something, or took all: the rest has its own place, to keep this short.
    bool try_on(descriptor& d, io_op& o) noexcept { return try_on(d, o, is_shared_); }
    FAIRLEAD_ALWAYS_INLINE bool try_on(descriptor& d, io_op& o, bool shared) noexcept {
        count_system_call(shared);
        return attempt(d, o);
    }
    bool attempt(descriptor& d, io_op& o) noexcept {
        int const fd = d.fd.load(std::memory_order_relaxed);
        if (d.plain && !o.slices && o.size != 0) [[likely]] {
            if (o.kind == kind::receive) {
                auto const a = posix::receive_one(fd, o);
                if (o.result.n == 0 || d.reads_on.load(std::memory_order_relaxed) || d.urgent || d.bursts ||
                    (o.message_flags & MSG_PEEK)) [[unlikely]]
                    return was_tried(d, a, o);
                d.read_ready.store(false, std::memory_order_relaxed);
                d.doubt = a == posix::attempt::done ? doubt::strong : d.after_short_read;
                return true;
            }
            if (is_stream_send(o.kind)) {
                auto const a = posix::send_one(fd, o);
                return a == posix::attempt::done || was_tried(d, a, o);
            }
        }
        return was_tried(d, posix::once_in_general(fd, o), o);
    }

    /// What follows from any attempt. Returns whether the op is done.
    [[gnu::noinline]] bool was_tried(descriptor& d, posix::attempt a, io_op& o) noexcept {
        if (posix::has_to_wait(a) && o.kind == kind::receive_all)
            a = read_on(d, a, o);
        bool const again = posix::has_to_wait(a);
        switch (o.kind) {
        case kind::receive:
        case kind::receive_all:
            if (d.stream)
                stream_was_read(d, a, o);
            else
                datagram_was_read(d, a, o);
            break;
        case kind::receive_from: datagram_was_read(d, a, o); break;
        case kind::send:
        case kind::send_all:
            if (a != posix::attempt::done && !d.always_ready)
                d.write_ready.store(false, std::memory_order_relaxed);
            break;
        case kind::send_to:
            if (!again) {
                set_stalled(d, stall::none);
                break;
            }
            d.write_ready.store(false, std::memory_order_relaxed);
            if (posix::may_stall(o))
                set_stalled(d, stall::echoes);
            break;
        case kind::connect: d.write_ready.store(!again, std::memory_order_relaxed); break;
        case kind::accept:
            if (again)
                d.read_ready.store(false, std::memory_order_relaxed);
            else if (o.result.error == 0)
                adopt_accepted(o, d);
            else if (is_shortage(o.result.error))
                set_starved(d, true);
            break;
        case kind::wait_read:
        case kind::wait_write:
        case kind::wait_error: break;
        }
        return !again;
    }

    /// A whole read stopped short. The end of the stream, or what follows urgent data, may be right behind what it got,
    /// and makes no edge of its own: goes on until there is really nothing.
    posix::attempt read_on(descriptor& d, posix::attempt a, io_op& o) noexcept {
        if (!d.urgent && !d.reads_on.load(std::memory_order_relaxed))
            return a;
        do {
            count_system_call();
            a = posix::once(d.fd.load(std::memory_order_relaxed), o);
        } while (a == posix::attempt::paused);
        return a;
    }

    static void stream_was_read(descriptor& d, posix::attempt a, io_op const& o) noexcept {
        if (posix::has_to_wait(a)) {
            d.reads_on.store(false, std::memory_order_relaxed); // if set, a stale mark, e.g. from before connect
            nothing_was_read(d);
            d.doubt = a == posix::attempt::paused ? d.after_short_read : doubt::none;
            return;
        }
        // The end comes again and again; an error says nothing of what may still be there; peeking takes nothing out,
        // nor does a read of no bytes.
        if (d.reads_on.load(std::memory_order_relaxed) || o.result.error || (o.message_flags & MSG_PEEK) ||
            o.result.n == 0)
            return;
        if (a == posix::attempt::done && !d.urgent) {
            something_was_read(d);
            return;
        }
        nothing_was_read(d); // behind what it got
        d.doubt = d.urgent ? doubt::strong : d.after_short_read;
    }

    /// Says what is now known of the read side, and learns. One by one: after a datagram, or a read that filled its
    /// buffer, the socket is unverified, and the next event or a late verification goes on. In bursts: it stays ready
    /// until nothing is found.
    static void something_was_read(descriptor& d) noexcept {
        if (d.taken < 2)
            ++d.taken;
        d.read_ready.store(d.bursts, std::memory_order_relaxed);
        d.doubt = d.bursts ? doubt::none : doubt::strong;
    }
    static void nothing_was_read(descriptor& d) noexcept {
        d.read_ready.store(false, std::memory_order_relaxed);
        d.doubt = doubt::none;
        if (d.taken < 2)
            d.bursts = false;
        d.taken = 0;
    }

    static void datagram_was_read(descriptor& d, posix::attempt a, io_op const& o) noexcept {
        if (posix::has_to_wait(a)) {
            nothing_was_read(d);
            return;
        }
        // A pending error (ICMP) stood before the datagrams, and peeking takes nothing out.
        if ((o.result.error && o.result.error != EMSGSIZE) || (o.message_flags & MSG_PEEK))
            return;
        something_was_read(d);
    }

    void adopt_accepted(io_op& o, descriptor const& acceptor) noexcept {
        handle h;
        if (auto r = keep(static_cast<int>(o.result.n), {acceptor.stream, acceptor.medium}, h); r.error) {
            o.result.error = r.error;
            o.result.n = 0;
            return;
        }
        o.result.n = std::size_t{h.generation} << 32 | h.index;
    }

    /// Registers what is to be told of a descriptor. Room to write is asked for only once a write has had to wait: with
    /// that in the mask, every read of the peer would make an event here. Changing the mask reports what is ready now.
    int watch(descriptor& d, bool writes) noexcept {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLET;
        if (writes)
            event.events |= EPOLLOUT;
        event.data.u64 = std::uint64_t{d.generation.load(std::memory_order_relaxed)} << 32 | d.index;
        if (::epoll_ctl(epoll_, d.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, d.fd.load(std::memory_order_relaxed),
                        &event) != 0)
            return errno;
        d.registered = true;
        d.watches_writes = writes;
        return 0;
    }

    void count_system_call() noexcept { count_system_call(is_shared_); }
    FAIRLEAD_ALWAYS_INLINE void count_system_call(bool shared) noexcept {
        if (shared) [[unlikely]]
            system_calls_shared_.fetch_add(1, std::memory_order_relaxed);
        else
            ++system_calls_;
    }
    template <bool Shared> void count_turn() noexcept {
        auto const only = held(Shared, lists_);
        if constexpr (Shared) {
            auto const now = monotonic_ns();
            if (now - turn_began_ns_ < turn_of_several_ns)
                return;
            turn_began_ns_ = now;
        }
        ++turn_;
    }

    [[gnu::noinline]] void complete_shared(io_op& o) noexcept {
        pending_shared_.fetch_sub(1, std::memory_order_relaxed);
        loop_->post(o);
    }
    void complete(io_op& o) noexcept { complete(o, is_shared_); }
    FAIRLEAD_ALWAYS_INLINE void complete(io_op& o, bool shared) noexcept {
        if (shared) [[unlikely]]
            return complete_shared(o);
        --pending_;
        loop_->push(o);
    }
    void complete_with(io_op& o, int error) noexcept {
        o.result.error = error;
        if (o.kind != kind::receive_all && o.kind != kind::send_all)
            o.result.n = 0; // The others report what had moved.
        complete(o);
    }
    std::size_t abort_all(descriptor& d) noexcept {
        std::size_t n = 0;
        for (op_queue* q : {&d.reads, &d.writes, &d.waits})
            while (!q->empty()) {
                complete_with(static_cast<io_op&>(*q->pop_front()), ECANCELED);
                ++n;
            }
        unlist(d);
        return n;
    }

    bool run_waiting(descriptor& d, op_queue& queue) noexcept { return run_waiting(d, queue, is_shared_); }
    FAIRLEAD_ALWAYS_INLINE bool run_waiting(descriptor& d, op_queue& queue, bool shared) noexcept {
        bool any = false;
        while (!queue.empty()) {
            auto& o = static_cast<io_op&>(*queue.front());
            if (!worth_trying(d, o.kind))
                break;
            if (!try_on(d, o, shared))
                break;
            op_queue::unlink(o);
            complete(o, shared);
            any = true;
        }
        return any;
    }

    void run_waits(descriptor& d) noexcept {
        d.waits.for_each([&](op& each) {
            auto& o = static_cast<io_op&>(each);
            if (try_on(d, o)) {
                op_queue::unlink(o);
                complete(o);
            }
        });
    }

    // ---- late verification

    void list(descriptor& d) noexcept {
        if (is_shared_) [[unlikely]]
            list_shared(d);
        else
            list_here(d);
    }
    [[gnu::noinline]] void list_shared(descriptor& d) noexcept {
        auto const only = lock_if_shared();
        list_here(d);
    }
    void list_here(descriptor& d) noexcept {
        unlist_here(d); // to the back: its turns count from now
        d.parked_turn = turn_;
        append(d.doubt == doubt::slight ? doubtful_ : unverified_, d);
    }
    static void append(verify_link& to, descriptor& d) noexcept {
        auto* const last = to.prev;
        d.next = &to;
        last->next = &d;
        d.prev = last;
        to.prev = &d;
    }
    void unlist(descriptor& d) noexcept { unlist(d, is_shared_); }
    FAIRLEAD_ALWAYS_INLINE void unlist(descriptor& d, bool shared) noexcept {
        if (shared) [[unlikely]]
            with_lists([&d] { unlist_here(d); });
        else
            unlist_here(d);
    }
    static void unlist_here(descriptor& d) noexcept {
        if (!d.listed())
            return;
        d.prev->next = d.next;
        d.next->prev = d.prev;
        d.next = d.prev = nullptr;
    }
    void unlist_if_idle(descriptor& d) noexcept {
        if (d.reads.empty())
            unlist(d);
    }
    /// The list is in the order of parking.
    bool is_due(verify_link const& list, unsigned turns) const noexcept {
        return list.next != &list && turn_ - static_cast<descriptor const&>(*list.next).parked_turn >= turns;
    }
    bool is_any_due(verify_link const& list, unsigned turns) noexcept {
        auto const any = [&] { return is_due(list, turns); };
        return is_shared_ ? with_lists(any) : any();
    }
    /// Takes it off its list, too.
    descriptor* first_due(verify_link& list, unsigned turns) noexcept {
        auto const only = lock_if_shared();
        if (!is_due(list, turns))
            return nullptr;
        auto& d = static_cast<descriptor&>(*list.next);
        unlist_here(d);
        return &d;
    }
    bool long_doubted_had_something() noexcept {
        return is_any_due(doubtful_, doubt_after_turns) && verify_long_doubted();
    }
    FAIRLEAD_COLD bool verify_long_doubted() noexcept { return verify(doubtful_, doubt_after_turns) != 0; }
    /// Twice as many in the next turn when half of them had something, half as many when fewer had.
    bool verify_overdue() noexcept {
        if (!is_any_due(unverified_, verify_after_turns)) [[likely]]
            return false;
        auto const before = verifications_;
        auto const found = verify(unverified_, verify_after_turns, verified_in_turn_);
        auto const tried = verifications_ - before;
        if (2 * found < tried)
            verified_in_turn_ = std::max(verified_in_turn_ / 2, verified_least);
        else if (tried == verified_in_turn_)
            verified_in_turn_ = std::min(2 * verified_in_turn_, verified_most);
        return found != 0;
    }
    /// Tries those of `list` that have stood there for so many turns. Returns for how many something completed.
    std::size_t verify(verify_link& list, unsigned turns,
                       std::size_t most = std::numeric_limits<std::size_t>::max()) noexcept {
        std::size_t found = 0;
        verify_link kept;
        kept.next = kept.prev = &kept;
        for (std::size_t tried = 0; tried != most; ++tried) {
            descriptor* const first = first_due(list, turns);
            if (!first)
                break;
            descriptor& d = *first;
            auto const only = hold(d);
            if (d.reads.empty()) // Another thread has been here.
                continue;
            ++verifications_;
            d.doubt = doubt::none;
            d.bursts = true; // until EAGAIN says that nothing was behind what was read before
            d.taken = 1;
            d.read_ready.store(true, std::memory_order_relaxed);
            found += run_waiting(d, d.reads);
            if (d.doubt != doubt::none && !d.reads.empty()) { // served one, perhaps not all, and more are waiting
                auto const lists = lock_if_shared();
                unlist_here(d);
                append(kept, d);
            }
        }
        auto const lists = lock_if_shared();
        while (kept.next != &kept)
            list_here(static_cast<descriptor&>(*kept.next));
        return found;
    }

    // ---- receivers of datagrams without room

    void set_stalled(descriptor& d, stall to) noexcept {
        auto const only = lock_if_shared();
        if (d.stalled == stall::none && to != stall::none) {
            if (stalled_++ == 0) {
                stall_ns_ = stall_least_ns;
                retry_at_ns_ = monotonic_ns() + stall_ns_;
            }
        } else if (d.stalled != stall::none && to == stall::none) {
            --stalled_;
        }
        d.stalled = to;
    }
    /// Tries again what is stalled, if it is time. Returns until when one may wait now.
    std::int64_t retry_stalled(std::int64_t until_ns) noexcept {
        auto const now = monotonic_ns();
        if (now >= retry_at_ns_) {
            bool any = false;
            for_each_descriptor([&](descriptor& d) {
                auto const only = hold(d);
                if (d.stalled == stall::none)
                    return;
                set_stalled(d, d.writes.empty() ? stall::none : stall::waits);
                d.write_ready.store(true, std::memory_order_relaxed);
                any = run_waiting(d, d.writes) || any;
            });
            stall_ns_ = any ? stall_least_ns : std::min(2 * stall_ns_, stall_most_ns);
            retry_at_ns_ = now + stall_ns_;
            if (any)
                return 0;
            if (stalled_ == 0)
                return until_ns;
        }
        return until_ns < 0 || until_ns > retry_at_ns_ ? retry_at_ns_ : until_ns;
    }

    // ---- no room for accepted descriptors

    /// The connection stays in the queue of the system. The error has been reported; the next accept waits for the end
    /// of the pause, or until something is closed here.
    void set_starved(descriptor& d, bool to) noexcept {
        auto const only = lock_if_shared();
        if (to) {
            d.read_ready.store(false, std::memory_order_relaxed);
            pause_ns_ = pause_ns_ == 0 ? pause_least_ns : std::min(2 * pause_ns_, pause_most_ns);
            resume_at_ns_.store(monotonic_ns() + pause_ns_, std::memory_order_relaxed);
        }
        if (d.starved != to)
            starved_ += to ? 1 : static_cast<std::size_t>(-1);
        d.starved = to;
    }
    std::int64_t retry_starved(std::int64_t until_ns) noexcept {
        auto const resume_at_ns = resume_at_ns_.load(std::memory_order_relaxed);
        if (monotonic_ns() < resume_at_ns)
            return until_ns < 0 || until_ns > resume_at_ns ? resume_at_ns : until_ns;
        bool any = false;
        for_each_descriptor([&](descriptor& d) {
            auto const only = hold(d);
            if (!d.starved)
                return;
            set_starved(d, false);
            d.read_ready.store(true, std::memory_order_relaxed);
            any = run_waiting(d, d.reads) || any;
        });
        if (starved_ == 0)
            pause_ns_ = 0;
        return any ? 0 : until_ns;
    }

    // ---- waiting

    int wait(epoll_event* events, std::int64_t until_ns) noexcept {
        if (until_ns > 0) {
            std::int64_t left = until_ns - monotonic_ns();
            if (left < 0)
                left = 0;
            if (precise_) {
                timespec const t{left / 1'000'000'000, left % 1'000'000'000};
                int const n = ::epoll_pwait2(epoll_, events, events_most, &t, nullptr);
                if (n >= 0 || errno == EINTR)
                    return n;
                // Unknown before Linux 5.11, and refused by older profiles of seccomp, with whatever error: whole
                // milliseconds then, rounded up so as never to be early.
                precise_ = false;
            }
            return wait_ms(epoll_, events, events_most, posix::whole_ms(left));
        }
        return wait_ms(epoll_, events, events_most, until_ns == for_a_moment ? moment_ms : until_ns == 0 ? 0 : -1);
    }
    /// Two calls that do the same: a profile of seccomp may know only one of them.
    static int wait_ms(int set, epoll_event* events, int most, int timeout_ms) noexcept {
        int const n = ::epoll_wait(set, events, most, timeout_ms);
        if (n >= 0 || errno == EINTR) [[likely]]
            return n;
        return ::epoll_pwait(set, events, most, timeout_ms, nullptr);
    }

    static constexpr std::int64_t for_a_moment = std::numeric_limits<std::int64_t>::min();
    /// Returns the number of events (wake-ups included).
    template <bool Shared> int harvest(std::int64_t until_ns) noexcept {
        count_system_call(Shared);
        epoll_event events[events_most];
        int const n = wait(events, until_ns);
        if (n < 0 && errno != EINTR) [[unlikely]] // A loop that went on would only turn, and nothing would ever happen.
            fairlead::detail::system_call_refused("epoll_wait", errno);
        for (int i = 0; i < n; ++i) {
            auto const mark = events[i].data.u64;
            if (mark >= signal_mark) [[unlikely]] {
                if (mark == signal_mark)
                    signal_hub::of_process().dispatch();
                continue;
            }
            descriptor& d = at(static_cast<std::uint32_t>(mark));
            // Closed in this very batch, perhaps with a new tenant: the event is not for whoever lives here now.
            if (d.generation.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(mark >> 32))
                continue;
            if constexpr (Shared)
                spread(d, events[i]);
            else
                happened(d, events[i].events, false);
        }
        return n;
    }
    /// The thread that comes to it makes the attempt, while the loop goes on. Owner.
    void spread(descriptor& d, epoll_event const& e) noexcept {
        news* const all = news_of_chunk(d.index / chunk_size);
        if (!all) [[unlikely]] { // no memory
            auto const only = hold(d);
            return happened(d, e.events, true);
        }
        auto& told = all[d.index % chunk_size];
        auto seen = told.events.load(std::memory_order_relaxed);
        auto const tenant = e.data.u64 & ~std::uint64_t{0xffffffff};
        for (;;) {
            // News of an earlier tenant are of no use any more.
            auto const before = (seen >> 32) == (e.data.u64 >> 32) ? seen & 0xffffffff : 0;
            if (told.events.compare_exchange_weak(seen, tenant | before | e.events, std::memory_order_acq_rel))
                break;
        }
        if (seen == 0) {
            news_.fetch_add(1, std::memory_order_relaxed);
            loop_->push(told);
        }
    }
    bool has_place_for_news() noexcept {
        if (!news_of_chunks_) {
            try {
                news_of_chunks_ = table_memory_.allocate(chunks_most);
            } catch (...) {
                return false;
            }
            std::fill_n(news_of_chunks_, chunks_most, nullptr);
        }
        return true;
    }
    /// Null: no memory.
    news* news_of_chunk(std::size_t c) noexcept {
        news*& all = news_of_chunks_[c];
        if (!all) [[unlikely]] {
            try {
                all = news_memory_.allocate(chunk_size);
            } catch (...) {
                return nullptr;
            }
            for (std::size_t i = 0; i != chunk_size; ++i) {
                auto& each = *std::construct_at(all + i);
                each.driver = this;
                each.of = chunks_[c].load(std::memory_order_relaxed) + i;
                each.run = &run_news;
                each.cancel = loop::not_a_handler();
            }
        }
        return all;
    }
    static void run_news(op* base, op_mode mode) {
        auto& self = *static_cast<news*>(base);
        fairlead::detail::section const s;
        self.driver->heard(self, mode);
    }
    [[gnu::noinline]] void heard(news& told, op_mode mode) noexcept {
        ++fairlead::detail::this_thread.item.functions;
        auto& d = *told.of;
        {
            auto const only = hold(d);
            auto const events = told.events.exchange(0, std::memory_order_acq_rel);
            if (mode == op_mode::complete && d.fd.load(std::memory_order_relaxed) >= 0 &&
                d.generation.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(events >> 32))
                happened(d, static_cast<std::uint32_t>(events), true);
        }
        news_.fetch_sub(1, std::memory_order_release);
    }

    FAIRLEAD_ALWAYS_INLINE void happened(descriptor& d, std::uint32_t what, bool shared) noexcept {
        if (what & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI)) {
            d.doubt = doubt::none;
            unlist(d, shared);
            d.read_ready.store(!d.starved, std::memory_order_relaxed);
            if (what & EPOLLPRI) [[unlikely]]
                d.urgent = true;
            if (what & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
                d.reads_on.store(true, std::memory_order_relaxed);
            run_waiting(d, d.reads, shared);
            if (d.doubt != doubt::none && !d.reads.empty())
                list(d);
        }
        if (what & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
            if (d.stalled == stall::echoes) [[unlikely]] {
                d.stalled = stall::waits;
            } else {
                d.write_ready.store(true, std::memory_order_relaxed);
                run_waiting(d, d.writes, shared);
            }
        }
        if (!d.waits.empty()) [[unlikely]]
            run_waits(d);
    }

    loop* loop_ = nullptr;
    int epoll_ = -1;
    int wake_ = -1;
    bool precise_ = !FAIRLEAD_TSAN; // g++ 12's thread sanitizer holds signals back while a thread is in epoll_pwait2.
    bool is_shared_ = false;        ///< changed by the loop's owner, while nobody else has a share of it
    unsigned turn_ = 0;             ///< under lists_ while the loop is shared
    std::int64_t turn_began_ns_ = 0;
    std::atomic<std::size_t> news_{0};           ///< in queues
    std::atomic<std::size_t> pending_shared_{0}; ///< beyond those that pending_ counts
    std::atomic<std::uint64_t> system_calls_shared_{0};
    fairlead::detail::short_lock lists_;
    std::size_t pending_ = 0;
    std::atomic<std::size_t> stalled_{0}; ///< descriptors
    std::atomic<std::size_t> starved_{0}; ///< descriptors
    std::int64_t pause_ns_ = 0;           ///< of those
    std::atomic<std::int64_t> resume_at_ns_{0};
    std::int64_t stall_ns_ = 0; ///< between two attempts
    std::int64_t retry_at_ns_ = 0;
    std::uint64_t verifications_ = 0;
    std::size_t verified_in_turn_ = verified_least; ///< at most
    std::uint64_t system_calls_ = 0;
    verify_link unverified_;
    verify_link doubtful_;
    std::mutex native_mutex_;
    std::mutex table_mutex_;
    std::uint32_t free_ = handle::none;
    fairlead::detail::context_allocator<descriptor> const chunk_memory_;
    fairlead::detail::context_allocator<news> const news_memory_;
    fairlead::detail::context_allocator<news*> const table_memory_;
    news** news_of_chunks_ =
        nullptr; ///< made when several threads first run the loop; of each chunk when it first has news
    std::size_t chunk_count_ = 0;
    std::atomic<descriptor*> chunks_[chunks_most]{};
    std::atomic<bool> watches_signals_{false};
    machine machine_{*this};
};

} // namespace

fairlead::detail::owned<driver> make_driver(fairlead::detail::context_memory_ref const& memory) {
    return fairlead::detail::owned<driver>(new (memory) epoll_driver(memory.get()));
}

} // namespace fairlead::io
