// How streams end: by the end of the data, half or whole, by a reset, or because they never began.
#include "streams.hpp"

#include <fairlead/token/adapters.hpp>

namespace fairlead::conformance {
namespace {

class StreamEnds : public stream_conformance_test {};
// Tests of properties that only some transports have.
class TcpStreamEnds : public StreamEnds {};
class LocalStreamEnds : public StreamEnds {};

// ---- how a stream ends

TEST_P(StreamEnds, EndComesAfterTheDataAndStays) {
    connected([&](auto& near, auto& far) {
        auto const text = pattern(30'000);
        completion sent;
        async_write(near, buffer(text), sent.handler());
        std::string got;
        char chunk[3000];
        error_code end;
        spawn([&]() -> awaitable<void> {
            while (!end) {
                auto const [ec, n] = co_await far.async_read_some(buffer(chunk), as_tuple);
                got.append(chunk, n);
                end = ec;
                if (got.size() == 3000 || ec)
                    continue;
                if (sent.count && near.is_open())
                    near.close();
            }
        });
        run_until([&] { return sent.count != 0; });
        if (near.is_open())
            near.close();
        run();
        EXPECT_EQ(end, error::eof);
        EXPECT_TRUE(got == text);
        for (int i = 0; i != 3; ++i)
            EXPECT_EQ(read_error(far), error::eof);
    });
}

TEST_P(StreamEnds, PendingReadsAllLearnOfTheEnd) {
    connected([&](auto& near, auto& far) {
        char c[3];
        completion some[2], whole;
        far.async_read_some(buffer(&c[0], 1), some[0].handler());
        async_read(far, buffer(c), whole.handler());
        far.async_read_some(buffer(&c[0], 1), some[1].handler());
        settle();
        near.close();
        run();
        for (auto const& r : {some[0], whole, some[1]}) {
            EXPECT_EQ(r.count, 1);
            EXPECT_EQ(r.ec, error::eof);
            EXPECT_EQ(r.n, 0U);
        }
    });
}

TEST_P(StreamEnds, WholeReadThatMeetsTheEndSaysWhatItGot) {
    connected([&](auto& near, auto& far) {
        std::string got(10, ' ');
        completion read, sent;
        async_read(far, buffer(got), read.handler());
        settle();
        async_write(near, buffer("0123", 4), sent.handler());
        run_until([&] { return sent.count != 0; });
        settle();
        EXPECT_EQ(read.count, 0);
        near.shutdown(socket_base::shutdown_send);
        run();
        EXPECT_EQ(read.ec, error::eof);
        EXPECT_EQ(read.n, 4U);
        EXPECT_EQ(got.substr(0, 4), "0123");
    });
}

TEST_P(StreamEnds, HalfClosedStreamStillCarriesTheOtherWay) {
    connected([&](auto& a, auto& b) {
        auto const question = pattern(20'000, 1), answer = pattern(30'000, 2);
        auto const ask = [&](auto& s) {
            return [&]() -> awaitable<void> {
                co_await async_write(s, buffer(question));
                s.shutdown(socket_base::shutdown_send);
                auto const [write_ec, written] = co_await s.async_write_some(buffer("x", 1), as_tuple);
                EXPECT_EQ(write_ec, error::broken_pipe);
                EXPECT_EQ(written, 0U);
                std::string got(answer.size(), ' ');
                co_await async_read(s, buffer(got));
                EXPECT_TRUE(got == answer);
                char c;
                auto const [ec, n] = co_await s.async_read_some(buffer(&c, 1), as_tuple);
                EXPECT_EQ(ec, error::eof);
            };
        };
        auto const reply = [&](auto& s) {
            return [&]() -> awaitable<void> {
                std::string got(question.size(), ' ');
                co_await async_read(s, buffer(got));
                EXPECT_TRUE(got == question);
                char c;
                auto const [ec, n] = co_await s.async_read_some(buffer(&c, 1), as_tuple);
                EXPECT_EQ(ec, error::eof);
                co_await async_write(s, buffer(answer));
                s.close();
            };
        };
        spawn(ask(a));
        spawn(reply(b));
        run();
    });
}

TEST_P(StreamEnds, AcceptedSideMayHalfCloseFirst) {
    connected([&](auto& near, auto& far) {
        far.shutdown(socket_base::shutdown_send);
        EXPECT_EQ(read_error(near), error::eof);
        pass(near, far, pattern(10'000));
        near.shutdown(socket_base::shutdown_send);
        EXPECT_EQ(read_error(far), error::eof);
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(write_error(far), error::broken_pipe);
    });
}

TEST_P(StreamEnds, ShutdownOfReceivingEndsPendingReadsButKeepsWhatIsThere) {
    connected([&](auto& near, auto& far) {
        char c;
        completion read;
        far.async_read_some(buffer(&c, 1), read.handler());
        settle();
        EXPECT_EQ(read.count, 0);
        far.shutdown(socket_base::shutdown_receive);
        run();
        EXPECT_EQ(read.ec, error::eof);
        // The other way is not concerned.
        pass(far, near, "still");
    });
}

TEST_P(StreamEnds, BytesThatHadComeBeforeShutdownOfReceivingCanStillBeRead) {
    connected([&](auto& near, auto& far) {
        send(near, far, "0123");
        far.shutdown(socket_base::shutdown_receive);
        std::string got;
        EXPECT_EQ(read_to_end(far, got), error::eof);
        EXPECT_EQ(got, "0123");
    });
}

TEST_P(StreamEnds, WhoWritesToAnEndThatReceivesNoMoreIsToldOnUnixOnly) {
    connected([&](auto& near, auto& far) {
        far.shutdown(socket_base::shutdown_receive);
        settle();
        if (is_tcp<decltype(near)>) { // TCP has no way of saying so; the bytes come all the same.
            EXPECT_FALSE(write_error(near));
            char c = ' ';
            completion read;
            while (far.available() == 0)
                settle();
            far.async_read_some(buffer(&c, 1), read.handler());
            run();
            EXPECT_TRUE(read.succeeded()) << read.ec.message();
            EXPECT_EQ(c, 'x');
        } else {
            EXPECT_EQ(write_error(near), error::broken_pipe);
        }
    });
}

TEST_P(StreamEnds, ShutdownOfBothWaysEndsBothAndMayBeRepeated) {
    connected([&](auto& near, auto& far) {
        char c;
        completion read;
        near.async_read_some(buffer(&c, 1), read.handler());
        settle();
        near.shutdown(socket_base::shutdown_both);
        run();
        EXPECT_EQ(read.ec, error::eof);
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(read_error(near), error::eof);
        EXPECT_EQ(read_error(far), error::eof);
        error_code ec;
        near.shutdown(socket_base::shutdown_send, ec);
        EXPECT_FALSE(ec) << ec.message();
    });
}

TEST_P(StreamEnds, WhoIsNotConnectedCannotShutDown) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket s(context());
        error_code ec;
        s.shutdown(socket_base::shutdown_send, ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        s.open(t.kind());
        s.shutdown(socket_base::shutdown_send, ec);
        if (t.is_tcp)
            EXPECT_EQ(ec, error::not_connected);
        else // UNIX sockets may be shut before they are connected.
            EXPECT_FALSE(ec) << ec.message();
    });
}

TEST_P(StreamEnds, ConnectionThatBothEndsHaveFinishedIsNoConnectionAnyMoreOnTcp) {
    connected([&](auto& near, auto& far) {
        near.shutdown(socket_base::shutdown_send);
        EXPECT_EQ(read_error(far), error::eof);
        EXPECT_NO_THROW(near.remote_endpoint());
        far.shutdown(socket_base::shutdown_send);
        EXPECT_EQ(read_error(near), error::eof);
        error_code name_ec, shutdown_ec;
        near.remote_endpoint(name_ec);
        near.shutdown(socket_base::shutdown_send, shutdown_ec);
        if (is_tcp<decltype(near)>) {
            EXPECT_EQ(name_ec, error::not_connected);
            EXPECT_EQ(shutdown_ec, error::not_connected);
        } else {
            EXPECT_FALSE(name_ec) << name_ec.message();
            EXPECT_FALSE(shutdown_ec) << shutdown_ec.message();
        }
    });
}

TEST_P(StreamEnds, LingerOfZeroResetsTcp) {
    connected([&](auto& near, auto& far) {
        send(far, near, "0123");
        far.set_option(socket_base::linger(true, 0));
        far.close();
        settle();
        std::string got;
        auto const end = read_to_end(near, got);
        EXPECT_EQ(got, "0123") << "what had come is delivered first";
        if (is_tcp<decltype(near)>) {
            EXPECT_EQ(end, error::connection_reset);
            EXPECT_EQ(read_error(near), error::eof) << "the error is reported once";
            EXPECT_EQ(write_error(near), error::broken_pipe);
            error_code ec;
            near.remote_endpoint(ec);
            EXPECT_EQ(ec, error::not_connected);
            near.shutdown(socket_base::shutdown_send, ec);
            EXPECT_EQ(ec, error::not_connected);
        } else {
            EXPECT_EQ(end, error::eof);
        }
    });
}

TEST_P(TcpStreamEnds, WriterLearnsOfAResetOnce) {
    connected([&](auto& near, auto& far) {
        far.set_option(socket_base::linger(true, 0));
        far.close();
        wait_until_readable(near);
        EXPECT_EQ(write_error(near), error::connection_reset);
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(read_error(near), error::eof);
    });
}

TEST_P(StreamEnds, PendingReadAndWriteLearnOfAReset) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near);
        char c;
        std::string const much(3'000'000, 'm');
        completion read, written;
        async_write(near, buffer(much), written.handler());
        near.async_read_some(buffer(&c, 1), read.handler());
        settle();
        EXPECT_EQ(read.count + written.count, 0);
        EXPECT_GT(before, 0U);
        far.close(); // with unread bytes
        run();
        EXPECT_EQ(read.count, 1);
        EXPECT_EQ(written.count, 1);
        EXPECT_LT(written.n, much.size());
        EXPECT_EQ(read.n, 0U);
        // One of them has it, the other one finds an end.
        if (read.ec == error::connection_reset) {
            EXPECT_EQ(written.ec, error::broken_pipe);
        } else {
            EXPECT_EQ(read.ec, error::eof);
            EXPECT_EQ(written.ec, error::connection_reset);
        }
    });
}

TEST_P(StreamEnds, ClosingWithUnreadBytesResets) {
    connected([&](auto& near, auto& far) {
        send(far, near, "kept"); // both ways
        send(near, far, "lost");
        far.close();
        settle();
        std::string got;
        EXPECT_EQ(read_to_end(near, got), error::connection_reset);
        EXPECT_EQ(got, "kept");
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(read_error(near), error::eof);
    });
}

TEST_P(LocalStreamEnds, OnUnixAWriteDoesNotTakeTheResetFromTheReader) {
    connected([&](auto& near, auto& far) {
        send(near, far, "lost");
        far.close();
        settle();
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(read_error(near), error::connection_reset);
        EXPECT_EQ(read_error(near), error::eof);
    });
}

TEST_P(StreamEnds, WritingToAPeerThatHasClosedFailsOnTcpAfterOneAnswer) {
    connected([&](auto& near, auto& far) {
        far.close();
        EXPECT_EQ(read_error(near), error::eof);
        if (is_tcp<decltype(near)>) {
            EXPECT_FALSE(write_error(near));
            wait_until(near, socket_base::wait_error);
        }
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(write_error(near), error::broken_pipe);
        EXPECT_EQ(read_error(near), error::eof) << "the end of the stream stays the end";
    });
}

TEST_P(StreamEnds, AnswerToAWriteAfterTheEndDoesNotBecomeAnErrorOfReading) {
    connected([&](auto& near, auto& far) {
        far.close();
        EXPECT_EQ(read_error(near), error::eof);
        write_error(near);
        wait_until(near, socket_base::wait_error); // A reset comes back on TCP.
        EXPECT_EQ(read_error(near), error::eof);
        EXPECT_EQ(read_error(near), error::eof);
        EXPECT_EQ(write_error(near), error::broken_pipe);
    });
}

TEST_P(StreamEnds, WholeWriteThatBreaksSaysWhatHadGone) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near);
        std::string const much(3'000'000, 'm'); // more than any buffer takes
        completion written;
        async_write(near, buffer(much), written.handler());
        drain(far, before + 1000);
        settle();
        EXPECT_EQ(written.count, 0);
        far.close();
        run();
        EXPECT_EQ(written.count, 1);
        EXPECT_TRUE(written.ec == error::broken_pipe || written.ec == error::connection_reset) << written.ec.message();
        EXPECT_GE(written.n, 1000U);
        EXPECT_LT(written.n, much.size());
    });
}

TEST_P(StreamEnds, BlockedWriteEndsWhenItsOwnSideShutsDown) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near);
        completion written;
        async_write(near, buffer("x", 1), written.handler());
        settle();
        EXPECT_EQ(written.count, 0);
        near.shutdown(socket_base::shutdown_send);
        if (!is_tcp<decltype(near)> && differs("unix-shutdown-leaves-blocked-writes")) {
            settle();
            EXPECT_EQ(written.count, 0);
            drain(far, before);
        }
        run();
        EXPECT_EQ(written.count, 1);
        EXPECT_EQ(written.ec, error::broken_pipe);
        EXPECT_EQ(written.n, 0U);
    });
}

TEST_P(StreamEnds, BlockedWriteToAClosingPeerEnds) {
    connected([&](auto& near, auto& far) {
        fill(near);
        completion written;
        async_write(near, buffer("x", 1), written.handler());
        settle();
        EXPECT_EQ(written.count, 0);
        far.close();
        run();
        EXPECT_EQ(written.count, 1);
        EXPECT_TRUE(written.ec == error::broken_pipe || written.ec == error::connection_reset) << written.ec.message();
    });
}

// ---- sockets that are not connected

TEST_P(StreamEnds, ClosedSocketsSayBadDescriptor) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket s(context());
        char c;
        completion read, written, waited, whole;
        s.async_read_some(buffer(&c, 1), read.handler());
        s.async_write_some(buffer(&c, 1), written.handler());
        s.async_wait(socket_base::wait_read, waited.handler());
        async_read(s, buffer(&c, 1), whole.handler());
        run();
        for (auto const& r : {read, written, waited, whole}) {
            EXPECT_EQ(r.count, 1);
            EXPECT_EQ(r.ec, error::bad_descriptor);
            EXPECT_EQ(r.n, 0U);
        }
        error_code ec;
        s.read_some(buffer(&c, 1), ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        s.available(ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        s.local_endpoint(ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        s.cancel(ec);
        EXPECT_EQ(ec, error::bad_descriptor);
        s.close(ec);
        EXPECT_FALSE(ec) << "closing what is closed does nothing";
        s.open(t.kind());
        s.open(t.kind(), ec);
        EXPECT_EQ(ec, error::already_open);
    });
}

TEST_P(StreamEnds, OpenButUnconnectedSocketsSayWhatTheSystemSays) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket s(context(), t.kind());
        EXPECT_EQ(read_error(s), t.is_tcp ? error::not_connected : error::invalid_argument);
        EXPECT_EQ(write_error(s), t.is_tcp ? error::broken_pipe : error::not_connected);
        error_code ec;
        s.remote_endpoint(ec);
        EXPECT_EQ(ec, error::not_connected);
        char c;
        s.read_some(buffer(&c, 1), ec);
        EXPECT_EQ(ec, t.is_tcp ? error::not_connected : error::invalid_argument);
        s.write_some(buffer(&c, 1), ec);
        EXPECT_EQ(ec, t.is_tcp ? error::broken_pipe : error::not_connected);
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, StreamEnds, testing::ValuesIn(every_driver_and_stream()), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, TcpStreamEnds,
                         testing::ValuesIn(every_driver_and({transport::tcp_v4, transport::tcp_v6})), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, LocalStreamEnds, testing::ValuesIn(every_driver_and({transport::local})),
                         name_of);

} // namespace
} // namespace fairlead::conformance
