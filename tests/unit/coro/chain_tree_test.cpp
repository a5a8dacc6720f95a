// Groups of chains as nodes of a tree: asking, destroying and writing out what is below one.
#include <fairlead/coro/chain_tree.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/post.hpp>

#include <catalogue/small_stack.hpp>
#include <support/group_member.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using impl::coro::chain_group;
using test::group_member;

std::string end_of(std::exception_ptr const& e) {
    try {
        if (!e)
            return "value";
        std::rethrow_exception(e);
    } catch (system_error const& x) {
        return x.code() == error::operation_aborted ? "aborted" : "error";
    }
}

class ChainTree : public testing::Test {
public:
    /// A tree of `width` members on each of `depth` levels; the lowest wait for an hour.
    awaitable<void> grow(int depth, int width) {
        counted const here(alive);
        lowest = co_await own_record();
        if (depth == 0) {
            steady_timer t(context, 1h);
            ++waiting;
            co_await t.async_wait();
            co_return;
        }
        std::vector<group_member> members(static_cast<std::size_t>(width));
        chain_group group;
        for (auto& m : members)
            m.join(group, context.get_executor(), grow(depth - 1, width));
        if (depth == written)
            at_group = &group;
        co_await group.run();
        for (auto& m : members)
            ++ends[m.result ? end_of(std::get<0>(*m.result)) : "destroyed"];
    }
    void start(int depth, int width) {
        co_spawn(context, grow(depth, width),
                 bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) { top = end_of(e); }));
    }

    struct counted {
        int& n;
        explicit counted(int& count) : n(count) { ++n; }
        counted(counted const&) = delete;
        ~counted() { --n; }
    };
    static awaitable<void> wait_in(io_context& c, int& alive) {
        counted const here(alive);
        steady_timer t(c, 1h);
        co_await t.async_wait();
    }
    /// The record of the awaiting coroutine's chain.
    struct own_record {
        await_record const* record = nullptr;
        own_record() noexcept {}
        bool await_ready() const noexcept { return false; }
        template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
            record = h.promise().link.record;
            return false;
        }
        await_record const* await_resume() const noexcept { return record; }
    };

    sim::world world{1};
    io_context& context = world.context();
    steady_clock::time_point const created = world.now();
    cancellation_signal signal;
    int alive = 0, waiting = 0, written = -1;
    chain_group* at_group = nullptr;
    std::map<std::string, int> ends;
    std::string top = "none", log;
    await_record const* lowest = nullptr;
};

TEST_F(ChainTree, ARequestReachesEverythingBelow) {
    start(3, 4);
    world.at(1s, [this] { signal.emit(cancellation_type::terminal); });
    world.run();
    EXPECT_EQ(waiting, 64);
    EXPECT_EQ(ends, (std::map<std::string, int>{{"aborted", 64}, {"value", 20}}));
    EXPECT_EQ(top, "value");
    EXPECT_EQ(alive, 0);
    EXPECT_LT(world.now().time_since_epoch(), 1h);
}

TEST_F(ChainTree, ADeepOneIsAskedOnASmallStack) {
    fairlead::test::on_small_stack([this] {
        start(static_cast<int>(test::scaled(20'000, 2'000)), 1);
        world.at(1s, [this] { signal.emit(cancellation_type::terminal); });
        world.run();
    });
    EXPECT_EQ(ends["aborted"], 1);
    EXPECT_EQ(top, "value");
    EXPECT_EQ(alive, 0);
}

TEST_F(ChainTree, AWideOneIsAskedSomeInEachTurn) {
    int const members = 1'000;
    int ended_at_turn = -1, turns = 0;
    start(1, members);
    std::function<void()> turn = [&] {
        ++turns;
        if (alive < members && ended_at_turn < 0)
            ended_at_turn = turns;
        if (alive != 0)
            post(context, turn);
    };
    world.at(1s, [&] {
        signal.emit(cancellation_type::terminal);
        post(context, turn);
    });
    world.run();
    EXPECT_EQ(ends["aborted"], members);
    EXPECT_GE(turns, members / 64);
}

TEST_F(ChainTree, IsWrittenOut) {
    start(2, 2);
    std::string before;
    world.at(1s, [&] {
        before = impl::coro::whole_tree(*lowest);
        EXPECT_EQ(impl::coro::tree_below(*lowest).find("group"), std::string::npos);
        signal.emit(cancellation_type::terminal);
    });
    world.run();
    auto const count = [&](std::string_view part) {
        int n = 0;
        for (auto at = before.find(part); at != before.npos; at = before.find(part, at + 1))
            ++n;
        return n;
    };
    EXPECT_EQ(count("a chain, awaits a group\n"), 3) << before;
    EXPECT_EQ(count("    a chain\n"), 4) << before;
    EXPECT_EQ(count("ChainTree::grow\n"), 7) << before;
}

TEST_F(ChainTree, WhatIsDestroyedEndsWithoutAResult) {
    written = 1; // The lowest groups.
    start(2, 3);
    world.at(1s, [this] { at_group->destroy(); });
    world.at(2s, [this] { signal.emit(cancellation_type::terminal); });
    world.run();
    EXPECT_EQ(ends, (std::map<std::string, int>{{"aborted", 6}, {"destroyed", 3}, {"value", 3}}));
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(top, "value");
}

TEST_F(ChainTree, AWholeSubtreeIsDestroyedBelowTheGroupThatSaysSo) {
    written = 3;
    start(3, 3);
    world.at(1s, [this] {
        EXPECT_EQ(alive, 1 + 3 + 9 + 27);
        at_group->destroy();
    });
    world.run();
    EXPECT_EQ(ends, (std::map<std::string, int>{{"destroyed", 3}}));
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(top, "value");
    EXPECT_LT(world.now().time_since_epoch(), 1h);
}

TEST_F(ChainTree, TheContextsEndDestroysIt) {
    {
        io_context own;
        co_spawn(
            own,
            [&]() -> awaitable<void> {
                counted const here(alive);
                group_member members[2];
                chain_group group;
                for (auto& m : members)
                    m.join(group, own.get_executor(), wait_in(own, alive));
                co_await group.run();
                ADD_FAILURE() << "a group of a context that has gone went on";
            },
            detached);
        own.poll();
        EXPECT_EQ(alive, 3);
    }
    EXPECT_EQ(alive, 0);
}

TEST_F(ChainTree, AGroupThatIsNotAwaitedDestroysItsMembersUnstarted) {
    struct coroutine {
        static awaitable<void> hold(std::shared_ptr<int> p) {
            ++*p;
            co_return;
        }
    };
    auto const held = std::make_shared<int>(0);
    group_member m;
    {
        chain_group group;
        m.join(group, context.get_executor(), coroutine::hold(held));
        EXPECT_EQ(held.use_count(), 2);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
    EXPECT_FALSE(m.result);
}

TEST_F(ChainTree, NothingStartsUnderARequest) {
    struct coroutine {
        static awaitable<void> run(ChainTree& t) {
            t.signal.emit(cancellation_type::terminal);
            co_await t.grow(1, 2);
        }
    };
    co_spawn(context, coroutine::run(*this),
             bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) { top = end_of(e); }));
    world.run();
    EXPECT_EQ(waiting, 0);
    EXPECT_EQ(top, "aborted");
    EXPECT_EQ(alive, 0);
}

TEST_F(ChainTree, AGroupOfNoneCompletesAtOnce) {
    start(1, 0);
    world.run();
    EXPECT_EQ(top, "value");
}

TEST_F(ChainTree, ARequestFromInsideAMembersStartReachesTheOthers) {
    struct coroutine {
        static awaitable<void> ask(ChainTree& t) {
            t.signal.emit(cancellation_type::terminal);
            co_return;
        }
        static awaitable<void> run(ChainTree& t) {
            group_member m[3];
            chain_group group;
            m[0].join(group, t.context.get_executor(), t.grow(0, 0));
            m[1].join(group, t.context.get_executor(), ask(t));
            m[2].join(group, t.context.get_executor(), t.grow(0, 0));
            co_await group.run();
            for (auto& each : m)
                t.log += end_of(std::get<0>(*each.result)) + " ";
        }
    };
    co_spawn(context, coroutine::run(*this),
             bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e) { top = end_of(e); }));
    world.run();
    EXPECT_EQ(log, "aborted value aborted ");
    EXPECT_EQ(top, "value");
    EXPECT_LT(world.now().time_since_epoch(), 1h);
}

TEST_F(ChainTree, AMemberThatShieldsItselfIsWaitedForAndThenDestroyed) {
    struct coroutine {
        static awaitable<void> shielded(ChainTree& t) {
            counted const here(t.alive);
            co_await this_coro::reset_cancellation_state(disable_cancellation());
            steady_timer timer(t.context, 10s);
            co_await timer.async_wait();
            ADD_FAILURE() << "a chain that is to be destroyed went on";
        }
        static awaitable<void> run(ChainTree& t) {
            group_member m;
            chain_group group;
            m.join(group, t.context.get_executor(), shielded(t));
            t.at_group = &group;
            co_await group.run();
            t.log = m.result ? "result" : "destroyed";
        }
    };
    auto const begin = world.now();
    co_spawn(context, coroutine::run(*this), detached);
    world.at(1s, [this] { at_group->destroy(); });
    world.run();
    EXPECT_EQ(log, "destroyed");
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(world.now() - begin, 10s);
}

using local_socket = local::stream_protocol::socket;

struct destroyed_readers {
    static awaitable<void> some(local_socket& s, char* place) {
        co_await s.async_read_some(buffer(place, 1));
        ADD_FAILURE() << "a chain that is to be destroyed went on";
    }
    static awaitable<void> line(local_socket& s, char* place) {
        std::string text;
        co_await async_read_until(s, dynamic_buffer(text), "\r\n");
        *place = text.front();
        ADD_FAILURE() << "a chain that is to be destroyed went on";
    }
    static awaitable<void> all_the_time(ChainTree& t) {
        for (int i = 0;; ++i) {
            if (i == 3)
                t.at_group->destroy();
            co_await post(t.context, deferred);
        }
    }
    static awaitable<void> run(ChainTree& t, awaitable<void> a) {
        group_member m;
        chain_group group;
        m.join(group, t.context.get_executor(), std::move(a));
        t.at_group = &group;
        co_await group.run();
        t.log += m.result ? "result " : "destroyed ";
    }
};

TEST_F(ChainTree, WhatADestroyedMemberHadGotIsGivenUp) {
    for (auto* const read : {&destroyed_readers::some, &destroyed_readers::line}) {
        local_socket near(context), far(context);
        local::connect_pair(near, far);
        char place = ' ';
        co_spawn(context, destroyed_readers::run(*this, read(near, &place)), detached);
        world.at(world.now() - created + 1s, [&] {
            far.write_some(buffer("x", 1));
            at_group->destroy();
        });
        world.run();
    }
    EXPECT_EQ(log, "destroyed destroyed ");
}

TEST_F(ChainTree, AMemberThatIsAlwaysReadyIsDestroyedAtItsNextAwait) {
    co_spawn(context, destroyed_readers::run(*this, destroyed_readers::all_the_time(*this)), detached);
    world.run();
    EXPECT_EQ(log, "destroyed ");
}

TEST(ChainTreeOfThreads, MembersEndAndAreAskedAtTheSameTime) {
    thread_pool pool(3);
    for (int round = 0; round != static_cast<int>(test::scaled(300, 30)); ++round) {
        io_context context;
        cancellation_signal signal;
        struct coroutine {
            static awaitable<void> work(cancellation_signal& s, int n) {
                for (int i = 0; i != n; ++i)
                    co_await this_coro::yield();
                if (n == 4)
                    s.emit(cancellation_type::terminal); // The others end at about this time.
            }
            static awaitable<void> run(thread_pool& pool, cancellation_signal& s) {
                group_member m[16];
                chain_group group;
                int n = 0;
                for (auto& each : m)
                    each.join(group, pool.get_executor(), work(s, ++n % 8));
                co_await group.run();
                for (auto& each : m)
                    EXPECT_TRUE(each.result);
            }
        };
        bool done = false;
        co_spawn(context, coroutine::run(pool, signal),
                 bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
                     EXPECT_EQ(end_of(e), "value");
                     done = true;
                 }));
        context.run();
        EXPECT_TRUE(done);
    }
}

} // namespace
