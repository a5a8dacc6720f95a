// Nobody starves: an operation that is always ready, or a handler that posts itself for ever, leaves the others their
// turns. Counted in units and items, as include/fairlead/exec/budget.hpp publishes them, never in time.
#include "streams.hpp"
#include "support/scale.hpp"

#include <fairlead/exec/budget.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <algorithm>
#include <functional>

namespace fairlead::conformance {
namespace {

using namespace std::chrono_literals;
using fairlead::test::scaled;

class Fairness : public stream_conformance_test {
protected:
    /// The work that an item may do: complete the operation that it had waited for, and so many at once.
    static constexpr std::uint64_t units_of_an_item = fairness::units_most + 1U;
    /// The most that somebody who is always ready does while the driver is not looked at.
    static constexpr std::uint64_t units_between_polls =
        std::uint64_t{fairness::batches_per_poll + 1} * fairness::batch_items * units_of_an_item;
    static constexpr std::uint64_t items_between_polls =
        std::uint64_t{fairness::batches_per_poll + 1} * fairness::batch_items;

    /// Peeks at a byte that nobody takes, until told to stop: each attempt could be immediate.
    template <class Socket> void peek_for_ever(Socket& s, std::uint64_t& units, bool const& stop) {
        spawn([&s, &units, &stop]() -> awaitable<void> {
            char c;
            while (!stop) {
                co_await s.async_receive(buffer(&c, 1), socket_base::message_peek);
                ++units;
            }
        });
    }
};

/// How much of something happens between two turns of somebody at the most.
struct turn_watch {
    std::uint64_t const& units;
    std::uint64_t before = 0;
    std::uint64_t most = 0;
    int turns = 0;

    explicit turn_watch(std::uint64_t const& u) : units(u) {}
    void turn() {
        most = std::max(most, units - before);
        before = units;
        ++turns;
    }
};

TEST_P(Fairness, SocketThatIsAlwaysReadyDoesNotStarveATimer) {
    connected([&](auto& near, auto& far) {
        send(far, near, "x");
        std::uint64_t units = 0;
        bool stop = false;
        turn_watch watch(units);
        peek_for_ever(near, units, stop);
        run_until([&] { return units > 100; });
        spawn([&]() -> awaitable<void> {
            steady_timer timer(context());
            while (watch.turns != 50) {
                timer.expires_after(0s);
                co_await timer.async_wait();
                watch.turn();
            }
            stop = true;
        });
        run();
        EXPECT_EQ(watch.turns, 50);
        EXPECT_LE(watch.most, units_between_polls);
    });
}

TEST_P(Fairness, TimerThatIsAlwaysDueDoesNotStarveASocket) {
    connected([&](auto& near, auto& far) {
        std::uint64_t ticks = 0;
        bool got = false;
        completion sent;
        spawn([&]() -> awaitable<void> {
            char c;
            co_await near.async_read_some(buffer(&c, 1));
            got = true;
        });
        settle(); // The read waits for the driver's word.
        async_write(far, buffer("x", 1), sent.handler());
        spawn([&]() -> awaitable<void> {
            steady_timer timer(context());
            while (!got && ticks != 200'000) {
                timer.expires_after(0s);
                co_await timer.async_wait();
                ++ticks;
            }
        });
        run();
        EXPECT_TRUE(got);
        EXPECT_LT(ticks, 200'000U);
    });
}

TEST_P(Fairness, SocketThatIsAlwaysReadyDoesNotStarveAnother) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket near(context()), far(context()), a(context()), b(context());
        connect(t, near, far);
        connect(t, a, b);
        send(far, near, "x");
        std::uint64_t units = 0;
        bool stop = false;
        turn_watch watch(units);
        int const turns = differs("bytes-travel") ? static_cast<int>(scaled(2, 1)) : 50;
        peek_for_ever(near, units, stop);
        spawn([&]() -> awaitable<void> {
            char c = 'y';
            while (watch.turns != turns) {
                co_await b.async_write_some(buffer(&c, 1));
                co_await a.async_read_some(buffer(&c, 1)); // needs a look at the driver
                watch.turn();
            }
            stop = true;
        });
        run();
        EXPECT_EQ(watch.turns, turns);
        if (!differs("bytes-travel")) {
            EXPECT_LE(watch.most, 2 * units_between_polls); // the byte may come just after a look
        }
    });
}

TEST_P(Fairness, SocketThatIsAlwaysReadyDoesNotStarveAPost) {
    connected([&](auto& near, auto& far) {
        send(far, near, "x");
        std::uint64_t units = 0;
        bool stop = false;
        turn_watch watch(units);
        peek_for_ever(near, units, stop);
        std::function<void()> again = [&] {
            watch.turn();
            stop = watch.turns == 200;
            if (!stop)
                post(context(), again);
        };
        post(context(), again);
        run();
        EXPECT_EQ(watch.turns, 200);
        // Two items take turns; in any order, one of them may come twice.
        EXPECT_LE(watch.most, 2 * units_of_an_item);
    });
}

TEST_P(Fairness, TwoSocketsThatAreAlwaysReadyShareTheTurns) {
    connected([&](auto& near, auto& far) {
        send(far, near, "x");
        send(near, far, "y");
        constexpr std::uint64_t end = 20'000;
        std::uint64_t units[2] = {0, 0}, most[2] = {0, 0}, at_first[2] = {0, 0};
        auto const peek = [&](auto& s, std::size_t mine) {
            spawn([&s, &units, &most, &at_first, mine]() -> awaitable<void> {
                char c;
                std::uint64_t others = units[1 - mine];
                while (units[mine] != end) {
                    co_await s.async_receive(buffer(&c, 1), socket_base::message_peek);
                    ++units[mine];
                    // For the bytes behind the first read, which fills its buffer, the driver has to be asked.
                    auto& most_now = units[mine] < 3 ? at_first[mine] : most[mine];
                    if (units[1 - mine] != end)
                        most_now = std::max(most_now, units[1 - mine] - others);
                    others = units[1 - mine];
                }
            });
        };
        peek(near, 0);
        peek(far, 1);
        run();
        EXPECT_EQ(units[0] + units[1], 2 * end);
        if (!differs("ready-is-put-off")) {
            for (auto const m : most)
                EXPECT_LE(m, 2 * units_of_an_item);
            for (auto const m : at_first)
                EXPECT_LT(m, end / 2) << "it is asked when a slice is over";
        }
    });
}

TEST_P(Fairness, ItemGetsNoMoreThanThePublishedUnits) {
    connected([&](auto& near, auto& far) {
        send(far, near, "x");
        std::uint64_t units = 0, most = 0, before = 0;
        bool stop = false;
        auto const yields_before = context().yields();
        auto const items_before = context().counters().items;
        peek_for_ever(near, units, stop);
        context().restart();
        while (units < 50'000) {
            context().run_one();
            most = std::max(most, units - before);
            before = units;
        }
        stop = true;
        run();
        EXPECT_LE(most, units_of_an_item);
        auto const items = context().counters().items - items_before;
        EXPECT_GE(items, units / units_of_an_item);
        auto const y = context().yields();
        auto const yields =
            y.budget + y.deadline + y.remote - yields_before.budget - yields_before.deadline - yields_before.remote;
        if (!differs("ready-is-put-off")) {
            EXPECT_GE(yields, 1U);
        }
        EXPECT_LE(yields, items);
    });
}

TEST_P(Fairness, HandlerThatPostsItselfForEverStarvesNeitherSocketsNorTimers) {
    connected([&](auto& near, auto& far) {
        std::uint64_t handlers = 0;
        int const rounds = differs("bytes-travel") ? static_cast<int>(scaled(50, 10)) : 50;
        int busy = 2;
        turn_watch io(handlers), ticks(handlers);
        std::function<void()> again = [&] {
            ++handlers;
            if (busy)
                post(context(), again);
        };
        post(context(), again);
        spawn([&]() -> awaitable<void> {
            char c = 'x';
            for (int i = 0; i != rounds; ++i) {
                co_await far.async_write_some(buffer(&c, 1));
                co_await near.async_read_some(buffer(&c, 1));
                io.turn();
            }
            --busy;
        });
        spawn([&]() -> awaitable<void> {
            steady_timer timer(context());
            for (int i = 0; i != rounds; ++i) {
                timer.expires_after(0s);
                co_await timer.async_wait();
                ticks.turn();
            }
            --busy;
        });
        run();
        EXPECT_EQ(io.turns, rounds);
        EXPECT_EQ(ticks.turns, rounds);
        EXPECT_LE(ticks.most, items_between_polls);
        if (!differs("bytes-travel")) {
            EXPECT_LE(io.most, 2 * items_between_polls);
        }
    });
}

TEST_P(Fairness, ReaderOfAStreamThatNeverEndsLeavesTheAcceptorItsTurn) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket near(context()), far(context());
        connect(t, near, far);
        typename protocol::acceptor acceptor(context(), t.free_address());
        bool stop = false;
        std::uint64_t read = 0;
        spawn([&]() -> awaitable<void> {
            std::string const chunk(10'000, 'c');
            while (!stop)
                co_await near.async_write_some(buffer(chunk));
            near.close();
        });
        spawn([&]() -> awaitable<void> {
            std::string chunk(1'000, ' ');
            for (;;) {
                auto const [ec, n] = co_await far.async_read_some(buffer(chunk), as_tuple);
                read += n;
                if (ec)
                    break;
            }
        });
        int served = 0;
        spawn([&]() -> awaitable<void> {
            for (; served != 10; ++served) {
                typename protocol::socket client(context());
                co_await client.async_connect(acceptor.local_endpoint());
                auto s = co_await acceptor.async_accept();
                char c = 'x';
                co_await client.async_write_some(buffer(&c, 1));
                co_await s.async_read_some(buffer(&c, 1));
            }
            stop = true;
        });
        run();
        EXPECT_EQ(served, 10);
        EXPECT_GT(read, 0U);
    });
}

TEST_P(Fairness, StopReturnsAfterTheItemThatCallsIt) {
    connected([&](auto& near, auto& far) {
        send(far, near, "x");
        std::uint64_t units = 0, at_stop = 0;
        bool stop = false;
        peek_for_ever(near, units, stop);
        steady_timer timer(context(), 100us);
        timer.async_wait([&](error_code) {
            at_stop = units;
            context().stop();
        });
        run();
        EXPECT_TRUE(context().stopped());
        EXPECT_EQ(units, at_stop);
        stop = true;
        run();
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Fairness, testing::ValuesIn(every_driver_and_stream()), name_of);

} // namespace
} // namespace fairlead::conformance
