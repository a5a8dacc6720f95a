#include <fairlead/exec/ownership.hpp>

#include <exec/park.hpp>

namespace fairlead::impl::exec {
namespace {

// How often a joiner looks again before it lets the processor go. Sections are short, but for the loop's own.
constexpr int looks = 200;
// After which a thread that waits comes back by itself. An owner that does not know of it wakes nobody; nor does one
// with a share that it takes for a short one.
constexpr std::int64_t retry_ns = 1'000'000;

/// A thread that waits for the loop, or may begin to: whoever gives the loop back lets it know.
class waiting {
public:
    explicit waiting(std::atomic<std::uint32_t>& count) noexcept : count_(count) {
        count_.fetch_add(1, std::memory_order_seq_cst);
    }
    waiting(waiting const&) = delete;
    waiting& operator=(waiting const&) = delete;
    ~waiting() { count_.fetch_sub(1, std::memory_order_seq_cst); }

private:
    std::atomic<std::uint32_t>& count_;
};

/// A thread that waits is in the sections only that it was in before it called.
class waiting_outside {
public:
    waiting_outside(owning_thread& t, unsigned outer) noexcept : thread_(t), inner_(t.sections) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        thread_.sections.store(outer, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    waiting_outside(waiting_outside const&) = delete;
    waiting_outside& operator=(waiting_outside const&) = delete;
    ~waiting_outside() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        thread_.sections.store(inner_, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst); // The barrier of a joiner does the rest.
    }

private:
    owning_thread& thread_;
    unsigned const inner_;
};

/// Gives back a loop on which a claim may lie. False: it was taken away. Apart, so that the plain way saves no
/// register.
FAIRLEAD_NOINLINE bool give_back_claimed(std::atomic<std::uintptr_t>& owner, std::uintptr_t tag,
                                         std::uintptr_t claimed) noexcept {
    for (auto seen = tag; !owner.compare_exchange_weak(seen, 0, std::memory_order_seq_cst); seen = tag) {
        if ((seen & ~claimed) != tag)
            return false;
        park::pause(); // Somebody who claims it is looking at this very thread, and decides soon.
    }
    return true;
}

} // namespace

bool owning_thread::is_outside_soon() const noexcept {
    for (int i = 0; i != looks; ++i) {
        if (sections.load(std::memory_order_acquire) == 0)
            return true;
        park::pause();
    }
    return false;
}

void ownership::give_back(owning_thread const& t, bool at_once) noexcept {
    auto seen = t.tag;
    if (!owner_.compare_exchange_strong(seen, 0, std::memory_order_seq_cst)) [[unlikely]]
        if (!give_back_claimed(owner_, t.tag, claimed))
            return;
    // A thread that waits has said so before it last looked at the owner. If none waits, this is one atomic write.
    if (waiting_.load(std::memory_order_seq_cst) != 0)
        wake_one(at_once);
}

void ownership::wake_one(bool at_once) noexcept {
    if (!at_once && looking_.load(std::memory_order_seq_cst) != 0)
        return;
    turns_.fetch_add(1, std::memory_order_seq_cst);
    park::wake_one(turns_);
}

bool ownership::take_from_busy_owner(owning_thread& t) noexcept {
    mark(t);
    auto owner = owner_.load(std::memory_order_acquire);
    if (owner == 0 || (owner & claimed) != 0 ||
        !owner_.compare_exchange_strong(owner, owner | claimed, std::memory_order_seq_cst))
        return false;
    // From here on the owner waits for us before it ends.
    auto const& theirs = *reinterpret_cast<owning_thread const*>(owner);
    // A section that began before the barrier shows; one that begins after it sees the claim.
    bool const is_outside = park::barrier_in_all_threads() && theirs.is_outside_soon();
    if (is_outside)
        expect_revocation();
    owner_.store(is_outside ? t.tag : owner, std::memory_order_seq_cst);
    return is_outside;
}

bool ownership::change_sharing(bool on) noexcept {
    is_shared_.store(on, std::memory_order_seq_cst);
    // Somebody who has come this very moment may have read the old promise.
    if (!on && members_.load(std::memory_order_seq_cst) > 1) {
        is_shared_.store(true, std::memory_order_seq_cst);
        return true;
    }
    return on;
}

/// One of the others has to watch. Those that went to sleep while the owner slept do not.
bool ownership::keep(bool on) noexcept {
    if (is_kept_.load(std::memory_order_relaxed) != on)
        is_kept_.store(on, std::memory_order_relaxed);
    if (!on)
        return false;
    beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (is_shared_.load(std::memory_order_relaxed))
        is_shared_.store(false,
                         std::memory_order_seq_cst); // A thread that waits from here on reads this, or shows below.
    if (waiting_.load(std::memory_order_seq_cst) != 0 && looking_.load(std::memory_order_seq_cst) == 0) {
        turns_.fetch_add(1, std::memory_order_seq_cst);
        park::wake_one(turns_);
    }
    return true;
}

/// A claim on the calling thread is decided soon, one way or the other.
bool ownership::is_still_of(owning_thread const& t) const noexcept {
    while (owner_.load(std::memory_order_acquire) == (t.tag | claimed))
        park::pause();
    return owner_.load(std::memory_order_relaxed) == t.tag;
}

bool ownership::take_or_wait(owning_thread& t, std::int64_t timeout_ns, bool owner_sleeps, void (*nudge)(void*),
                             void* arg) noexcept {
    waiting const until_end(waiting_);
    auto const seen = turns_.load(std::memory_order_seq_cst);
    bool taken = try_take(t);
    bool const shared = is_shared_.load(std::memory_order_seq_cst);
    bool const kept = !shared && is_kept_.load(std::memory_order_relaxed);
    for (int i = 0; i != looks && !taken && !owner_sleeps && !kept; ++i) {
        park::pause();
        taken = is_free() && try_take(t);
    }
    if (!taken && timeout_ns != 0) {
        if (!shared && !kept) {
            taken = take_from_busy_owner(t);
            if (!taken)
                nudge(arg);
        }
        if (!taken && shared && owner_sleeps) {
            park::wait(turns_, seen, timeout_ns);
        } else if (!taken) {
            waiting const looking(looking_);
            auto const beat = beats_.load(std::memory_order_relaxed);
            bool const for_long = timeout_ns < 0 || timeout_ns >= retry_ns;
            park::wait(turns_, seen, for_long ? retry_ns : timeout_ns);
            bool const is_stuck = kept && for_long && is_kept_.load(std::memory_order_relaxed) &&
                                  beats_.load(std::memory_order_relaxed) == beat &&
                                  turns_.load(std::memory_order_relaxed) == seen;
            taken = is_stuck && take_from_busy_owner(t);
        }
    }
    return taken || try_take(t);
}

void ownership::borrow(owning_thread& t, unsigned outer, void (*nudge)(void*), void* arg) noexcept {
    waiting const until_end(waiting_);
    borrowers_.fetch_add(1, std::memory_order_seq_cst);
    for (;;) {
        auto const seen = turns_.load(std::memory_order_seq_cst);
        if (is_of(t) || try_take(t) || take_from_busy_owner(t))
            break;
        nudge(arg);
        waiting_outside const here(t, outer);
        park::wait(turns_, seen, retry_ns);
    }
    borrowers_.fetch_sub(1, std::memory_order_seq_cst);
}

void ownership::lend(owning_thread& t) noexcept {
    waiting const until_end(waiting_);
    give_back(t);
    wake_all();
    for (auto seen = turns_.load(std::memory_order_seq_cst); has_borrowers();
         seen = turns_.load(std::memory_order_seq_cst))
        park::wait(turns_, seen, retry_ns);
}

void ownership::wait_for_turn(owning_thread& t, unsigned outer, std::uint32_t seen, std::int64_t timeout_ns) noexcept {
    waiting const until_end(waiting_);
    waiting_outside const here(t, outer);
    park::wait(turns_, seen, timeout_ns < 0 || timeout_ns > retry_ns ? retry_ns : timeout_ns);
}

// It has seen the count of turns before it gives the loop back: the next one to do so does not go unnoticed.
void ownership::give_back_and_watch(owning_thread const& t, std::int64_t timeout_ns) noexcept {
    waiting const until_end(waiting_);
    waiting const looking(looking_);
    auto const seen = turns_.load(std::memory_order_seq_cst);
    give_back(t, false);
    park::wait(turns_, seen, timeout_ns > retry_ns ? retry_ns : timeout_ns);
}

void ownership::wake_all() noexcept {
    turns_.fetch_add(1, std::memory_order_seq_cst);
    park::wake_all(turns_);
}

} // namespace fairlead::impl::exec
