// The share that one of several threads inside run() has of a loop: items of its queue, and those that the thread's
// handlers post meanwhile.
//
// A share is its thread's own, also while another thread has the loop, and using it takes no lock. But a handler may
// wait for an item behind it. So an idle thread takes over the shares of others, as it would take a loop
// (ownership.hpp). It claims them and makes every thread of the process pass a memory barrier. Then it empties the
// shares of those threads that are in no section.
//
// While nothing else is queued a share lasts, up to a slice of time. As long as items are short and get on, the threads
// with shares come back soon. So an idle thread need not look after the loop meanwhile.
#pragma once

#include <fairlead/exec/op.hpp>
#include <fairlead/exec/ownership.hpp>
#include <fairlead/exec/pace.hpp>
#include <fairlead/exec/short_lock.hpp>

#include <atomic>
#include <cstdint>

namespace fairlead::impl::exec {

class share {
    friend class shares;

public:
    explicit share(owning_thread const& of) noexcept : thread_(of) {}
    share(share const&) = delete;
    share& operator=(share const&) = delete;

    // ---- its own thread, inside a section
    bool is_open() const noexcept { return is_open_; }
    bool empty() noexcept { return own().empty(); }
    void push(op& o) noexcept { own().push_back(o); }
    op* pop() noexcept {
        auto& items = own();
        return items.empty() ? nullptr : items.pop_front();
    }
    op* pop_back() noexcept { return own().pop_back(); }
    void move_to(op_queue& into) noexcept { into.splice_back(own()); }
    /// How long its thread's items take.
    exec::pace& pace() noexcept { return pace_; }
    /// After a look at the clock: for those that ask whether the thread comes back soon.
    void gets_on() noexcept {
        stretches_.store(stretches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        is_long_.store(pace_.first_units() == 0, std::memory_order_relaxed);
    }
    /// The last one took a whole slice, and there was still something in it: its items post others.
    bool lasts() const noexcept { return lasts_; }
    void set_lasts(bool to) noexcept { lasts_ = to; }

private:
    op_queue& own() noexcept {
        if (is_claimed_.load(std::memory_order_acquire)) [[unlikely]]
            wait_for_end_of_claim();
        return items_;
    }
    FAIRLEAD_EXPORT FAIRLEAD_COLD void wait_for_end_of_claim() const noexcept;

    op_queue items_;
    owning_thread const& thread_;
    std::atomic<bool> is_claimed_{false};
    bool is_open_ = false;
    bool lasts_ = false;
    std::atomic<bool> is_long_{true}; ///< an item may take as long as a slice
    std::atomic<unsigned> stretches_{0};
    exec::pace pace_;
    // Those who look at it, one at a time:
    share* next_ = nullptr;
    unsigned seen_stretches_ = 0;
    std::int64_t seen_ns_ = 0; ///< when they last saw that it had got on
};

/// The open shares of a loop. Any thread.
class shares {
public:
    FAIRLEAD_EXPORT void open(share& s) noexcept;
    /// It must be empty.
    FAIRLEAD_EXPORT void close(share& s) noexcept;

    /// Does any thread have one just now?
    bool are_open() const noexcept { return count() != 0; }
    unsigned count() const noexcept { return open_.load(std::memory_order_relaxed); }

    /// Is any open, and are all of them of threads that will come back within a slice, as far as one can see? An item
    /// that takes unusually long shows after `stuck_ns`.
    FAIRLEAD_EXPORT bool come_back_soon(std::int64_t now) noexcept;
    static constexpr std::int64_t stuck_ns = 500'000;

    enum class found : unsigned char {
        nothing, ///< what their threads post from here on they post knowing what the caller has announced before
        something,
        unknown, ///< a thread was inside a section: look again soon
    };
    /// Moves what stands in all shares but `own` to `into`.
    FAIRLEAD_EXPORT found take_over(op_queue& into, share const* own) noexcept;
    /// Several threads may run loops soon. Does what they need while that takes a microsecond: before the process has a
    /// second thread. Afterwards it takes some milliseconds, and is left to the second thread of a loop.
    FAIRLEAD_EXPORT static void prepare_early() noexcept;
    /// A second thread is about to run a loop.
    FAIRLEAD_EXPORT static void prepare() noexcept;
    FAIRLEAD_EXPORT static bool are_prepared() noexcept;
    /// False: there can be no shares, because nobody could take them over.
    FAIRLEAD_EXPORT static bool are_possible() noexcept;

private:
    short_lock mutex_; ///< held for a memory barrier in all threads at the most
    std::atomic<unsigned> open_{0};
    share* first_ = nullptr;
};

} // namespace fairlead::impl::exec
