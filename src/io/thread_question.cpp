#include <io/run_watch.hpp>

#include <fairlead/base/error.hpp>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <mutex>

#include <execinfo.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

namespace fairlead::io::impl {
namespace {

constexpr int stack_most = 64;
constexpr long patience_ns = 200'000'000;

/// The one question of the process, and its answer. The signal handler touches nothing else but the thread's own state.
struct exchange {
    std::atomic<unsigned> open{0}; ///< the number of the question that may be answered; 0: none
    std::atomic<io_loop*> about{nullptr};
    std::atomic<bool> wants_stack{false};
    // Written by the handler that has closed the question, read after the semaphore.
    std::optional<place_in_run> at;
    void* stack[stack_most];
    int depth = 0;
    sem_t answered;
    // For good.
    std::atomic<unsigned> sent{0};
    std::atomic<unsigned> taken{0};
};
constinit exchange the_exchange{};
static_assert(std::atomic<unsigned>::is_always_lock_free && std::atomic<io_loop*>::is_always_lock_free);

/// Of a signal, under the mutex.
struct registration {
    unsigned questions = 0;
    struct sigaction before{};

    static registration& of(int number) noexcept {
        static registration all[NSIG];
        return all[number];
    }
};

/// A question that has been given up is not answered any more.
extern "C" void fairlead_thread_is_asked(int, siginfo_t* info, void*) {
    auto& x = the_exchange;
    if (info->si_code != SI_QUEUE || info->si_pid != ::getpid())
        return;
    int const saved = errno;
    auto number = static_cast<unsigned>(info->si_value.sival_int);
    if (x.open.compare_exchange_strong(number, 0, std::memory_order_acquire)) {
        x.at = run_watch::place_of_caller(*x.about.load(std::memory_order_relaxed));
        x.depth = x.wants_stack.load(std::memory_order_relaxed) ? ::backtrace(x.stack, stack_most) : 0;
        ::sem_post(&x.answered);
    }
    x.taken.fetch_add(1, std::memory_order_release);
    errno = saved;
}

[[noreturn]] void refuse(int error) {
    fairlead::impl::base::throw_error_now({error, error::get_system_category()}, "stall_detector");
}

} // namespace

thread_question::thread_question(int signal) : signal_(signal) {
    if (signal <= 0 || signal >= NSIG)
        refuse(EINVAL);
    void* one[1];
    ::backtrace(one, 1); // The first call loads the unwinder, which a signal handler must not do.
    std::lock_guard const lock(run_watch::mutex());
    static bool const is_made = [] { return ::sem_init(&the_exchange.answered, 0, 0) == 0; }();
    auto& r = registration::of(signal);
    if (r.questions == 0) {
        struct sigaction ours{};
        ours.sa_sigaction = &fairlead_thread_is_asked;
        ours.sa_flags = SA_SIGINFO | SA_RESTART;
        struct sigaction found{};
        if (!is_made || ::sigaction(signal, &ours, &found) != 0)
            refuse(errno);
        if (found.sa_sigaction != &fairlead_thread_is_asked) // Else it was left to us by the last question.
            r.before = found;
    }
    ++r.questions;
}

thread_question::~thread_question() {
    std::lock_guard const lock(run_watch::mutex());
    auto& r = registration::of(signal_);
    bool const all_taken = the_exchange.taken.load(std::memory_order_acquire) == the_exchange.sent;
    if (--r.questions == 0 && all_taken)
        ::sigaction(signal_, &r.before, nullptr);
}

std::optional<thread_question::answer> thread_question::ask(pthread_t thread, io_loop& l,
                                                            bool wants_stack) const noexcept {
    auto& x = the_exchange;
    static constinit unsigned last_question = 0;
    if (++last_question == 0)
        ++last_question;
    x.about.store(&l, std::memory_order_relaxed);
    x.wants_stack.store(wants_stack, std::memory_order_relaxed);
    x.open.store(last_question, std::memory_order_release);
    sigval value{};
    value.sival_int = static_cast<int>(last_question);
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += patience_ns;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    if (::pthread_sigqueue(thread, signal_, value) == 0) {
        x.sent.fetch_add(1, std::memory_order_relaxed);
        int r = 0;
        do
            r = ::sem_timedwait(&x.answered, &until);
        while (r != 0 && errno == EINTR);
        auto number = last_question;
        if (r != 0 && !x.open.compare_exchange_strong(number, 0, std::memory_order_relaxed)) {
            while (::sem_wait(&x.answered) != 0) { // The answer is being written.
            }
            r = 0;
        }
        if (r == 0)
            return answer{x.at, std::span<void* const>(x.stack, static_cast<std::size_t>(x.depth))};
    } else {
        x.open.store(0, std::memory_order_relaxed); // Too many signals wait already.
    }
    return {};
}

} // namespace fairlead::io::impl
