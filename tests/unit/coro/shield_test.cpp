// shield: what is in it goes on when its coroutine has been asked to end.
#include <fairlead/coro/shield.hpp>

#include <fairlead/coro/when_all.hpp>
#include <support/group_member.hpp>
#include <unit/sync/waiting.hpp>

namespace {

using namespace waiting;
using impl::coro::chain_group;
using test::group_member;

class Shield : public World {
public:
    /// Runs a coroutine that is asked to end after a second.
    template <class F> void ask(F f) {
        co_spawn(context, std::move(f), bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) {
                     log += e ? "aborted" : "ended";
                 }));
        world.at(1s, [this] { signal.emit(cancellation_type::all); });
        world.run();
    }
    awaitable<int> after(steady_clock::duration d, int value) {
        co_await sleep(d);
        log += "whole ";
        co_return value;
    }

    cancellation_signal signal;
};

TEST_F(Shield, WhatIsInItEndsAsUsualAndTheNextAwaitHearsOfTheRequest) {
    ask([this]() -> awaitable<void> {
        EXPECT_EQ(co_await shield(after(3s, 7)), 7);
        EXPECT_EQ(passed(), 3s);
        log += "then ";
        co_await sleep(1h);
    });
    EXPECT_EQ(log, "whole then aborted");
    EXPECT_EQ(passed(), 3s);
}

TEST_F(Shield, ItBeginsAfterARequest) {
    ask([this]() -> awaitable<void> {
        bool cleans_up = false;
        try {
            co_await sleep(1h);
        } catch (system_error const&) {
            cleans_up = true;
        }
        EXPECT_TRUE(cleans_up);
        steady_timer t(context, 2s);
        co_await shield(t.async_wait()); // an operation
        co_await shield(after(2s, 7));   // a coroutine
        co_await shield(when_all(after(2s, 8), after(1s, 9)));
        EXPECT_EQ(passed(), 7s);
        co_await sleep(1h);
    });
    EXPECT_EQ(log, "whole whole whole aborted");
}

TEST_F(Shield, ItStandsInsideAnother) {
    ask([this]() -> awaitable<void> {
        auto outer = [this]() -> awaitable<void> {
            co_await shield(after(2s, 1));
            co_await sleep(2s);
            log += "outer ";
        };
        co_await shield(outer());
        EXPECT_EQ(passed(), 4s);
        co_await sleep(1h);
    });
    EXPECT_EQ(log, "whole outer aborted");
}

TEST_F(Shield, TheDestructionOfTheChainReachesIt) {
    chain_group* at_group = nullptr;
    auto shielded = [this]() -> awaitable<void> {
        co_await shield(sleep(1h));
        ADD_FAILURE() << "a chain that is to be destroyed went on";
    };
    spawn([&]() -> awaitable<void> {
        group_member m;
        chain_group group;
        m.join(group, context.get_executor(), shielded());
        at_group = &group;
        co_await group.run();
        log += m.result ? "result" : "destroyed";
    });
    world.at(1s, [&] { at_group->destroy(); });
    world.run();
    EXPECT_EQ(log, "destroyed");
    EXPECT_EQ(passed(), 1s);
}

TEST_F(Shield, ItDoesNotBeginInAChainThatIsToBeDestroyed) {
    chain_group* at_group = nullptr;
    auto shielded = [&]() -> awaitable<void> {
        at_group->destroy();
        co_await this_coro::yield(); // The walk comes first.
        auto part = [this]() -> awaitable<void> {
            log += "begun ";
            co_return;
        };
        co_await shield(part());
        ADD_FAILURE() << "a chain that is to be destroyed went on";
    };
    spawn([&]() -> awaitable<void> {
        group_member m;
        chain_group group;
        m.join(group, context.get_executor(), shielded());
        at_group = &group;
        co_await group.run();
        log += m.result ? "result" : "destroyed";
    });
    world.run();
    EXPECT_EQ(log, "destroyed");
    EXPECT_EQ(passed(), 0s);
}

TEST_F(Shield, TheContextsEndDestroysIt) {
    spawn([this]() -> awaitable<void> { co_await shield(sleep(1h)); });
    context.poll();
    context.abandon_all();
    world.run();
    EXPECT_EQ(passed(), 0s);
}

} // namespace
