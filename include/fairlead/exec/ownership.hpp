// The owner of a loop: the thread that may touch its queue, its timers and its driver.
//
// One thread at a time owns a loop. A thread that is alone inside run() keeps it, also while it runs handlers, and so
// pays for no lock and no atomic read-modify-write. When a second thread joins run(), the loop is shared. A thread
// then takes a share of the items and gives the loop away before it runs them (share.hpp).
//
// The second thread may come while the owner is inside a handler. The handler may even be waiting for something that
// only the second one can do. That one then takes the loop away: it marks the owner as claimed, and makes every thread
// of the process pass a memory barrier (membarrier(2)). It has the loop as soon as the owner is in no section. The
// owner pays two plain stores for each section; asking is the joiner's business. Where the system has no membarrier,
// the joiner waits until the handler has returned.
#pragma once

#include <fairlead/base/assert.hpp>
#include <fairlead/base/config.hpp>

#include <atomic>
#include <cstdint>

namespace fairlead::impl::exec {

/// Stands for a thread in here. While it is in a section (1, not 0), the loops that the thread owns stay its own.
struct owning_thread {
    /// The thread's mark as an owner: where this lies, once it has taken a loop. A field costs one load to compare
    /// with, the address of a thread-local three instructions.
    std::uintptr_t tag = owns_nothing_yet;
    std::atomic<unsigned> sections;

    /// After a barrier in all threads: is the thread outside of its sections now, or in a moment?
    FAIRLEAD_EXPORT bool is_outside_soon() const noexcept;

    static constexpr std::uintptr_t owns_nothing_yet = 2; // Nobody's address, not even a claimed one.
};

class ownership {
public:
    explicit constexpr ownership() noexcept = default;
    ownership(ownership const&) = delete;
    ownership& operator=(ownership const&) = delete;

    /// Only inside a section does the answer last. Asked by `t` itself; waits for the end of a claim, so that a claim
    /// laid on it in vain does not show.
    bool is_of(owning_thread const& t) const noexcept {
        auto const owner = owner_.load(std::memory_order_relaxed);
        if (owner == t.tag) [[likely]]
            return true;
        return owner == (t.tag | claimed) && is_still_of(t);
    }
    /// As is_of() without waiting, for the shortest way: false also while a claim lies on it. Then ask is_of().
    bool is_plainly_of(owning_thread const& t) const noexcept {
        return owner_.load(std::memory_order_relaxed) == t.tag;
    }
    /// Takes what nobody has. Inside a section.
    bool try_take(owning_thread& t) noexcept {
        std::uintptr_t nobody = 0;
        mark(t);
        return owner_.compare_exchange_strong(nobody, t.tag, std::memory_order_seq_cst);
    }
    bool is_free() const noexcept { return owner_.load(std::memory_order_relaxed) == 0; }
    /// Gives back what may have been taken away meanwhile, and lets a waiting thread know. Without `at_once` it need
    /// not know if one of those that wait looks by itself soon. Inside a section.
    FAIRLEAD_EXPORT void give_back(owning_thread const& t, bool at_once = true) noexcept;

    // ---- threads inside run()
    void join() noexcept { members_.fetch_add(1, std::memory_order_seq_cst); }
    /// Joins unless another thread is inside. The caller has to be outside.
    bool join_alone() noexcept {
        unsigned none = 0;
        return members_.compare_exchange_strong(none, 1, std::memory_order_seq_cst);
    }
    void leave() noexcept { members_.fetch_sub(1, std::memory_order_seq_cst); }
    bool has_members() const noexcept { return members() != 0; }
    unsigned members() const noexcept { return members_.load(std::memory_order_acquire); }
    /// The owner asks: is the loop to be given away around each item? The answer is a promise to those that wait. With
    /// other threads inside, `keeps()` says whether to keep it all the same. Then the others watch whether the owner
    /// gets on. One of them takes the loop if not.
    template <class F> bool is_shared(F keeps) noexcept {
        bool const others = members_.load(std::memory_order_relaxed) > 1 && !keep(keeps());
        if (others != is_shared_.load(std::memory_order_relaxed)) [[unlikely]]
            return change_sharing(others);
        return others;
    }

    /// Waits for the loop at most until `timeout_ns` have passed (negative: for ever). False: not now; look whether
    /// there is still a reason to wait, and call again. Unless the owner sleeps the caller looks by itself soon. Calls
    /// `nudge(arg)` when the owner may be asleep.
    FAIRLEAD_EXPORT bool take_or_wait(owning_thread& t, std::int64_t timeout_ns, bool owner_sleeps,
                                      void (*nudge)(void*), void* arg) noexcept;
    /// Waits until the calling thread, which is not inside run(), has the loop. Its other loops may be taken from it
    /// meanwhile if `outer` is 0: two threads may want to borrow each other's loops.
    FAIRLEAD_EXPORT void borrow(owning_thread& t, unsigned outer, void (*nudge)(void*), void* arg) noexcept;
    bool has_borrowers() const noexcept { return borrowers_.load(std::memory_order_relaxed) != 0; }
    /// The owner, before it sleeps or goes on: lends the loop to borrowers. Returns with the loop in other hands,
    /// maybe.
    FAIRLEAD_EXPORT void lend(owning_thread& t) noexcept;
    /// Threads that run an item of the loop without having it any more: the item may still start something.
    unsigned revoked() const noexcept { return revoked_.load(std::memory_order_acquire); }
    /// The owner may lose the loop while its item goes on: counts it as revoked beforehand.
    void expect_revocation() noexcept { revoked_.fetch_add(1, std::memory_order_relaxed); }
    /// The item has ended, or its thread has the loop again. True: it was the last of them.
    bool revoked_is_back() noexcept { return revoked_.fetch_sub(1, std::memory_order_seq_cst) == 1; }
    /// For wait_for_turn(): to be read before the caller looks for its reason to wait.
    std::uint32_t turns() const noexcept { return turns_.load(std::memory_order_seq_cst); }
    /// Waits until the loop has been given back, or wake_all() called, after turns() was `seen`. It waits not for long,
    /// and at most until `timeout_ns` have passed (negative: without limit). `outer` as for borrow().
    FAIRLEAD_EXPORT void wait_for_turn(owning_thread& t, unsigned outer, std::uint32_t seen,
                                       std::int64_t timeout_ns) noexcept;
    /// Gives the loop back. Then waits until somebody gives it back with something for the caller to do; not for long,
    /// and at most until `timeout_ns` have passed.
    FAIRLEAD_EXPORT void give_back_and_watch(owning_thread const& t, std::int64_t timeout_ns) noexcept;
    /// Makes all that wait look for their reason.
    FAIRLEAD_EXPORT void wake_all() noexcept;

private:
    FAIRLEAD_NOINLINE void wake_one(bool at_once) noexcept;
    FAIRLEAD_EXPORT FAIRLEAD_COLD bool is_still_of(owning_thread const& t) const noexcept;
    FAIRLEAD_EXPORT FAIRLEAD_COLD bool change_sharing(bool on) noexcept;
    FAIRLEAD_EXPORT FAIRLEAD_COLD bool keep(bool on) noexcept;
    static constexpr std::uintptr_t claimed = 1;
    static void mark(owning_thread& t) noexcept { t.tag = reinterpret_cast<std::uintptr_t>(&t); }
    bool take_from_busy_owner(owning_thread& t) noexcept;

    std::atomic<std::uintptr_t> owner_{0}; ///< null, an owning_thread, or one marked as claimed
    std::atomic<unsigned> members_{0};
    std::atomic<bool> is_shared_{false};
    std::atomic<bool> is_kept_{false};    ///< although there are others
    std::atomic<unsigned> beats_{0};      ///< of an owner that keeps it
    std::atomic<std::uint32_t> turns_{0}; ///< counts how often it was given back; what waits, waits for a change
    std::atomic<std::uint32_t> waiting_{0};
    std::atomic<std::uint32_t> looking_{0}; ///< those of them that look by themselves soon
    std::atomic<std::uint32_t> borrowers_{0};
    std::atomic<unsigned> revoked_{0};
};

} // namespace fairlead::impl::exec
