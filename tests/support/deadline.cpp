#include <support/deadline.hpp>

#include <gtest/gtest.h>

#include <execinfo.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef FAIRLEAD_TEST_DEADLINE // Seconds; where the build says nothing, as with planted bugs.
#define FAIRLEAD_TEST_DEADLINE 100
#endif

namespace fairlead::test {
namespace {

std::atomic<char const*> waited_for{nullptr}; // of whichever thread said so last
std::array<char, 256> running{};              // the test's name: the handler may not ask GoogleTest for it

void say(char const* text) noexcept {
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, std::strlen(text));
}

/// Runs in the thread of the tests, so that the trace shows where it hangs. The name "[  FAILED  ]" is GoogleTest's.
void end_the_test(int) noexcept {
    say("\n[  FAILED  ] ");
    say(running.data());
    say(" has not ended by its deadline (FAIRLEAD_TEST_DEADLINE)");
    if (auto const* what = waited_for.load()) {
        say(". It waits for ");
        say(what);
    }
    say(".\nThe test's thread is here (addr2line -Cfie PROGRAM ADDRESS):\n");
    std::array<void*, 48> frames{};
    ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
    ::_exit(124); // as timeout(1): no handler, no sanitizer's report after this one
}

/// A timer of the kernel whose signal comes only when it is too late. Until then no thread and no call is disturbed,
/// and neither fork() nor exec() hands it on.
class deadline final : public testing::EmptyTestEventListener {
public:
    deadline() {
        void* first = nullptr;
        ::backtrace(&first, 1); // The first call loads a library, which a handler of signals must not.
        char const* const wanted = std::getenv("FAIRLEAD_TEST_DEADLINE");
        seconds_ = wanted ? std::strtod(wanted, nullptr) : std::getenv("SIM_COUNT") ? 0 : FAIRLEAD_TEST_DEADLINE;
    }

    void OnTestStart(testing::TestInfo const& test) override {
        if (!(seconds_ > 0))
            return;
        std::snprintf(running.data(), running.size(), "%s.%s", test.test_suite_name(), test.name());
        waited_for = nullptr;
        struct sigaction action = {};
        action.sa_handler = end_the_test;
        ::sigaction(SIGRTMAX, &action, nullptr);
        ::sigevent event = {};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGRTMAX;
        event._sigev_un._tid = ::gettid();
        armed_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
        auto const whole = static_cast<time_t>(seconds_);
        auto const rest = static_cast<long>((seconds_ - static_cast<double>(whole)) * 1e9);
        ::itimerspec const at = {.it_interval = {}, .it_value = {.tv_sec = whole, .tv_nsec = rest}};
        if (armed_)
            ::timer_settime(timer_, 0, &at, nullptr);
    }

    void OnTestEnd(testing::TestInfo const&) override {
        if (armed_)
            ::timer_delete(timer_);
        armed_ = false;
    }

private:
    double seconds_ = 0;
    timer_t timer_ = {};
    bool armed_ = false;
};

[[maybe_unused]] bool const listens = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new deadline); // GoogleTest deletes it.
    return true;
}();

} // namespace

waiting_for::waiting_for(char const* what) noexcept : before_(waited_for.exchange(what)) {}
waiting_for::~waiting_for() { waited_for = before_; }

} // namespace fairlead::test
