// The threads inside run() of a loop that is watched, and how one of them is asked where it is.
#pragma once

#include <fairlead/exec/loop.hpp>

#include <io/stall_judge.hpp>

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <pthread.h>

namespace fairlead {
class io_loop;
}

namespace fairlead::io::impl {

/// A thread says itself that it enters run() of a watched loop, or leaves it. While somebody holds the mutex it does
/// not leave.
class run_watch {
public:
    struct watched_thread {
        fairlead::impl::exec::owning_thread const* state;
        pthread_t handle;
        long number;
        stall_judge judge;
        unsigned missed = 0;     ///< questions in a row that it has not answered
        unsigned looks_left = 0; ///< until it is asked again

        /// In a handler, not in the loop nor in a call of the library: those ask for no answer.
        bool is_inside_handler() const noexcept { return state->sections.load(std::memory_order_relaxed) == 0; }
    };

    /// Throws already_open if the loop is watched, and what std::vector throws.
    run_watch(io_loop& l, std::int64_t limit_ns);
    ~run_watch();
    run_watch(run_watch const&) = delete;
    run_watch& operator=(run_watch const&) = delete;

    /// Of the whole process. Held across a fork.
    static std::mutex& mutex() noexcept;
    /// Under the mutex.
    std::span<watched_thread> threads() noexcept { return threads_; }

    // ---- for the calling thread, if it is inside run() of `l`
    static void enters(io_loop& l) noexcept;
    static void leaves(io_loop& l) noexcept;

    /// Of the calling thread, also from a signal handler. Empty: it runs no item of `l`, or one of another loop inside
    /// such an item.
    static std::optional<place_in_run> place_of_caller(io_loop& l) noexcept;
    /// The functions that run an item: what they have called is its function. Null at the end.
    static std::array<void const*, 4> callers_of_items() noexcept;

private:
    static run_watch* of(std::uint64_t number) noexcept;

    io_loop& loop_;
    std::uint64_t const number_; ///< in the process; no other ever has it
    std::int64_t const limit_ns_;
    std::vector<watched_thread> threads_;
    run_watch* next_;
};

/// The signal by which threads are asked. One at a time, under the mutex of run_watch.
class thread_question {
public:
    struct answer {
        std::optional<place_in_run> at;
        std::span<void* const> stack; ///< the innermost first; valid until the next question
    };

    /// Takes the signal. Throws system_error.
    explicit thread_question(int signal);
    /// Gives it back unless a thread has still to take it.
    ~thread_question();
    thread_question(thread_question const&) = delete;
    thread_question& operator=(thread_question const&) = delete;

    /// Waits for the answer, but no longer than a fifth of a second. Empty: there was none.
    std::optional<answer> ask(pthread_t thread, io_loop& l, bool wants_stack) const noexcept;

private:
    int const signal_;
};

} // namespace fairlead::io::impl
