#include <fairlead/sync/broadcast.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/sync/oneshot.hpp>
#include <fairlead/sync/watch.hpp>

#include <support/counting_new.hpp>
#include <unit/sync/waiting.hpp>

#include <memory>
#include <optional>
#include <string>

namespace {

using namespace waiting;

class ChannelEnds : public World {};

TEST_F(ChannelEnds, ReceiversGetAllAndThenNothingOnceTheSendersHaveGone) {
    auto ends1 = make_channel<std::string>(context, 2);
    auto& tx = ends1.first;
    auto& rx = ends1.second;
    for (int name = 0; name != 2; ++name)
        spawn([tx, name]() mutable -> awaitable<void> {
            auto own = std::move(tx);
            for (int i = 0; i != 5; ++i) {
                std::string text = std::to_string(name) + std::to_string(i);
                co_await own.async_send(std::move(text));
            }
        });
    spawn([this, rx = std::move(rx)]() mutable -> awaitable<void> {
        int n = 0;
        while (auto m = co_await rx.next()) {
            ++n;
            log += *m + ' ';
        }
        EXPECT_EQ(n, 10);
        EXPECT_FALSE(co_await rx.next()) << "and nothing again";
        log += "end";
    });
    {
        auto const last = std::move(tx);
    }
    world.run();
    EXPECT_NE(log.find("end"), log.npos);
    EXPECT_LT(log.find("03 "), log.find("04 "));
}

TEST_F(ChannelEnds, SendersHearThatTheReceiversHaveGone) {
    auto const witness = std::make_shared<int>();
    auto ends2 = make_channel<std::shared_ptr<int>>(context, 1);
    auto& tx = ends2.first;
    auto& rx = ends2.second;
    EXPECT_TRUE(tx.try_send(witness));
    EXPECT_FALSE(tx.is_closed());
    spawn([this, tx, witness]() mutable -> awaitable<void> {
        auto [ec] = co_await tx.async_send(witness, as_tuple);
        EXPECT_EQ(ec, error::channel_closed);
        EXPECT_FALSE(tx.try_send(witness));
        log += "closed";
    });
    spawn([this, rx = std::move(rx)]() mutable -> awaitable<void> {
        co_await sleep(1s);
        auto const copy = rx;
        {
            auto const first = std::move(rx);
        }
        EXPECT_FALSE(log.size());
    });
    world.run();
    EXPECT_EQ(log, "closed");
    EXPECT_TRUE(tx.is_closed());
    EXPECT_EQ(witness.use_count(), 1) << "the message in the channel has gone";
}

TEST_F(ChannelEnds, AReceiveWithALimitLosesNothing) {
    auto ends3 = make_channel<int>(context);
    auto& tx = ends3.first;
    auto& rx = ends3.second;
    spawn([&rx, this]() -> awaitable<void> {
        auto [ec, none] = co_await rx.async_next(cancel_after(1s, as_tuple));
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_FALSE(none);
        EXPECT_FALSE(rx.try_next());
        auto m = co_await rx.next();
        EXPECT_EQ(*m, 4);
        co_await sleep(1s);
        EXPECT_EQ(rx.try_next(), 5);
    });
    spawn([&tx, this]() -> awaitable<void> {
        co_await sleep(2s);
        co_await tx.async_send(4);
        EXPECT_FALSE(tx.try_send(5));
        co_await tx.async_send(5);
        log = "sent";
    });
    world.run();
    EXPECT_EQ(log, "sent");
}

TEST_F(ChannelEnds, AOneshotBringsOneMessageOrNone) {
    auto ends4 = make_oneshot<std::unique_ptr<int>>(context);
    auto& tx = ends4.first;
    auto& rx = ends4.second;
    spawn([&rx]() -> awaitable<void> {
        auto m = co_await rx.next();
        EXPECT_EQ(**m, 3);
        EXPECT_FALSE(co_await rx.next());
    });
    EXPECT_TRUE(tx.send(std::make_unique<int>(3)));
    EXPECT_FALSE(tx.send(std::make_unique<int>(4)));
    world.run();
    auto ends5 = make_oneshot<int>(context);
    auto& silent = ends5.first;
    auto& waits = ends5.second;
    spawn([&waits, this]() -> awaitable<void> {
        EXPECT_FALSE(co_await waits.next());
        log = "none";
    });
    {
        auto const ends = std::move(silent);
    }
    world.run();
    EXPECT_EQ(log, "none");
    auto ends6 = make_oneshot<int>(context);
    auto& tx2 = ends6.first;
    auto& rx2 = ends6.second;
    {
        auto const ends = std::move(rx2);
    }
    EXPECT_TRUE(tx2.is_closed());
    EXPECT_FALSE(tx2.send(1));
}

TEST_F(ChannelEnds, ABroadcastReachesAllAndTellsTheSlowHowManyTheyHaveLost) {
    auto ends7 = make_broadcast<int>(context, 4);
    auto& tx = ends7.first;
    auto& fast = ends7.second;
    auto slow = tx.subscribe();
    EXPECT_EQ(tx.receivers(), 2U);
    int got_fast = 0;
    spawn([&fast, &got_fast]() -> awaitable<void> {
        for (int expected = 0; auto m = co_await fast.next(); ++expected) {
            EXPECT_EQ(m->value, expected);
            EXPECT_EQ(m->lost, 0U);
            ++got_fast;
        }
    });
    spawn([this, tx = std::move(tx)]() mutable -> awaitable<void> {
        auto own = std::move(tx);
        for (int i = 0; i != 10; ++i) {
            own.send(i);
            co_await sleep(1s);
        }
        auto late = own.subscribe();
        own.send(10);
        auto m = co_await late.next();
        EXPECT_EQ(m->value, 10);
    });
    world.run();
    EXPECT_EQ(got_fast, 11);
    auto copy = slow;
    for (auto* const each : {&slow, &copy})
        spawn([this, each]() -> awaitable<void> {
            std::size_t lost = 0;
            while (auto m = co_await each->next()) {
                lost += m->lost;
                log += std::to_string(m->value) + ' ';
            }
            EXPECT_EQ(lost, 7U);
            EXPECT_FALSE(co_await each->next());
            log += "| ";
        });
    world.run();
    EXPECT_EQ(log.size(), 2 * std::string("7 8 9 10 | ").size());
}

TEST_F(ChannelEnds, ABroadcastThatIsWaitedForIsCancelledAlone) {
    auto ends8 = make_broadcast<std::string>(context, 1);
    auto& tx = ends8.first;
    auto& rx = ends8.second;
    auto other = rx;
    cancellation_signal signal;
    rx.async_next(bind_cancellation_slot(signal.slot(), [this](error_code ec, auto m) {
        EXPECT_EQ(ec, error::operation_aborted);
        EXPECT_FALSE(m);
        log += "cancelled ";
    }));
    other.async_next([this](error_code ec, auto m) {
        EXPECT_FALSE(ec);
        log += m->value;
    });
    signal.emit(cancellation_type::total);
    world.run();
    auto moved = std::move(other);
    tx.send("text");
    world.run();
    EXPECT_EQ(log, "cancelled text");
    auto again = rx.async_next();
    spawn([&]() -> awaitable<void> {
        auto m = co_await std::move(again);
        EXPECT_EQ(m->value, "text") << "a cancelled receive has received nothing";
        EXPECT_EQ(m->lost, 0U);
    });
    world.run();
}

TEST_F(ChannelEnds, AWatchGivesTheNewestValueOnly) {
    auto ends9 = make_watch<std::string>(context, "first");
    auto& tx = ends9.first;
    auto& rx = ends9.second;
    EXPECT_EQ(rx.get(), "first");
    spawn([this, &rx = rx]() -> awaitable<void> {
        while (auto v = co_await rx.next()) {
            log += *v + ' ';
            co_await sleep(10s);
        }
        log += "end";
    });
    spawn([this, tx = std::move(tx)]() mutable -> awaitable<void> {
        auto own = std::move(tx);
        co_await sleep(1s);
        own.send("second");
        own.send("third");
        co_await sleep(20s);
        auto late = own.subscribe();
        EXPECT_EQ(**std::make_unique<std::optional<std::string>>(co_await late.next()), "third");
        own.send("fourth");
        EXPECT_EQ(own.get(), "fourth");
    });
    world.run();
    EXPECT_EQ(log, "first third fourth end");
}

TEST_F(ChannelEnds, AOneshotGivesOneOfTheReceiversTheMessageAndTheOthersNone) {
    auto ends8 = make_oneshot<std::string>(context);
    auto& tx = ends8.first;
    auto& rx = ends8.second;
    for (int i = 0; i != 3; ++i)
        spawn([copy = rx, this]() mutable -> awaitable<void> {
            auto const m = co_await copy.next();
            log += m ? *m : "-";
        });
    EXPECT_FALSE(world.run_for(1s));
    EXPECT_FALSE(rx.ready());
    EXPECT_TRUE(tx.send("1"));
    EXPECT_TRUE(rx.ready() && tx.is_closed());
    world.run();
    EXPECT_EQ(log.size(), 3U);
    EXPECT_NE(log.find('1'), std::string::npos);
    EXPECT_EQ(log.find('1'), log.rfind('1'));
    EXPECT_FALSE(rx.try_next());
}

TEST_F(ChannelEnds, TheMessageOfAOneshotGoesWithTheLastReceiverWhicheverEndGoesFirst) {
    auto const message = std::make_shared<int>(7);
    for (bool const sender_goes_first : {false, true}) {
        std::optional<oneshot_pair<std::shared_ptr<int>>> ends9(make_oneshot<std::shared_ptr<int>>(context));
        std::optional tx(std::move(ends9->first));
        std::optional rx(std::move(ends9->second));
        ends9.reset();
        std::optional copy(*rx);
        EXPECT_TRUE(tx->send(message));
        EXPECT_EQ(message.use_count(), 2);
        if (sender_goes_first)
            tx.reset();
        rx.reset();
        EXPECT_EQ(message.use_count(), 2);
        EXPECT_TRUE(copy->ready());
        copy.reset();
        EXPECT_EQ(message.use_count(), 1);
        EXPECT_FALSE(tx && tx->send(message));
    }
}

TEST_F(ChannelEnds, AnEndOfAOneshotThatIsAssignedGivesItsOldOneUp) {
    auto first = make_oneshot<int>(context);
    auto second = make_oneshot<int>(context);
    auto old = first.second;
    first.first = std::move(second.first);
    EXPECT_TRUE(old.ready());
    EXPECT_FALSE(old.try_next());
    old = second.second;
    EXPECT_TRUE(first.first.send(5));
    EXPECT_EQ(old.try_next(), 5);
}

/// After the first one, whose block is kept.
TEST_F(ChannelEnds, AOneshotTakesNothingButABlockOfTheRecycler) {
    auto const send_one = [this] {
        auto ends10 = make_oneshot<int>(context);
        EXPECT_TRUE(ends10.first.send(1));
        EXPECT_EQ(ends10.second.try_next(), 1);
    };
    send_one();
    auto const fresh = this_thread_recycler_counters().fresh;
    test::new_counter const counted;
    send_one();
    EXPECT_EQ(counted.calls(), 0U);
    EXPECT_EQ(this_thread_recycler_counters().fresh, fresh);
}

} // namespace
