// Cancelling: each operation completes exactly once, and what it says is true.
#include "streams.hpp"

#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>

#include <array>
#include <memory>
#include <vector>

namespace fairlead::conformance {
namespace {

class Cancelling : public stream_conformance_test {
protected:
    /// One operation of each kind that waits for ever.
    struct pending_operations {
        completion some, many, whole, read_wait, error_wait, written, write_wait;
        char bytes[3][4];

        template <class Socket> void start(Socket& s, std::string const& much) {
            s.async_read_some(buffer(bytes[0]), some.handler());
            s.async_read_some(std::array<mutable_buffer, 3>{buffer(bytes[0]), buffer(bytes[1]), buffer(bytes[2])},
                              many.handler());
            async_read(s, buffer(bytes[1]), whole.handler());
            s.async_wait(socket_base::wait_read, read_wait.handler());
            s.async_wait(socket_base::wait_error, error_wait.handler());
            async_write(s, buffer(much), written.handler());
            s.async_wait(socket_base::wait_write, write_wait.handler());
        }
        std::array<completion const*, 7> all() const {
            return {&some, &many, &whole, &read_wait, &error_wait, &written, &write_wait};
        }
        void expect_none() const {
            for (auto const* c : all())
                EXPECT_EQ(c->count, 0);
        }
        void expect_aborted() const {
            for (auto const* c : all()) {
                EXPECT_EQ(c->count, 1);
                EXPECT_EQ(c->ec, error::operation_aborted) << c->ec.message();
                EXPECT_EQ(c->n, 0U);
            }
        }
    };
};
// Tests of properties that only some transports have.
class TcpCancelling : public Cancelling {};

TEST_P(Cancelling, CancelAbortsEveryKindOfOperationAndNoneInsideTheCall) {
    connected([&](auto& near, auto& far) {
        auto const n = fill(near);
        std::string const much(1000, 'm');
        pending_operations pending;
        pending.start(near, much);
        settle();
        pending.expect_none();
        near.cancel();
        pending.expect_none();
        run();
        pending.expect_aborted();
        // The socket is as good as before.
        drain(far, n);
        pass(near, far, "after");
        pass(far, near, "all");
    });
}

TEST_P(Cancelling, CloseAbortsEveryKindOfOperation) {
    connected([&](auto& near, auto&) {
        fill(near);
        std::string const much(1000, 'm');
        pending_operations pending;
        pending.start(near, much);
        settle();
        near.close();
        pending.expect_none();
        run();
        pending.expect_aborted();
    });
}

TEST_P(Cancelling, DestroyingASocketAbortsEveryKindOfOperation) {
    connected([&](auto& near, auto&) {
        fill(near);
        std::string const much(1000, 'm');
        pending_operations pending;
        {
            auto moved = std::move(near);
            pending.start(moved, much);
            settle();
            pending.expect_none();
        }
        run();
        pending.expect_aborted();
    });
}

TEST_P(Cancelling, WhatIsStartedAndCancelledBeforeRunIsAborted) {
    connected([&](auto& near, auto&) {
        char c;
        completion read, waited;
        near.async_read_some(buffer(&c, 1), read.handler());
        near.async_wait(socket_base::wait_read, waited.handler());
        near.cancel();
        run();
        EXPECT_EQ(read.ec, error::operation_aborted);
        EXPECT_EQ(waited.ec, error::operation_aborted);
    });
}

TEST_P(Cancelling, CancelConcernsItsOwnObjectOnly) {
    connected([&](auto& near, auto& far) {
        char c[2];
        completion mine, others;
        steady_timer timer(context(), std::chrono::milliseconds(2));
        completion tick;
        near.async_read_some(buffer(&c[0], 1), mine.handler());
        far.async_read_some(buffer(&c[1], 1), others.handler());
        timer.async_wait(tick.handler());
        settle();
        near.cancel();
        run_until([&] { return mine.count && tick.count; });
        EXPECT_EQ(mine.ec, error::operation_aborted);
        EXPECT_TRUE(tick.succeeded());
        EXPECT_EQ(others.count, 0);
        completion sent;
        async_write(near, buffer("x", 1), sent.handler());
        run();
        EXPECT_TRUE(others.succeeded());
    });
}

TEST_P(Cancelling, CancelWithNothingPendingDoesNothing) {
    connected([&](auto& near, auto& far) {
        near.cancel();
        near.cancel();
        pass(near, far, "x");
        near.cancel();
        pass(far, near, "y");
    });
}

TEST_P(Cancelling, CancelInsideTheCompletionConcernsTheOthers) {
    connected([&](auto& near, auto& far) {
        char c[2];
        completion second, again;
        int first = 0;
        near.async_read_some(buffer(&c[0], 1), [&](error_code ec, std::size_t) {
            EXPECT_FALSE(ec);
            ++first;
            near.cancel();
            near.cancel(); // twice
            near.async_read_some(buffer(&c[0], 1), again.handler());
        });
        near.async_read_some(buffer(&c[1], 1), second.handler());
        settle();
        completion sent;
        async_write(far, buffer("x", 1), sent.handler());
        run_until([&] { return second.count != 0; });
        EXPECT_EQ(first, 1);
        EXPECT_EQ(second.ec, error::operation_aborted);
        settle();
        EXPECT_EQ(again.count, 0) << "was started after cancel()";
        completion more;
        async_write(far, buffer("y", 1), more.handler());
        run();
        EXPECT_TRUE(again.succeeded());
        EXPECT_EQ(c[0], 'y');
    });
}

TEST_P(Cancelling, AbortedReadHasTakenNothing) {
    connected([&](auto& near, auto& far) {
        // Data and cancel() meet: whoever is first, no byte is lost and none comes twice.
        std::string const text = pattern(400);
        std::string got;
        int asked = 0, aborted = 0, completed = 0;
        bool reading = false;
        spawn([&]() -> awaitable<void> {
            for (char const& c : text) {
                co_await near.async_write_some(buffer(&c, 1));
                co_await this_coro::yield();
            }
        });
        spawn([&]() -> awaitable<void> {
            char c;
            while (got.size() != text.size()) {
                reading = true;
                auto const [ec, n] = co_await far.async_read_some(buffer(&c, 1), as_tuple);
                reading = false;
                if (ec) {
                    EXPECT_EQ(ec, error::operation_aborted);
                    EXPECT_EQ(n, 0U);
                    ++aborted;
                } else {
                    EXPECT_EQ(n, 1U);
                    got += c;
                    ++completed;
                }
            }
        });
        spawn([&]() -> awaitable<void> {
            for (int i = 0; got.size() != text.size() && i != 300; ++i) {
                if (reading) {
                    far.cancel();
                    ++asked;
                }
                for (int k = 0; k != i % 4; ++k)
                    co_await this_coro::yield();
            }
        });
        run();
        EXPECT_EQ(got, text);
        EXPECT_EQ(completed, 400);
        EXPECT_GT(asked, 0);
        EXPECT_LE(aborted, asked); // Data that comes first is the truth.
    });
}

TEST_P(Cancelling, CancelThatComesTooLateDoesNotTakeBackTheData) {
    connected([&](auto& near, auto& far) {
        char c = ' ';
        completion read;
        far.async_read_some(buffer(&c, 1), read.handler());
        completion sent;
        async_write(near, buffer("x", 1), sent.handler());
        run(); // completed …
        far.cancel();
        run();
        EXPECT_TRUE(read.succeeded()); // … and stays so.
        EXPECT_EQ(c, 'x');
        // Completed by the driver, but its handler has not run yet.
        completion first, second;
        pass(near, far, "y");
        async_write(near, buffer("z", 1), first.handler());
        run();
        far.async_read_some(buffer(&c, 1), second.handler());
        far.cancel();
        run();
        EXPECT_EQ(second.count, 1);
        if (second.ec) {
            EXPECT_EQ(second.ec, error::operation_aborted);
            EXPECT_FALSE(read_error(far)) << "then the byte is still there";
        } else {
            EXPECT_EQ(c, 'z');
            far.non_blocking(true);
            error_code ec;
            far.read_some(buffer(&c, 1), ec);
            EXPECT_EQ(ec, error::would_block);
        }
    });
}

TEST_P(Cancelling, CancelledWholeReadSaysWhatItHadRead) {
    connected([&](auto& near, auto& far) {
        std::string got(10, ' ');
        completion read, sent;
        async_read(far, buffer(got), read.handler());
        settle();
        async_write(near, buffer("0123", 4), sent.handler());
        run_until([&] { return sent.count != 0; });
        while (far.available() != 0) // until the read has taken them
            settle();
        settle();
        far.cancel();
        run();
        EXPECT_EQ(read.ec, error::operation_aborted);
        EXPECT_EQ(read.n, 4U);
        EXPECT_EQ(got.substr(0, 4), "0123");
        pass(near, far, "4567");
    });
}

TEST_P(Cancelling, CancelledWholeWriteSaysWhatHadGone) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near);
        auto const text = pattern(3'000'000);
        completion written;
        async_write(near, buffer(text), written.handler());
        drain(far, before + 1000);
        settle();
        near.cancel();
        run();
        EXPECT_EQ(written.count, 1);
        EXPECT_EQ(written.ec, error::operation_aborted);
        EXPECT_GE(written.n, 1000U);
        EXPECT_LT(written.n, text.size());
        near.shutdown(socket_base::shutdown_send);
        std::string got;
        EXPECT_EQ(read_to_end(far, got), error::eof);
        EXPECT_EQ(got.size(), written.n - 1000) << "not a byte more or less";
        EXPECT_TRUE(got == text.substr(1000, got.size()));
    });
}

TEST_P(Cancelling, CancelledReadUntilKeepsWhatCame) {
    connected([&](auto& near, auto& far) {
        std::string held;
        completion read, sent;
        async_read_until(far, dynamic_buffer(held), '\n', read.handler());
        async_write(near, buffer("no end", 6), sent.handler());
        run_until([&] { return sent.count != 0; });
        settle();
        far.cancel();
        run();
        EXPECT_EQ(read.count, 1);
        EXPECT_EQ(read.ec, error::operation_aborted);
        completion rest;
        async_write(near, buffer(" yet\n", 5), rest.handler());
        completion line;
        async_read_until(far, dynamic_buffer(held), '\n', line.handler());
        run();
        EXPECT_TRUE(line.succeeded());
        EXPECT_EQ(held, "no end yet\n");
    });
}

TEST_P(Cancelling, AwaitedOperationsAreAbortedTooAndTheirCoroutinesGoOn) {
    connected([&](auto& near, auto& far) {
        int aborted = 0;
        bool usable = false;
        spawn([&]() -> awaitable<void> {
            char c;
            auto const [one, none] = co_await far.async_read_some(buffer(&c, 1), as_tuple);
            aborted += one == error::operation_aborted;
            try {
                co_await async_read(far, buffer(&c, 1));
            } catch (system_error const& e) {
                aborted += e.code() == error::operation_aborted;
            }
            auto const [three] = co_await far.async_wait(socket_base::wait_read, as_tuple);
            aborted += three == error::operation_aborted;
            co_await far.async_read_some(buffer(&c, 1));
            usable = c == 'x';
        });
        for (int i = 1; i <= 3; ++i) {
            settle();
            far.cancel();
            run_until([&] { return aborted == i; });
        }
        completion sent;
        async_write(near, buffer("x", 1), sent.handler());
        run();
        EXPECT_TRUE(usable);
    });
}

TEST_P(Cancelling, CancelledAcceptLosesNoConnection) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::acceptor acceptor(context(), t.free_address());
        constexpr int clients = 12;
        std::vector<typename protocol::socket> connecting, served;
        int connected = 0, asked = 0, aborted = 0;
        for (int i = 0; i != clients; ++i)
            connecting.emplace_back(context());
        spawn([&]() -> awaitable<void> {
            for (auto& c : connecting) {
                co_await c.async_connect(acceptor.local_endpoint());
                ++connected;
                co_await this_coro::yield();
            }
        });
        spawn([&]() -> awaitable<void> {
            while (served.size() != clients) {
                auto [ec, s] = co_await acceptor.async_accept(as_tuple);
                if (ec) {
                    EXPECT_EQ(ec, error::operation_aborted);
                    EXPECT_FALSE(s.is_open());
                    ++aborted;
                } else {
                    served.push_back(std::move(s));
                }
            }
        });
        spawn([&]() -> awaitable<void> {
            while (connected != clients) {
                acceptor.cancel();
                ++asked;
                co_await this_coro::yield();
            }
        });
        run();
        EXPECT_EQ(connected, clients);
        EXPECT_GT(asked, 0);
        EXPECT_LE(aborted, asked);
        for (std::size_t i = 0; i != clients; ++i)
            pass(connecting[i], served[i], std::to_string(i));
    });
}

TEST_P(TcpCancelling, CancelledConnectIsAborted) {
    over_tcp([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::acceptor acceptor(context(), t.kind());
        acceptor.bind(t.free_address());
        acceptor.listen(0);
        typename protocol::socket first(context()), second(context());
        first.connect(acceptor.local_endpoint());
        completion connected;
        second.async_connect(acceptor.local_endpoint(), connected.handler());
        settle();
        EXPECT_EQ(connected.count, 0);
        second.cancel();
        run();
        EXPECT_EQ(connected.count, 1);
        EXPECT_EQ(connected.ec, error::operation_aborted);
        second.close();
        typename protocol::socket served(context());
        completion accepted;
        acceptor.async_accept(served, accepted.handler());
        run();
        completion again;
        second.async_connect(acceptor.local_endpoint(), again.handler());
        run();
        EXPECT_TRUE(again.succeeded()) << again.ec.message();
    });
}

TEST_P(Cancelling, TimerThatLimitsAReadCancelsItOrComesTooLate) {
    connected([&](auto& near, auto& far) {
        std::string const text = pattern(100);
        std::string got;
        spawn([&]() -> awaitable<void> {
            steady_timer pause(context());
            for (char const& c : text) {
                co_await near.async_write_some(buffer(&c, 1));
                pause.expires_after(std::chrono::microseconds(20));
                co_await pause.async_wait();
            }
            near.close();
        });
        spawn([&]() -> awaitable<void> {
            steady_timer limit(context());
            for (;;) {
                limit.expires_after(std::chrono::microseconds(10));
                auto const over = std::make_shared<bool>(false); // The wait may end after the read.
                limit.async_wait([&far, over](error_code ec) {
                    if (!ec && !*over)
                        far.cancel();
                });
                char c;
                auto const [ec, n] = co_await far.async_read_some(buffer(&c, 1), as_tuple);
                *over = true;
                if (ec == error::operation_aborted)
                    continue;
                if (ec) {
                    EXPECT_EQ(ec, error::eof);
                    break;
                }
                got += c;
            }
        });
        run();
        EXPECT_EQ(got, text);
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Cancelling, testing::ValuesIn(every_driver_and_stream()), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, TcpCancelling,
                         testing::ValuesIn(every_driver_and({transport::tcp_v4, transport::tcp_v6})), name_of);

} // namespace
} // namespace fairlead::conformance
