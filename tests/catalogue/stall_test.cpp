// F12: the program blocks the loop. The handlers here wait until they have been reported, so no test measures time.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/work_guard.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/io/stall_detector.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

class stall_reports {
public:
    void add(stall const& s) {
        std::lock_guard const lock(mutex_);
        all_.push_back(s);
        changed_.notify_all();
    }
    [[gnu::noinline]] void wait_for(std::size_t n) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, 20s, [&] { return all_.size() >= n; }))
            ADD_FAILURE() << "no report"; // A test of a bug must end by itself, too.
    }
    std::vector<stall> all() {
        std::lock_guard const lock(mutex_);
        return all_;
    }
    stall_options with(std::chrono::nanoseconds limit = 2ms) {
        return {.limit = limit, .report = [this](stall const& s) { add(s); }};
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<stall> all_;
};

bool has(std::string const& text, std::string_view part) { return text.find(part) != text.npos; }

struct handler_that_blocks {
    stall_reports& until;
    void operator()() const { until.wait_for(1); }
};

TEST(Catalogue, F12_AHandlerThatBlocksTheLoopIsNamedWithItsStack) {
    stall_reports reports;
    io_context context;
    stall_detector const detector(context, reports.with());
    post(context, handler_that_blocks{reports});
    context.run();
    auto const first = reports.all().at(0);
    EXPECT_TRUE(has(first.running, "handler_that_blocks")) << first.running;
    EXPECT_GE(first.lasted, 2ms);
    EXPECT_EQ(first.thread, ::gettid());
    auto const waits = first.stack.find("stall_reports::wait_for");
    auto const runs = first.stack.find("io_loop::run");
    EXPECT_LT(waits, runs) << first.stack;
    EXPECT_NE(runs, first.stack.npos) << first.stack;
    EXPECT_TRUE(has(to_string(first), first.running + " has kept a loop for ")) << to_string(first);
    EXPECT_TRUE(has(to_string(first), first.stack));
}

awaitable<void> innermost_that_blocks(stall_reports& until) {
    until.wait_for(1);
    co_return;
}
awaitable<void> outermost_that_awaits(stall_reports& until) { co_await innermost_that_blocks(until); }

TEST(Catalogue, F12_ACoroutineThatBlocksTheLoopIsNamed) {
    stall_reports reports;
    io_context context;
    stall_detector const detector(context, reports.with());
    co_spawn(context, outermost_that_awaits(reports), detached);
    context.run();
    auto const first = reports.all().at(0);
    EXPECT_TRUE(has(first.running, "innermost_that_blocks")) << first.running << '\n' << first.stack;
}

/// Keeps its loop turning.
struct handler_that_goes_on {
    io_context& context;
    std::atomic<bool> const& is_over;
    std::atomic<bool>& has_begun;
    void operator()() const {
        has_begun = true;
        has_begun.notify_all();
        if (!is_over)
            post(context, handler_that_goes_on(*this));
    }
};

TEST(Catalogue, F12_OneOfSeveralThreadsThatIsStuckIsReportedWhileOthersGoOn) {
    impl::exec::shares::prepare();
    if (!impl::exec::shares::are_possible())
        GTEST_SKIP() << "the system refuses membarrier(2)";
    stall_reports reports;
    io_context context;
    stall_detector const detector(context, reports.with());
    auto guard = std::make_optional(make_work_guard(context));
    std::thread other([&] { context.run(); });
    std::optional<long> stuck;
    std::atomic<bool> is_over = false;
    std::atomic<bool> others_go_on = false;
    post(context, [&] {
        stuck = ::gettid();
        post(context, handler_that_goes_on{context, is_over, others_go_on});
        others_go_on.wait(false); // The other thread runs it.
        reports.wait_for(1);
        is_over = true;
        guard.reset();
    });
    context.run();
    other.join();
    EXPECT_EQ(reports.all().at(0).thread, stuck);
}

TEST(Catalogue, F12_AThreadThatIsInsideRunWhenTheDetectorComesIsWatched) {
    stall_reports reports;
    io_context context;
    std::optional<stall_detector> detector;
    post(context, [&] {
        detector.emplace(context, reports.with());
        reports.wait_for(1);
    });
    context.run();
    EXPECT_EQ(reports.all().at(0).thread, ::gettid());
}

TEST(Catalogue, F12_AHandlerThatStaysStuckIsReportedAtEachDoublingOfItsTime) {
    stall_reports reports;
    io_context context;
    stall_detector const detector(context, reports.with());
    post(context, [&] { reports.wait_for(3); });
    context.run();
    auto const all = reports.all();
    EXPECT_GE(all.at(1).lasted, 2 * all.at(0).lasted);
    EXPECT_GE(all.at(2).lasted, 2 * all.at(1).lasted);
}

TEST(Catalogue, F12_ALoopThatIsIdleIsNeitherReportedNorWokenUp) {
    stall_reports reports;
    stall_reports of_idle;
    io_context idle;
    io_context busy;
    auto guard = make_work_guard(idle);
    stall_detector const of_busy(busy, reports.with());
    std::uint64_t first_turn = 0;
    std::uint64_t last_turn = 0;
    std::latch begun(1);
    post(idle, [&] {
        first_turn = idle.counters().turns;
        begun.count_down();
    });
    std::thread other([&] { idle.run(); });
    begun.wait();
    stall_detector const watches_idle(idle, of_idle.with());
    post(busy, [&] { reports.wait_for(5); }); // After 32 milliseconds at least: as many looks at the idle loop.
    busy.run();
    post(idle, [&] { last_turn = idle.counters().turns; });
    guard.reset();
    other.join();
    EXPECT_TRUE(of_idle.all().empty());
    EXPECT_LE(last_turn, first_turn + 6) << "the detector, the post and the guard wake it";
}

TEST(Catalogue, F12_ADetectorMayGoWhileAHandlerIsStuckAndAContextBeforeItsDetector) {
    stall_reports reports;
    io_context stuck;
    std::optional<stall_detector> detector(std::in_place, stuck, reports.with());
    post(stuck, [&] {
        reports.wait_for(1);
        detector.reset();
    });
    stuck.run();
    EXPECT_FALSE(detector);

    std::optional<io_context> gone(std::in_place);
    detector.emplace(*gone, reports.with());
    post(*gone, [] {});
    gone->run();
    gone.reset();
    detector.reset();
}

TEST(Catalogue, F12_ADetectorMayGoInTheChildOfAForkToo) {
    stall_reports reports;
    io_context context;
    std::optional<stall_detector> detector(std::in_place, context, reports.with());
    for (int i = 0; i != 10; ++i) { // A child from before the thread waits shows nothing.
        ::pid_t const child = ::fork();
        if (child == 0) {
            ::alarm(20); // Its thread is not there to be waited for.
            detector.reset();
            ::_exit(0);
        }
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0) << "child " << i;
    }
    post(context, [&] { reports.wait_for(1); });
    context.run();
    EXPECT_FALSE(reports.all().empty()) << "the parent is watched as before";
}

TEST(Catalogue, F12_TheActionOfTheSignalIsGivenBack) {
    int const number = SIGRTMIN + 3;
    auto const handler_now = [number] {
        struct sigaction now{};
        ::sigaction(number, nullptr, &now);
        return now.sa_handler;
    };
    auto const ours = +[](int) {};
    struct sigaction action{};
    action.sa_handler = ours;
    struct sigaction before{};
    ::sigaction(number, &action, &before);
    stall_reports reports;
    io_context context;
    {
        auto options = reports.with();
        options.signal = number;
        stall_detector const detector(context, std::move(options));
        EXPECT_NE(handler_now(), ours);
        post(context, [&] { reports.wait_for(1); });
        context.run();
    }
    EXPECT_EQ(handler_now(), ours);
    ::sigaction(number, &before, nullptr);
}

TEST(Catalogue, F12_AnotherSignalOfTheSameNumberAsksNothing) {
    stall_reports reports;
    io_context context;
    stall_detector const detector(context, reports.with());
    ::raise(SIGRTMAX - 1);
    post(context, [&] { reports.wait_for(1); });
    context.run();
    EXPECT_FALSE(reports.all().empty());
}

TEST(Catalogue, F12_ADetectorThatCannotWatchIsRefused) {
    io_context context;
    auto const refusal = [&](stall_options o) {
        try {
            stall_detector const d(context, std::move(o));
        } catch (system_error const& e) {
            return e.code();
        }
        return error_code();
    };
    EXPECT_EQ(refusal({.limit = 999us}), error::invalid_argument);
    EXPECT_EQ(refusal({.signal = 65}), error::invalid_argument);
    EXPECT_EQ(refusal({.signal = SIGKILL}), error::invalid_argument);
    {
        stall_detector const first(context);
        EXPECT_EQ(refusal({}), error::already_open);
    }
    EXPECT_EQ(refusal({}), error_code());
}

} // namespace
