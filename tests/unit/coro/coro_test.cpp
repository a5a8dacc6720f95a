// experimental::coro: coroutines that are resumed with a token, or awaited by one another, and may yield in between.
#include <fairlead/coro/use_coro.hpp>

#include <fairlead/coro/spawn_coro.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using experimental::coro;

struct coro_failure : std::runtime_error {
    coro_failure() : std::runtime_error("coro failure") {}
};

/// Notes its end, in the frame of a coroutine.
struct frame_note {
    std::string& log;
    char const* what;
    frame_note(std::string& l, char const* w) : log(l), what(w) {}
    frame_note(frame_note const&) = delete;
    frame_note& operator=(frame_note const&) = delete;
    ~frame_note() { log += what; }
};

error_code code_of(std::exception_ptr const& e) {
    try {
        if (e)
            std::rethrow_exception(e);
        return {};
    } catch (system_error const& s) {
        return s.code();
    }
}

coro<int> numbers_to(io_context&, int n) {
    for (int i = 1; i <= n; ++i)
        co_yield i;
}
coro<void, int> number(io_context&, int n) { co_return n; }
coro<int, std::string> number_and_text(io_context&) {
    co_yield 1;
    co_return "text";
}
coro<int(int)> sums(io_context&) {
    int sum = 0;
    for (;;)
        sum += co_yield sum;
}
coro<void> fails(io_context&) {
    throw coro_failure();
    co_return;
}
class Coro : public testing::Test {
public:
    /// Resumes it once, in the simulated world.
    template <class C> std::exception_ptr resume(C& c) {
        std::exception_ptr thrown = std::make_exception_ptr(std::logic_error("not called"));
        c.async_resume([&](std::exception_ptr e, auto...) { thrown = e; });
        world.run();
        return thrown;
    }
    coro<void> sleep_in(io_context&, steady_clock::duration d) {
        steady_timer t(context, d);
        co_await t;
        log += "slept ";
    }
    std::chrono::seconds passed() const { return std::chrono::floor<std::chrono::seconds>(world.now() - created); }

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    cancellation_signal signal;
    std::string log;
};

TEST_F(Coro, YieldsAValueForEachResumptionAndThenNone) {
    auto c = numbers_to(context, 2);
    std::vector<std::optional<int>> seen;
    for (int i = 0; i != 3; ++i) {
        EXPECT_TRUE(c.is_open());
        c.async_resume([&](std::exception_ptr e, std::optional<int> v) {
            EXPECT_FALSE(e);
            seen.push_back(v);
        });
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(i)) << "the handler does not run inside the call";
        world.run();
    }
    EXPECT_EQ(seen, (std::vector<std::optional<int>>{1, 2, std::nullopt}));
    EXPECT_FALSE(c);
    EXPECT_EQ(code_of(resume(c)), error::broken_pipe) << "it has ended";
}

TEST_F(Coro, ReturnsAValue) {
    auto c = number(context, 42);
    int seen = 0;
    c.async_resume([&](std::exception_ptr, int n) { seen = n; });
    world.run();
    EXPECT_EQ(seen, 42);
    EXPECT_FALSE(c.is_open());
}

TEST_F(Coro, YieldsOneTypeAndReturnsAnother) {
    auto c = number_and_text(context);
    std::vector<std::variant<int, std::string>> seen;
    for (int i = 0; i != 2; ++i) {
        c.async_resume([&](std::exception_ptr, std::variant<int, std::string> v) { seen.push_back(std::move(v)); });
        world.run();
    }
    EXPECT_EQ(seen, (std::vector<std::variant<int, std::string>>{1, std::string("text")}));
}

TEST_F(Coro, GetsTheValueOfTheNextResumptionForWhatItYields) {
    auto c = sums(context);
    std::vector<int> seen;
    for (int i : {100, 1, 2, 3}) {
        c.async_resume(i, [&](std::exception_ptr, std::optional<int> v) { seen.push_back(*v); });
        world.run();
    }
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 3, 6}));
}

TEST_F(Coro, ExceptionReachesTheHandlerOnceAndThenItHasEnded) {
    auto c = fails(context);
    auto const thrown = resume(c);
    EXPECT_THROW(std::rethrow_exception(thrown), coro_failure);
    EXPECT_FALSE(c.is_open());
    EXPECT_EQ(code_of(resume(c)), error::broken_pipe);
}

TEST_F(Coro, WithoutACoroutineIsNotOpenAndNotResumed) {
    coro<int> c;
    EXPECT_FALSE(c.is_open());
    EXPECT_THROW(c.async_resume([](std::exception_ptr, std::optional<int>) {}), bad_executor);
}

TEST_F(Coro, IsResumedByAnAwaitable) {
    int sum = 0;
    auto const reads = [](io_context& c, int& s) -> awaitable<void> {
        auto g = numbers_to(c, 4);
        while (auto const v = co_await g.async_resume(use_awaitable))
            s += *v;
    };
    co_spawn(context, reads(context, sum), rethrow);
    world.run();
    EXPECT_EQ(sum, 10);
}

TEST_F(Coro, AwaitsOthersWithAndWithoutAValue) {
    int sum = 0;
    auto const reads = [](io_context& c, int& s) -> coro<void> {
        auto g = numbers_to(c, 4);
        while (auto const v = co_await g)
            s += *v;
        auto sum_of = sums(c);
        co_await sum_of(0);
        co_await sum_of(5);
        auto const last = co_await sum_of(6);
        s += *last;
        s += co_await number(c, 100);
    };
    auto c = reads(context, sum);
    EXPECT_FALSE(resume(c));
    EXPECT_EQ(sum, 10 + 11 + 100);
}

TEST_F(Coro, ExceptionOfOneThatIsAwaitedReachesItsCaller) {
    auto const catches = [](io_context& c, std::string& l) -> coro<void> {
        auto inner = fails(c);
        try {
            co_await inner;
        } catch (coro_failure const&) {
            l += "caught ";
        }
        co_await inner; // It has ended.
    };
    auto c = catches(context, log);
    EXPECT_EQ(code_of(resume(c)), error::broken_pipe);
    EXPECT_EQ(log, "caught ");
}

TEST_F(Coro, AwaitsOperationsAndObjectsWithAWait) {
    auto const waits = [](io_context& ctx) -> coro<void> {
        steady_timer t(ctx, 1s);
        co_await t;
        t.expires_after(1s);
        co_await t.async_wait();
        t.expires_after(1s);
        co_await t.async_wait(deferred);
        t.expires_after(1s);
        co_await t.async_wait(experimental::use_coro);
    };
    auto c = waits(context);
    EXPECT_FALSE(resume(c));
    EXPECT_EQ(passed(), 4s);
}

TEST_F(Coro, RequestEndsTheAwaitedOperationAndIsForgottenAtTheNextResumption) {
    auto const waits = [](io_context& ctx) -> coro<int> {
        steady_timer t(ctx);
        for (int i = 0;; ++i) {
            t.expires_after(1h);
            auto const [ec] = co_await t.async_wait(as_tuple);
            auto const state = co_await this_coro::cancellation_state;
            EXPECT_EQ(ec, error::operation_aborted);
            EXPECT_EQ(state.cancelled(), cancellation_type::terminal);
            co_yield i;
        }
    };
    auto c = waits(context);
    for (int i = 0; i != 2; ++i) {
        int seen = -1;
        c.async_resume(
            bind_cancellation_slot(signal.slot(), [&](std::exception_ptr, std::optional<int> v) { seen = *v; }));
        world.at(passed() + 1s, [&] { signal.emit(cancellation_type::all); });
        world.run();
        EXPECT_EQ(seen, i);
    }
    EXPECT_EQ(passed(), 2s);
}

TEST_F(Coro, RequestBeforeItRunsIsSeenByTheCoroutineItself) {
    auto const notes = [](io_context& ctx, std::string& l) -> coro<void> {
        steady_timer t(ctx, 1h);
        l += "began ";
        co_await t;
        l += "went on ";
    };
    auto c = notes(context, log);
    std::exception_ptr thrown;
    c.async_resume(bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { thrown = e; }));
    signal.emit(cancellation_type::terminal);
    world.run();
    EXPECT_EQ(code_of(thrown), error::operation_aborted);
    EXPECT_EQ(log, "began ");
    EXPECT_EQ(passed(), 0s);
}

TEST_F(Coro, ThatThrowsNothingGetsErrorsAsValuesAndGoesOnAfterARequest) {
    auto const waits = [](io_context& ctx) noexcept -> coro<void() noexcept, std::string> {
        std::string l;
        steady_timer t(ctx, 1h);
        error_code ec = co_await t;
        l += ec == error::operation_aborted ? "aborted " : "? ";
        t.expires_after(1s);
        ec = co_await t.async_wait(deferred);
        l += ec ? "? " : "waited ";
        co_return l;
    };
    auto c = waits(context);
    c.async_resume(bind_cancellation_slot(signal.slot(), [&](std::string l) { log = l; }));
    world.at(1s, [&] { signal.emit(cancellation_type::terminal); });
    world.run();
    EXPECT_EQ(log, "aborted waited ");
    EXPECT_EQ(passed(), 2s);
}

TEST_F(Coro, ThatThrowsNothingLeavesTheChoiceOfItsCallerAsItWas) {
    auto const quiet = [](io_context& ctx) noexcept -> coro<void() noexcept, void> {
        steady_timer t(ctx, 1s);
        co_await t;
    };
    auto const asks = [](io_context& ctx, decltype(quiet)& q) -> coro<void, bool> {
        co_await q(ctx);
        co_return co_await this_coro::throw_if_cancelled();
    };
    auto c = asks(context, quiet);
    bool throws = false;
    c.async_resume([&](std::exception_ptr, bool t) { throws = t; });
    world.run();
    EXPECT_TRUE(throws);
}

TEST_F(Coro, GoesOnWhenItsOwnerIsMovedOrHasGone) {
    auto const notes = [](io_context& ctx, std::string& l) -> coro<void> {
        frame_note const n(l, "frame ");
        steady_timer t(ctx, 1s);
        co_await t;
        l += "woke ";
    };
    {
        auto c = notes(context, log);
        c.async_resume([&](std::exception_ptr e) { log += e ? "? " : "handler "; });
        auto moved = std::move(c);
        EXPECT_TRUE(moved.is_open());
    }
    world.run();
    EXPECT_EQ(log, "woke frame handler ");
}

TEST_F(Coro, IsDestroyedOnItsExecutor) {
    auto const notes = [](io_context&, std::string& l) -> coro<int> {
        frame_note const n(l, "frame ");
        for (;;)
            co_yield 1;
    };
    {
        auto c = notes(context, log);
        resume(c);
    }
    EXPECT_EQ(log, "");
    world.run();
    EXPECT_EQ(log, "frame ");
}

/// An operation that never completes, since it drops its handler.
auto dropped_operation() {
    return async_initiate<void(error_code)>([](auto&& h) { auto const gone = std::move(h); }, use_await);
}

TEST_F(Coro, WhoseOperationIsDroppedGoesWithItsChainAndIsResumedNoMore) {
    auto const drops = [](io_context&, std::string& l) -> coro<void> {
        frame_note const n(l, "frame ");
        co_await dropped_operation();
    };
    auto c = drops(context, log);
    c.async_resume([&](std::exception_ptr) { ADD_FAILURE() << "it does not end"; });
    world.run();
    EXPECT_EQ(log, "frame ");
    EXPECT_FALSE(c.is_open());
    EXPECT_EQ(code_of(resume(c)), error::fault);
}

TEST_F(Coro, SpawnedIsKeptUntilItHasEnded) {
    int seen = 0;
    experimental::co_spawn(number(context, 7), [&](std::exception_ptr, int n) { seen = n; });
    experimental::co_spawn(sleep_in(context, 1s), detached);
    world.run();
    EXPECT_EQ(seen, 7);
    EXPECT_EQ(log, "slept ");
}

TEST_F(Coro, UseCoroThrowsTheErrorOfTheOperation) {
    steady_timer t(context, 1h);
    auto wait = t.async_wait(experimental::use_coro);
    static_assert(std::is_same_v<decltype(wait), coro<void(), void>>);
    t.cancel();
    world.at(1s, [&] { t.cancel(); });
    EXPECT_EQ(code_of(resume(wait)), error::operation_aborted);
}

TEST_F(Coro, UseCoroGivesTheValueOfAnOperationThatCannotFail) {
    auto c = async_initiate<void(int)>([](auto&& h) { std::move(h)(5); }, experimental::use_coro);
    static_assert(
        std::is_same_v<decltype(c)::traits, experimental::coro_traits<void() noexcept, int, any_io_executor>>);
    int seen = 0;
    auto const reads = [](io_context&, decltype(c) inner, int& s) -> coro<void> { s = co_await inner; };
    auto outer = reads(context, std::move(c), seen);
    EXPECT_FALSE(resume(outer));
    EXPECT_EQ(seen, 5) << "it runs anywhere";
}

TEST_F(Coro, KeepsTheTypeOfItsExecutor) {
    using executor = io_context::executor_type;
    auto const asks = [](executor) -> coro<void, bool, executor> {
        auto const e = co_await this_coro::executor;
        static_assert(std::is_same_v<decltype(e), executor const>);
        co_return e.running_in_this_thread();
    };
    auto c = asks(context.get_executor());
    static_assert(std::is_same_v<decltype(c.get_executor()), executor>);
    bool inside = false;
    c.async_resume([&](std::exception_ptr, bool i) { inside = i; });
    world.run();
    EXPECT_TRUE(inside);
}

} // namespace
