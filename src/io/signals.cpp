#include <io/signals.hpp>

#include <atomic>
#include <bit>
#include <cerrno>
#include <mutex>
#include <new>

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace fairlead::io {
namespace {

// All that the handler touches. It may run at any time, in any thread, and in the middle of what is below.
constinit std::atomic<unsigned> arrived[signals::number_most + 1] = {};
constinit std::atomic<int> wakes{-1};
static_assert(std::atomic<unsigned>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void fairlead_signal_has_come(int number) {
    int const saved = errno;
    arrived[number].fetch_add(1, std::memory_order_release);
    std::uint64_t const one = 1;
    [[maybe_unused]] auto r = ::write(wakes.load(std::memory_order_relaxed), &one, sizeof one);
    errno = saved;
}

constexpr std::uint64_t bit_of(int number) noexcept { return std::uint64_t{1} << (number - 1); }

} // namespace

/// Of one signal, in the process.
struct signal_hub::registration {
    unsigned sets = 0;
    int flags = -1;
    struct sigaction before{};

    static registration& of(int number) noexcept {
        static registration all[signals::number_most + 1];
        return all[number];
    }
    static std::mutex& mutex() noexcept {
        alignas(std::mutex) static std::byte place[sizeof(std::mutex)];
        static auto* const m = ::new (place) std::mutex; // Never destroyed: sets may outlive main().
        return *m;
    }
};

signal_hub::signal_hub() noexcept {
    sources_.next = sources_.prev = &sources_;
    registration::mutex();
    ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
}

signal_hub& signal_hub::of_process() noexcept {
    alignas(signal_hub) static std::byte place[sizeof(signal_hub)];
    static auto* const hub = ::new (place) signal_hub;
    return *hub;
}

void signal_hub::before_fork() noexcept { registration::mutex().lock(); }
void signal_hub::after_fork_in_parent() noexcept { registration::mutex().unlock(); }
void signal_hub::after_fork_in_child() noexcept {
    // A signal of the child must not wake the parent up. A loop that waits in the child asks for wake_fd() again.
    if (wakes.load(std::memory_order_relaxed) >= 0) {
        int const fresh = open_wake_fd();
        int const shared = wakes.exchange(fresh, std::memory_order_relaxed);
        ::close(shared);
    }
    registration::mutex().unlock();
}

int signal_hub::open_wake_fd() noexcept { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int signal_hub::wake_fd() noexcept {
    std::lock_guard const lock(registration::mutex());
    int fd = wakes.load(std::memory_order_relaxed);
    if (fd < 0) {
        fd = open_wake_fd();
        if (fd < 0)
            return -errno;
        wakes.store(fd, std::memory_order_relaxed); // Kept for good: several loops have it in their sets.
    }
    return fd;
}

/// Gives what has come to all sets that want it.
void signal_hub::collect() noexcept {
    for (int number = 1; number <= signals::number_most; ++number) {
        if (arrived[number].load(std::memory_order_relaxed) == 0)
            continue;
        unsigned const times = arrived[number].exchange(0, std::memory_order_acquire);
        for (auto* l = sources_.next; l != &sources_; l = l->next) {
            auto& s = static_cast<process_source&>(*l);
            if (s.wanted_ & bit_of(number))
                s.queued_[number] += times;
        }
    }
    for (auto* l = sources_.next; l != &sources_; l = l->next)
        serve(static_cast<process_source&>(*l));
}

void signal_hub::serve(process_source& s) noexcept {
    for (int number = 1; number <= signals::number_most && !s.waits_.empty();) {
        if (s.queued_[number] == 0) {
            ++number;
            continue;
        }
        --s.queued_[number];
        finish(static_cast<signal_op&>(*s.waits_.pop_front()), 0, number);
    }
}

/// Under the lock: who abandons the op, or destroys its loop, waits until it is in the inbox. Hence it must not wait
/// for the loop, whose owner may want the lock.
void signal_hub::finish(signal_op& o, int error, int number) noexcept {
    loop& l = static_cast<process_source*>(o.source)->loop_;
    o.result = {error, 0, static_cast<std::size_t>(number)};
    o.source = nullptr;
    l.drop_in(o);
    l.work_finished();
}

void signal_hub::dispatch() noexcept {
    std::lock_guard const lock(registration::mutex());
    collect();
}

process_source* signal_hub::open(loop& l) noexcept {
    process_source* s;
    try {
        s = new (fairlead::impl::exec::service_access::memory_of(l.context())) process_source(l);
    } catch (...) {
        return nullptr;
    }
    std::lock_guard const lock(registration::mutex());
    s->next = &sources_;
    s->prev = sources_.prev;
    sources_.prev->next = s;
    sources_.prev = s;
    return s;
}

int signal_hub::add(process_source& s, int number, int flags) noexcept {
    if (number < 1 || number > signals::number_most)
        return EINVAL;
    std::lock_guard const lock(registration::mutex());
    collect(); // Signals that came before are not for this set.
    auto& r = registration::of(number);
    bool const conflicts = r.sets != 0 && flags != -1 && r.flags != -1 && flags != r.flags;
    if (conflicts)
        return EINVAL;
    if (s.wanted_ & bit_of(number))
        return 0;
    if (r.sets == 0 || (r.flags == -1 && flags != -1)) {
        struct sigaction wanted{};
        wanted.sa_handler = &fairlead_signal_has_come;
        ::sigfillset(&wanted.sa_mask);
        wanted.sa_flags = flags == -1 ? SA_RESTART : flags;
        struct sigaction before{};
        if (::sigaction(number, &wanted, &before) != 0)
            return errno;
        if (r.sets == 0)
            r.before = before;
        r.flags = flags;
    }
    ++r.sets;
    s.wanted_ |= bit_of(number);
    return 0;
}

/// Takes one signal from a set. The last set that had it gives the process back what it did about the signal before.
int signal_hub::drop(process_source& s, int number) noexcept {
    if (!(s.wanted_ & bit_of(number)))
        return 0;
    auto& r = registration::of(number);
    if (r.sets == 1 && ::sigaction(number, &r.before, nullptr) != 0)
        return errno;
    if (--r.sets == 0)
        r.flags = -1;
    s.wanted_ &= ~bit_of(number);
    s.queued_[number] = 0;
    return 0;
}

int signal_hub::remove(process_source& s, int number) noexcept {
    if (number < 0 || number > signals::number_most)
        return EINVAL;
    std::lock_guard const lock(registration::mutex());
    collect();
    if (number != 0)
        return drop(s, number);
    int error = 0;
    for (int each = 1; each <= signals::number_most; ++each)
        if (int const e = drop(s, each))
            error = e;
    return error;
}

void signal_hub::wait(process_source& s, signal_op& o) noexcept {
    std::lock_guard const lock(registration::mutex());
    o.source = &s;
    s.loop_.work_started();
    s.waits_.push_back(o);
    collect();
}

bool signal_hub::cancel(signal_op& o) noexcept {
    std::lock_guard const lock(registration::mutex());
    if (!o.source)
        return false;
    op_queue::unlink(o);
    finish(o, ECANCELED, 0);
    return true;
}

std::size_t signal_hub::cancel_all(process_source& s) noexcept {
    std::lock_guard const lock(registration::mutex());
    std::size_t n = 0;
    for (; !s.waits_.empty(); ++n)
        finish(static_cast<signal_op&>(*s.waits_.pop_front()), ECANCELED, 0);
    return n;
}

void signal_hub::close(process_source& s) noexcept {
    cancel_all(s);
    remove(s, 0); // cannot fail: each of them could be set once
    {
        std::lock_guard const lock(registration::mutex());
        op_queue::unlink(s);
    }
    delete &s;
}

void signal_hub::take_pending(loop const& l, op_queue& into) noexcept {
    std::lock_guard const lock(registration::mutex());
    for (auto* each = sources_.next; each != &sources_; each = each->next) {
        auto& s = static_cast<process_source&>(*each);
        if (&s.loop_ != &l)
            continue;
        while (!s.waits_.empty()) {
            auto& o = static_cast<signal_op&>(*s.waits_.pop_front());
            o.source = nullptr;
            s.loop_.work_finished();
            into.push_back(o);
        }
    }
}

outcome process_source::remove(int number) noexcept { return {signal_hub::of_process().remove(*this, number), 0}; }
void process_source::close() noexcept { signal_hub::of_process().close(*this); }

} // namespace fairlead::io
