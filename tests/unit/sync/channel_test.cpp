#include <fairlead/sync/channel.hpp>

#include <fairlead/exec/inline_executor.hpp>
#include <fairlead/io/io_context.hpp>
#include <unit/sync/waiting.hpp>

#include <list>
#include <memory>
#include <stdexcept>

namespace {

using namespace waiting;
using experimental::channel;
using numbers = channel<void(error_code, int)>;

class Channel : public World {
public:
    auto log_number() {
        return [this](error_code ec, int n) {
            log += ec ? ec == error::channel_closed ? "closed " : "cancelled " : std::to_string(n) + ' ';
        };
    }
    auto log_sent() {
        return [this](error_code ec) { log += ec ? ec == error::channel_closed ? "closed " : "cancelled " : "sent "; };
    }
};

TEST_F(Channel, WithoutABufferHandsOverWhenBothAreThere) {
    numbers ch(context);
    EXPECT_EQ(ch.capacity(), 0U);
    EXPECT_FALSE(ch.try_send(error_code(), 1)) << "nobody receives";
    EXPECT_FALSE(ch.ready());
    ch.async_receive(log_number());
    world.run();
    EXPECT_EQ(log, "");
    EXPECT_TRUE(ch.try_send(error_code(), 2));
    world.run();
    EXPECT_EQ(log, "2 ");
    ch.async_send(error_code(), 3, log_sent());
    world.run();
    EXPECT_EQ(log, "2 ") << "a send waits for its receiver";
    EXPECT_TRUE(ch.ready());
    EXPECT_TRUE(ch.try_receive(log_number()));
    EXPECT_EQ(log, "2 3 ");
    world.run();
    EXPECT_EQ(log, "2 3 sent ");
    EXPECT_FALSE(ch.try_receive(log_number()));
}

TEST_F(Channel, SendsWaitInTurnForRoomInTheBuffer) {
    numbers ch(context, 2);
    spawn([&]() -> awaitable<void> {
        for (int i = 1; i != 8; ++i) {
            co_await ch.async_send(error_code(), i);
            log += std::to_string(-i) + ' ';
        }
    });
    spawn([&]() -> awaitable<void> {
        co_await sleep(1s);
        EXPECT_EQ(log, "-1 -2 ");
        EXPECT_FALSE(ch.try_send(error_code(), 9)) << "the one that waits was passed";
        EXPECT_EQ(co_await ch.async_receive(), 1);
        co_await sleep(1s);
        EXPECT_EQ(log, "-1 -2 -3 ") << "the place that has got free is for the one that waits";
        for (int i = 2; i != 8; ++i)
            EXPECT_EQ(co_await ch.async_receive(), i);
        log += "all";
    });
    world.run();
    EXPECT_NE(log.find("all"), log.npos);
    EXPECT_TRUE(ch.try_send(error_code(), 9));
}

TEST_F(Channel, ReceivesGoOnInTheirOrder) {
    numbers ch(context, 1);
    for (int i = 0; i != 3; ++i)
        ch.async_receive([this, i](error_code, int n) { log += std::to_string(i) + '=' + std::to_string(n) + ' '; });
    for (int i = 0; i != 3; ++i) {
        EXPECT_TRUE(ch.try_send(error_code(), 10 + i));
        world.run(); // Handlers that are ready at once run in any order here.
    }
    EXPECT_EQ(log, "0=10 1=11 2=12 ");
}

TEST_F(Channel, ClosedItStillGivesWhatIsInItAndWhatWaits) {
    numbers ch(context, 1);
    EXPECT_TRUE(ch.try_send(error_code(), 1));
    ch.async_send(error_code(), 2, log_sent());
    ch.close();
    EXPECT_FALSE(ch.is_open());
    EXPECT_TRUE(ch.ready());
    EXPECT_FALSE(ch.try_send(error_code(), 3));
    ch.async_send(error_code(), 3, log_sent());
    world.run();
    EXPECT_EQ(log, "closed ");
    for (int i = 0; i != 3; ++i) {
        ch.async_receive(log_number());
        world.run();
    }
    EXPECT_TRUE(log == "closed 1 sent 2 closed " || log == "closed sent 1 2 closed ") << log;
    EXPECT_FALSE(ch.try_receive(log_number()));
}

/// A ring that has had messages has memory for more. Those take a shorter way.
TEST_F(Channel, WithMemoryForMessagesItPassesNobodyEither) {
    numbers ch(context, 2);
    EXPECT_EQ(ch.try_send_n(2, error_code(), 1), 2U);
    EXPECT_FALSE(ch.try_send(error_code(), 2));
    while (ch.try_receive([](error_code, int) {}))
        continue;
    for (int i = 0; i != 2; ++i)
        ch.async_receive([this, i](error_code, int n) { log += std::to_string(i) + '=' + std::to_string(n) + ' '; });
    for (int i = 0; i != 2; ++i) {
        post(context, [&ch, this, i] { // The short way is that of the loop's own thread, from its second look on.
            EXPECT_TRUE(ch.is_open());
            EXPECT_TRUE(ch.try_send(error_code(), 10 + i));
            EXPECT_FALSE(ch.try_receive(log_number()));
        });
        world.run();
    }
    EXPECT_EQ(log, "0=10 1=11 ");
}

TEST_F(Channel, WithMemoryForMessagesItTakesNoneOnceItIsClosed) {
    numbers ch(context, 2);
    EXPECT_TRUE(ch.try_send(error_code(), 1));
    EXPECT_TRUE(ch.try_receive([](error_code, int) {}));
    ch.close();
    EXPECT_FALSE(ch.try_send(error_code(), 2));
    error_code sent;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
            EXPECT_FALSE(ch.is_open()); // The next look is the short one.
            std::tie(sent) = co_await ch.async_send(error_code(), 3, as_tuple);
        },
        rethrow);
    world.run();
    EXPECT_EQ(sent, error::channel_closed);
    EXPECT_FALSE(ch.try_receive(log_number()));
}

TEST_F(Channel, ClosedItEndsReceivesThatWait) {
    numbers ch(context, 1);
    ch.async_receive(log_number());
    ch.async_receive(log_number());
    ch.close();
    world.run();
    EXPECT_EQ(log, "closed closed ");
    ch.reset();
    EXPECT_TRUE(ch.is_open());
    EXPECT_TRUE(ch.try_send(error_code(), 1));
}

TEST_F(Channel, ResetForgetsItsMessagesAndEndsWhatWaits) {
    numbers ch(context, 1);
    EXPECT_TRUE(ch.try_send(error_code(), 1));
    ch.async_send(error_code(), 2, log_sent());
    ch.reset();
    world.run();
    EXPECT_EQ(log, "cancelled ");
    EXPECT_FALSE(ch.try_receive(log_number()));
    EXPECT_TRUE(ch.try_send(error_code(), 3));
    EXPECT_TRUE(ch.try_receive(log_number()));
    EXPECT_EQ(log, "cancelled 3 ");
}

TEST_F(Channel, ACancelledSendHasNotBeenSent) {
    numbers ch(context);
    cancellation_signal signal;
    ch.async_send(error_code(), 1, bind_cancellation_slot(signal.slot(), log_sent()));
    ch.async_send(error_code(), 2, log_sent());
    signal.emit(cancellation_type::total);
    signal.emit(cancellation_type::total);
    ch.async_receive(log_number());
    world.run();
    EXPECT_EQ(log.find("1 "), log.npos) << log;
    EXPECT_NE(log.find("2 "), log.npos) << log;
    ch.async_receive(bind_cancellation_slot(signal.slot(), log_number()));
    log.clear();
    signal.emit(cancellation_type::partial);
    ch.async_send(error_code(), 3, log_sent());
    world.run();
    EXPECT_EQ(log, "cancelled ") << "the next message is for the next receive";
    EXPECT_EQ(error::make_error_code(error::channel_cancelled), std::errc::operation_canceled);
    EXPECT_NE(error::make_error_code(error::channel_closed), std::errc::operation_canceled);
}

// M11: a completed operation is never turned into a cancelled one.
TEST_F(Channel, AMessageThatIsOnItsWayArrivesThoughTheReceiveIsCancelled) {
    numbers ch(context);
    cancellation_signal signal;
    ch.async_receive(bind_cancellation_slot(signal.slot(), log_number()));
    EXPECT_TRUE(ch.try_send(error_code(), 5));
    signal.emit(cancellation_type::terminal);
    ch.cancel();
    world.run();
    EXPECT_EQ(log, "5 ");
}

TEST_F(Channel, AnAwaitWithALimitEndsWithIt) {
    numbers ch(context);
    spawn([&]() -> awaitable<void> {
        auto [late, n] = co_await ch.async_receive(cancel_after(2s, as_tuple));
        EXPECT_EQ(late, error::channel_cancelled);
        EXPECT_EQ(n, 0);
        EXPECT_EQ(passed(), 2s);
        auto [full] = co_await ch.async_send(error_code(), 1, cancel_after(2s, as_tuple));
        EXPECT_EQ(full, error::channel_cancelled);
        EXPECT_EQ(passed(), 4s);
        EXPECT_FALSE(ch.ready());
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
}

TEST_F(Channel, ItsErrorsAreThrownWithTheirNames) {
    numbers ch(context);
    ch.close();
    spawn([&]() -> awaitable<void> {
        try {
            co_await ch.async_receive();
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::channel_closed);
            log += e.what();
        }
        try {
            co_await ch.async_send(error_code(), 1);
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::channel_closed);
            log += std::string("; ") + e.what();
        }
        // The sender's own error is the receiver's.
        ch.reset();
        ch.async_send(error::eof, 1, detached);
        try {
            co_await ch.async_receive();
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::eof);
        }
    });
    world.run();
    EXPECT_EQ(log, "receive from a channel: Channel closed; send to a channel: Channel closed");
}

TEST_F(Channel, KeepsMessagesOfEverySort) {
    struct large {
        char bytes[200];
        int n;
    };
    struct throws_when_moved {
        explicit throws_when_moved(int i) : n(i) {}
        throws_when_moved(throws_when_moved const&) = default;
        int n;
        std::list<int> list;
    };
    channel<void(error_code, large)> larges(context, 1);
    channel<void(error_code, std::unique_ptr<int>)> owners(context, 1);
    spawn([&]() -> awaitable<void> {
        for (int i = 0; i != 3; ++i) {
            large l{};
            l.n = i;
            co_await larges.async_send(error_code(), l);
            auto p = std::make_unique<int>(i);
            co_await owners.async_send(error_code(), std::move(p));
        }
    });
    spawn([&]() -> awaitable<void> {
        for (int i = 0; i != 3; ++i) {
            EXPECT_EQ((co_await larges.async_receive()).n, i);
            EXPECT_EQ(*co_await owners.async_receive(), i);
        }
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
    channel<void(throws_when_moved)> others(context, 2);
    EXPECT_TRUE(others.try_send(throws_when_moved(7)));
    struct receiver {
        int* got;
        void operator()(throws_when_moved t) const { *got = t.n; }
        void operator()(error_code) const {}
    };
    int got = 0;
    others.async_receive(receiver{&got});
    world.run();
    EXPECT_EQ(got, 7);
}

TEST_F(Channel, TrySendLeavesItsArgumentsAloneUnlessItSends) {
    channel<void(error_code, std::string)> ch(context, 1);
    std::string text = "a text that is too long to lie in the string";
    auto const before = text;
    EXPECT_TRUE(ch.try_send(error_code(), "first"));
    EXPECT_FALSE(ch.try_send(error_code(), std::move(text)));
    EXPECT_EQ(text, before);
    EXPECT_TRUE(ch.try_receive([](error_code, std::string) {}));
    EXPECT_EQ(ch.try_send_n(3, error_code(), std::move(text)), 1U);
    EXPECT_EQ(text, "");
    EXPECT_TRUE(ch.try_receive([&](error_code, std::string got) { text = std::move(got); }));
    EXPECT_EQ(text, before);
}

TEST_F(Channel, AMessageThatCannotBeMadeChangesNothing) {
    struct fails {
        explicit fails(int n) {
            if (n == 0)
                throw std::runtime_error("no");
        }
        fails() = default;
    };
    channel<void(error_code, fails)> ch(context, 1);
    EXPECT_THROW(ch.try_send(error_code(), 0), std::runtime_error);
    EXPECT_FALSE(ch.ready());
    ch.async_receive([this](error_code ec, fails) { log += ec ? "?" : "x"; });
    EXPECT_THROW(ch.try_send(error_code(), 0), std::runtime_error);
    EXPECT_TRUE(ch.try_send(error_code(), 1));
    world.run();
    EXPECT_EQ(log, "x");
}

TEST_F(Channel, HasSeveralSignatures) {
    struct receiver {
        std::string* log;
        void operator()(error_code ec, int n) const { *log += ec ? "closed" : std::to_string(n) + ' '; }
        void operator()(std::string const& s) const { *log += s + ' '; }
    };
    channel<void(error_code, int), void(std::string)> ch(context, 4);
    EXPECT_TRUE(ch.try_send(error_code(), 1));
    EXPECT_TRUE(ch.try_send("two"));
    ch.async_send(std::string("three"), [](error_code) {});
    ch.close();
    for (int i = 0; i != 4; ++i) {
        ch.async_receive(receiver{&log});
        world.run();
    }
    EXPECT_EQ(log, "1 two three closed");
}

TEST_F(Channel, MessagesWithoutAnErrorEndInOne) {
    struct receiver {
        std::string* log;
        void operator()() const { *log += "x"; }
        void operator()(error_code ec) const { *log += ec == error::channel_closed ? "closed" : "cancelled "; }
    };
    channel<void()> ch(context, 1);
    EXPECT_TRUE(ch.try_send());
    ch.async_receive(receiver{&log});
    ch.async_receive(receiver{&log});
    world.run();
    ch.cancel();
    world.run();
    ch.async_receive(receiver{&log});
    ch.close();
    world.run();
    EXPECT_EQ(log, "xcancelled closed");
}

TEST_F(Channel, CallsExceptionReceiversWithOne) {
    channel<void(std::exception_ptr, int)> ch(context, 1);
    spawn([&]() -> awaitable<void> {
        EXPECT_TRUE(ch.try_send(nullptr, 4));
        EXPECT_EQ(co_await ch.async_receive(), 4);
        ch.close();
        try {
            co_await ch.async_receive();
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), error::channel_closed);
            log = "closed";
        }
    });
    world.run();
    EXPECT_EQ(log, "closed");
}

template <class Element> struct counting_list : std::list<Element> {
    static inline int pushed = 0;
    void push_back(Element&& e) {
        ++pushed;
        std::list<Element>::push_back(std::move(e));
    }
};
template <class... Signatures> struct traits_with_list : experimental::channel_traits<Signatures...> {
    template <class... New> struct rebind {
        using other = traits_with_list<New...>;
    };
    template <class Element> struct container {
        using type = counting_list<Element>;
    };
};

TEST_F(Channel, KeepsMessagesInTheContainerOfItsTraits) {
    experimental::basic_channel<any_io_executor, traits_with_list<>, void(error_code, int)> ch(context, 3);
    spawn([&]() -> awaitable<void> {
        for (int i = 0; i != 9; ++i)
            co_await ch.async_send(error_code(), i);
    });
    spawn([&]() -> awaitable<void> {
        for (int i = 0; i != 9; ++i)
            EXPECT_EQ(co_await ch.async_receive(), i);
        log = "done";
    });
    world.run();
    EXPECT_EQ(log, "done");
    using element = impl::sync::kept_message<std::tuple<error_code, int>>;
    EXPECT_GT(counting_list<element>::pushed, 0);
}

TEST_F(Channel, MovedItTakesAlongWhatWaits) {
    numbers ch(context, 1);
    ch.async_receive(log_number());
    numbers moved(std::move(ch));
    EXPECT_TRUE(moved.try_send(error_code(), 1));
    world.run();
    moved.async_receive(log_number());
    ch = std::move(moved);
    EXPECT_TRUE(ch.try_send(error_code(), 2));
    channel<io_context::executor_type, void(error_code, int)> specific(context, 1);
    EXPECT_TRUE(specific.try_send(error_code(), 3));
    numbers general(std::move(specific));
    world.run();
    EXPECT_TRUE(general.try_receive(log_number()));
    EXPECT_EQ(log, "1 2 3 ");
}

TEST_F(Channel, CallsAHandlerWithinTheSendOnlyWhereItMayRun) {
    numbers ch(context);
    ch.async_receive(bind_executor(inline_executor(), log_number()));
    EXPECT_TRUE(ch.try_send_via_dispatch(error_code(), 1));
    EXPECT_EQ(log, "1 ");
    ch.async_receive(log_number());
    EXPECT_TRUE(ch.try_send_via_dispatch(error_code(), 2)) << "the caller is not inside run()";
    EXPECT_EQ(log, "1 ");
    world.run();
    EXPECT_EQ(log, "1 2 ");
    ch.async_receive(log_number());
    post(context, [&] {
        EXPECT_TRUE(ch.try_send_via_dispatch(error_code(), 3));
        EXPECT_EQ(log, "1 2 3 ");
        ch.async_receive(log_number());
        EXPECT_TRUE(ch.try_send(error_code(), 4));
        EXPECT_EQ(log, "1 2 3 ");
    });
    world.run();
    EXPECT_EQ(log, "1 2 3 4 ");
}

TEST_F(Channel, DestroyedItEndsWhatWaitsAndFreesItsMessages) {
    auto const witness = std::make_shared<int>();
    using owners = channel<void(error_code, std::shared_ptr<int>)>;
    auto ch = std::make_unique<owners>(context, 1);
    EXPECT_TRUE(ch->try_send(error_code(), witness));
    ch->async_send(error_code(), witness, log_sent());
    EXPECT_EQ(witness.use_count(), 3);
    ch.reset();
    world.run();
    EXPECT_EQ(log, "cancelled ");
    EXPECT_EQ(witness.use_count(), 1);
}

// D03, D04: nothing of an operation that its context gives up is left behind.
TEST(ChannelOfAContext, MessagesAndWaitsGoWithTheContext) {
    using owners = channel<void(error_code, std::shared_ptr<int>)>;
    auto const witness = std::make_shared<int>();
    std::unique_ptr<owners> outlives;
    {
        io_context context;
        outlives = std::make_unique<owners>(context, 0);
        owners filled(context, 2), empty(context, 0);
        EXPECT_TRUE(filled.try_send(error_code(), witness));
        empty.async_receive([](error_code, std::shared_ptr<int>) { ADD_FAILURE(); });
        outlives->async_send(error_code(), witness, [](error_code) { ADD_FAILURE(); });
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                co_await outlives->async_send(error_code(), witness);
                ADD_FAILURE();
            },
            rethrow);
        co_spawn(
            context,
            [&]() -> awaitable<void> {
                co_await empty.async_receive();
                ADD_FAILURE();
            },
            rethrow);
        EXPECT_GE(context.poll(), 1U);
        EXPECT_TRUE(empty.try_send(error_code(), witness)); // received by the handler, but not delivered
        EXPECT_TRUE(empty.try_send(error_code(), witness)); // and by the coroutine
        EXPECT_GE(witness.use_count(), 6);
    }
    EXPECT_EQ(witness.use_count(), 1);
    EXPECT_FALSE(outlives->try_send(error_code(), witness));
    EXPECT_EQ(witness.use_count(), 1);
}

/// Messages go through the channel one by one, as if nothing had happened.
void expect_of_use(sim::world& world, numbers& ch) {
    co_spawn(
        world.context(),
        [&ch]() -> awaitable<void> {
            for (int i = 0; i != 3; ++i)
                co_await ch.async_send(error_code(), i);
        },
        rethrow);
    int received = 0;
    co_spawn(
        world.context(),
        [&ch, &received]() -> awaitable<void> {
            for (; received != 3; ++received)
                EXPECT_EQ(co_await ch.async_receive(), received);
        },
        rethrow);
    world.run();
    EXPECT_EQ(received, 3);
}

TEST(Catalogue, C12_ChannelIsOfUseAfterACancellation) {
    for (std::size_t const capacity : {0U, 1U}) {
        sim::world world(7);
        numbers ch(world.context(), capacity);
        auto const cancelled = [](error_code ec, int = 0) { EXPECT_EQ(ec, error::channel_cancelled); };
        cancellation_signal signal;
        ch.async_receive(bind_cancellation_slot(signal.slot(), cancelled));
        signal.emit(cancellation_type::terminal);
        world.run();
        expect_of_use(world, ch);
        ch.async_receive(cancel_after(1s, cancelled));
        world.run();
        expect_of_use(world, ch);
        ch.async_receive(cancelled);
        ch.cancel();
        world.run();
        expect_of_use(world, ch);
        EXPECT_EQ(ch.try_send(error_code(), 9), capacity == 1);
        ch.async_send(error_code(), 10, bind_cancellation_slot(signal.slot(), cancelled));
        ch.async_send(error_code(), 11, cancel_after(1s, cancelled));
        ch.async_send(error_code(), 12, cancelled);
        signal.emit(cancellation_type::total);
        world.run_for(2s);
        ch.cancel();
        world.run();
        EXPECT_EQ(ch.try_receive([](error_code, int n) { EXPECT_EQ(n, 9); }), capacity == 1);
        EXPECT_FALSE(ch.ready());
        expect_of_use(world, ch);
    }
}

// The order of the calls is that of the messages and of those that receive them, whoever comes again at once.
TEST(Catalogue, F09_ChannelIsHandedOverInTurn) {
    constexpr int each = 7, rounds = 20;
    for (std::size_t const capacity : {0U, 1U, 3U}) {
        sim::world world(11);
        numbers ch(world.context(), capacity);
        int sent = 0, asked = 0, completed = 0;
        for (int c = 0; c != each; ++c) {
            co_spawn(
                world.context(),
                [&]() -> awaitable<void> {
                    for (int i = 0; i != rounds; ++i)
                        co_await ch.async_send(error_code(), sent++);
                },
                rethrow);
            co_spawn(
                world.context(),
                [&]() -> awaitable<void> {
                    for (int i = 0; i != rounds; ++i) {
                        int const place = asked++;
                        EXPECT_EQ(co_await ch.async_receive(), place);
                        ++completed;
                    }
                },
                rethrow);
        }
        world.run();
        EXPECT_EQ(completed, each * rounds);
    }
}

} // namespace
