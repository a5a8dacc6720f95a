// The requests to a coroutine that is part of a group: they lie in the group, until the coroutine asks for them.
#include <fairlead/coro/stop_token.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/scope/cancel_after.hpp>
#include <unit/sync/waiting.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace waiting;

class MemberState : public World {
public:
    /// Runs `part` beside another one in a group, which is asked to end after a second.
    template <class F> void ask(F part) {
        auto both = [this, &part]() -> awaitable<void> {
            co_await when_all(part(), sleep(0s));
            log += "group";
        };
        co_spawn(context, both, bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) {
                     log += e ? " aborted" : " ended";
                 }));
        world.at(1s, [this] { signal.emit(cancellation_type::all); });
        world.run();
    }
    /// Waits, and says how that ended.
    awaitable<void> wait(steady_clock::duration d) {
        steady_timer t(context, d);
        auto const [ec] = co_await t.async_wait(as_tuple);
        log += ec ? "cut " : "whole ";
    }

    cancellation_signal signal;
};

TEST_F(MemberState, ARequestBeforeItIsLookedAtIsInIt) {
    ask([this]() -> awaitable<void> {
        co_await this_coro::throw_if_cancelled(false);
        co_await wait(9s);
        auto const state = co_await this_coro::cancellation_state;
        EXPECT_EQ(state.cancelled(), cancellation_type::terminal);
    });
    EXPECT_EQ(log, "cut group ended");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(MemberState, ALaterRequestIsInIt) {
    ask([this]() -> awaitable<void> {
        auto const state = co_await this_coro::cancellation_state;
        EXPECT_EQ(state.cancelled(), cancellation_type::none);
        co_await wait(9s);
        EXPECT_EQ(state.cancelled(), cancellation_type::terminal);
    });
    EXPECT_EQ(log, "cut group ended");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(MemberState, AStateThatIsKeptDoesNotKeepTheGroup) {
    cancellation_state kept;
    ask([&]() -> awaitable<void> { kept = co_await this_coro::cancellation_state; });
    EXPECT_EQ(log, "group ended");
    EXPECT_EQ(kept.cancelled(), cancellation_type::none);
}

TEST_F(MemberState, AMemberWithFiltersOfItsOwnStaysUntilItEnds) {
    ask([this]() -> awaitable<void> {
        co_await this_coro::reset_cancellation_state(disable_cancellation());
        co_await wait(3s);
        co_await this_coro::reset_cancellation_state(enable_total_cancellation());
        co_await wait(1s);
    });
    EXPECT_EQ(log, "whole whole group ended");
    EXPECT_EQ(passed(), 4s);
}

TEST_F(MemberState, ItHearsTerminalRequestsOnly) {
    spawn([this]() -> awaitable<void> {
        co_await cancel_after(1s, cancellation_type::partial, wait(3s));
        log += "ended";
    });
    world.run();
    EXPECT_EQ(log, "whole ended");
    EXPECT_EQ(passed(), 3s);
}

TEST_F(MemberState, ItHearsWhatItsFiltersLetThrough) {
    auto part = [this]() -> awaitable<void> {
        co_await this_coro::reset_cancellation_state(enable_total_cancellation());
        co_await wait(3s);
    };
    spawn([&]() -> awaitable<void> {
        co_await cancel_after(1s, cancellation_type::total, part());
        log += "ended";
    });
    world.run();
    EXPECT_EQ(log, "cut ended");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(MemberState, AStopTokenOfAMemberIsStopped) {
    std::stop_token token;
    ask([&]() -> awaitable<void> {
        token = co_await this_coro::stop_token();
        EXPECT_TRUE(token.stop_possible());
        EXPECT_FALSE(token.stop_requested());
        co_await wait(9s);
        EXPECT_TRUE(token.stop_requested());
    });
    EXPECT_EQ(log, "cut group ended");
}

awaitable<void> member_that_yields() { co_await this_coro::yield(); }
awaitable<void> member_that_looks(std::uint64_t& cached) {
    cached = impl::exec::recycler_count().cached;
    co_return;
}
/// Blocks that `n` coroutines of a group have taken when all of them wait. There are enough in the thread's cache.
awaitable<std::uint64_t> blocks_of_group(int n) {
    std::uint64_t while_all_wait = 0;
    std::vector<awaitable<void>> parts;
    auto const before = impl::exec::recycler_count().cached;
    for (int i = 0; i != n; ++i)
        parts.push_back(member_that_yields());
    parts.push_back(member_that_looks(while_all_wait));
    co_await when_all(std::move(parts));
    co_return before - while_all_wait;
}
TEST_F(MemberState, AMemberTakesNoBlockBesidesItsFrame) {
    std::uint64_t of_five = 0, of_nine = 0;
    spawn([&]() -> awaitable<void> {
        co_await blocks_of_group(9); // fills the cache
        of_five = co_await blocks_of_group(5);
        of_nine = co_await blocks_of_group(9);
    });
    world.run();
    EXPECT_GE(of_five, 5U);
    EXPECT_EQ(of_nine - of_five, 4U);
}

} // namespace
