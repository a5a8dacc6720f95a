// Cancelling one operation through its slot: it ends once and says the truth, and no other operation notices.
#include "streams.hpp"

#include <fairlead/net/connect.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/cancellation.hpp>

#include <array>

namespace fairlead::conformance {
namespace {

constexpr cancellation_type each_type[] = {cancellation_type::terminal, cancellation_type::partial,
                                           cancellation_type::total, cancellation_type::all};

class CancellingOne : public stream_conformance_test {
protected:
    /// Sends, and waits until `taken()`.
    template <class Socket, class F> void pass_some(Socket& from, Socket& to, std::string const& text, F taken) {
        completion sent;
        async_write(from, buffer(text), sent.handler());
        run_until([&] { return sent.count != 0; });
        while (to.available() != 0 || !taken())
            settle();
        settle();
    }
};
// Tests of properties that only some transports have.
class TcpCancellingOne : public CancellingOne {};

TEST_P(CancellingOne, ReadEndsAndTheOneBehindItGoesOn) {
    connected([&](auto& near, auto& far) {
        for (auto const type : each_type) {
            cancellation_signal signal;
            char a = ' ', b = ' ';
            completion first, second;
            far.async_read_some(buffer(&a, 1), bind_cancellation_slot(signal.slot(), first.handler()));
            far.async_read_some(buffer(&b, 1), second.handler());
            settle();
            EXPECT_TRUE(signal.slot().has_handler());
            signal.emit(type);
            EXPECT_EQ(first.count, 0) << "called inside emit()";
            run_until([&] { return first.count != 0; });
            EXPECT_EQ(first.ec, error::operation_aborted);
            EXPECT_EQ(first.n, 0U);
            EXPECT_FALSE(signal.slot().has_handler());
            EXPECT_EQ(second.count, 0);
            completion sent;
            async_write(near, buffer("x", 1), sent.handler());
            run();
            EXPECT_TRUE(second.succeeded());
            EXPECT_EQ(b, 'x');
            EXPECT_EQ(first.count, 1);
        }
    });
}

TEST_P(CancellingOne, TheOneBehindEndsAndTheFirstGoesOn) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        char a = ' ', b = ' ';
        completion first, second;
        far.async_read_some(buffer(&a, 1), first.handler());
        far.async_read_some(buffer(&b, 1), bind_cancellation_slot(signal.slot(), second.handler()));
        settle();
        signal.emit(cancellation_type::terminal);
        signal.emit(cancellation_type::terminal); // twice
        run_until([&] { return second.count != 0; });
        EXPECT_EQ(second.ec, error::operation_aborted);
        completion sent;
        async_write(near, buffer("x", 1), sent.handler());
        run();
        EXPECT_TRUE(first.succeeded());
        EXPECT_EQ(a, 'x');
        EXPECT_EQ(second.count, 1);
        pass(near, far, "more");
    });
}

TEST_P(CancellingOne, WaitForReadinessEnds) {
    connected([&](auto& near, auto& far) {
        for (auto const what : {socket_base::wait_read, socket_base::wait_error})
            for (auto const type : each_type) {
                cancellation_signal signal;
                completion waited, other;
                far.async_wait(what, bind_cancellation_slot(signal.slot(), waited.handler()));
                far.async_wait(socket_base::wait_read, other.handler());
                settle();
                signal.emit(type);
                run_until([&] { return waited.count != 0; });
                EXPECT_EQ(waited.ec, error::operation_aborted);
                EXPECT_EQ(other.count, 0);
                send(near, far, "x");
                run();
                EXPECT_TRUE(other.succeeded());
                drain(far, 1);
            }
    });
}

TEST_P(CancellingOne, WriteThatWaitsForRoomEnds) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near);
        for (auto const type : each_type) {
            cancellation_signal signal;
            completion written;
            near.async_write_some(buffer("more", 4), bind_cancellation_slot(signal.slot(), written.handler()));
            settle();
            EXPECT_EQ(written.count, 0);
            signal.emit(type);
            run_until([&] { return written.count != 0; });
            EXPECT_EQ(written.ec, error::operation_aborted);
            EXPECT_EQ(written.n, 0U);
        }
        near.shutdown(socket_base::shutdown_send);
        std::string got;
        EXPECT_EQ(read_to_end(far, got), error::eof);
        EXPECT_EQ(got.size(), before);
    });
}

TEST_P(CancellingOne, RequestBeforeTheStartIsForgotten) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        signal.emit(cancellation_type::all);
        char c = ' ';
        completion read, sent;
        far.async_read_some(buffer(&c, 1), bind_cancellation_slot(signal.slot(), read.handler()));
        settle();
        EXPECT_EQ(read.count, 0);
        async_write(near, buffer("x", 1), sent.handler());
        run();
        EXPECT_TRUE(read.succeeded());
        signal.emit(cancellation_type::all); // and so is one afterwards
        run();
        EXPECT_EQ(read.count, 1);
        pass(near, far, "y");
    });
}

TEST_P(CancellingOne, WhatIsQueuedAsASuccessStaysOne) {
    connected([&](auto& near, auto& far) {
        // Two reads complete with the same event; the handler of the first asks the second to stop.
        cancellation_signal signal;
        std::array<char, 1> a{}, b{};
        completion second;
        int first = 0;
        far.async_read_some(buffer(a), [&](error_code ec, std::size_t) {
            EXPECT_FALSE(ec);
            ++first;
            signal.emit(cancellation_type::all);
        });
        far.async_read_some(buffer(b), bind_cancellation_slot(signal.slot(), second.handler()));
        settle();
        completion sent;
        async_write(near, buffer("xy", 2), sent.handler());
        run();
        EXPECT_EQ(first, 1);
        EXPECT_EQ(second.count, 1);
        if (second.ec) {
            EXPECT_EQ(second.ec, error::operation_aborted);
            EXPECT_EQ(second.n, 0U);
            EXPECT_EQ(far.available(), 1U) << "then its byte is still there";
        } else {
            EXPECT_EQ(second.n, 1U);
            EXPECT_EQ(b[0], 'y');
            EXPECT_EQ(far.available(), 0U);
        }
    });
}

TEST_P(CancellingOne, SlotIsFreeInsideTheHandlerAndServesTheNextOperation) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        char c = ' ';
        int steps = 0;
        completion last;
        auto const slot = signal.slot();
        far.async_read_some(buffer(&c, 1), bind_cancellation_slot(slot, [&](error_code ec, std::size_t) {
                                EXPECT_EQ(ec, error::operation_aborted);
                                EXPECT_FALSE(slot.has_handler());
                                ++steps;
                                far.async_read_some(buffer(&c, 1), bind_cancellation_slot(slot, last.handler()));
                                EXPECT_TRUE(slot.has_handler());
                            }));
        settle();
        signal.emit(cancellation_type::terminal);
        run_until([&] { return steps == 1; });
        settle();
        EXPECT_EQ(last.count, 0) << "was started after the request";
        signal.emit(cancellation_type::terminal);
        run();
        EXPECT_EQ(last.ec, error::operation_aborted);
        pass(near, far, "x");
    });
}

TEST_P(CancellingOne, SlotServesWhoeverCameLast) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        char a = ' ', b = ' ';
        completion first, second;
        far.async_read_some(buffer(&a, 1), bind_cancellation_slot(signal.slot(), first.handler()));
        far.async_read_some(buffer(&b, 1), bind_cancellation_slot(signal.slot(), second.handler()));
        completion sent;
        async_write(near, buffer("x", 1), sent.handler());
        run_until([&] { return first.count != 0; });
        EXPECT_TRUE(first.succeeded());
        EXPECT_TRUE(signal.slot().has_handler()) << "taken away by an operation that had lost it";
        signal.emit(cancellation_type::terminal);
        run();
        EXPECT_EQ(second.ec, error::operation_aborted);
    });
}

TEST_P(CancellingOne, SignalMayGoBeforeTheOperation) {
    connected([&](auto& near, auto& far) {
        char c = ' ';
        completion read, sent;
        {
            cancellation_signal signal;
            far.async_read_some(buffer(&c, 1), bind_cancellation_slot(signal.slot(), read.handler()));
            settle();
        }
        async_write(near, buffer("x", 1), sent.handler());
        run();
        EXPECT_TRUE(read.succeeded());
    });
}

TEST_P(CancellingOne, SocketMayMoveOrCloseMeanwhile) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        char c = ' ';
        completion first, second;
        far.async_read_some(buffer(&c, 1), bind_cancellation_slot(signal.slot(), first.handler()));
        auto moved = std::move(far);
        settle();
        signal.emit(cancellation_type::terminal);
        run_until([&] { return first.count != 0; });
        EXPECT_EQ(first.ec, error::operation_aborted);
        moved.async_read_some(buffer(&c, 1), bind_cancellation_slot(signal.slot(), second.handler()));
        moved.close();
        signal.emit(cancellation_type::terminal);
        run();
        EXPECT_EQ(second.count, 1);
        EXPECT_EQ(second.ec, error::operation_aborted);
        (void)near;
    });
}

TEST_P(CancellingOne, WholeReadSaysWhatItHadAndDoesNotHearTotal) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        std::string got(10, ' ');
        completion read, sent;
        async_read(far, buffer(got), bind_cancellation_slot(signal.slot(), read.handler()));
        settle();
        async_write(near, buffer("0123", 4), sent.handler());
        run_until([&] { return sent.count != 0; });
        while (far.available() != 0) // until the read has taken them
            settle();
        settle();
        signal.emit(cancellation_type::total);
        settle();
        EXPECT_EQ(read.count, 0) << "it cannot undo the bytes that it has read";
        signal.emit(cancellation_type::partial);
        run();
        EXPECT_EQ(read.count, 1);
        EXPECT_EQ(read.ec, error::operation_aborted);
        EXPECT_EQ(read.n, 4U);
        EXPECT_EQ(got.substr(0, 4), "0123");
        pass(near, far, "4567");
    });
}

TEST_P(CancellingOne, WholeWriteSaysWhatHadGone) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near);
        auto const text = pattern(3'000'000);
        cancellation_signal signal;
        completion written;
        async_write(near, buffer(text), bind_cancellation_slot(signal.slot(), written.handler()));
        drain(far, before + 1000);
        settle();
        signal.emit(cancellation_type::total);
        settle();
        EXPECT_EQ(written.count, 0);
        signal.emit(cancellation_type::terminal);
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

/// A stream on top of another, so that algorithms take their steps one by one.
template <class Socket> struct layer {
    using executor_type = typename Socket::executor_type;
    Socket& below;
    std::size_t most = 3;
    executor_type get_executor() noexcept { return below.get_executor(); }
    template <class Buffers, class Token> decltype(auto) async_read_some(Buffers const& into, Token&& token) {
        return below.async_read_some(buffer(mutable_buffer(*buffer_sequence_begin(into)), most),
                                     std::forward<Token>(token));
    }
    template <class Buffers, class Token> decltype(auto) async_write_some(Buffers const& from, Token&& token) {
        return below.async_write_some(buffer(const_buffer(*buffer_sequence_begin(from)), most),
                                      std::forward<Token>(token));
    }
};

TEST_P(CancellingOne, ReadInStepsSaysWhatItHadAndDoesNotHearTotal) {
    connected([&](auto& near, auto& far) {
        layer<std::remove_reference_t<decltype(far)>> above{far};
        cancellation_signal signal;
        std::string got(20, ' '), held;
        completion read, dynamic;
        async_read(above, buffer(got), bind_cancellation_slot(signal.slot(), read.handler()));
        pass_some(near, far, "0123456", [&] { return got[6] == '6'; });
        signal.emit(cancellation_type::total);
        settle();
        EXPECT_EQ(read.count, 0);
        signal.emit(cancellation_type::partial);
        run();
        EXPECT_EQ(read.count, 1);
        EXPECT_EQ(read.ec, error::operation_aborted);
        EXPECT_EQ(read.n, 7U);
        EXPECT_FALSE(signal.slot().has_handler());
        async_read(above, dynamic_buffer(held, 20), bind_cancellation_slot(signal.slot(), dynamic.handler()));
        pass_some(near, far, "abcd", [&] { return far.available() == 0; });
        settle();
        signal.emit(cancellation_type::terminal);
        run();
        EXPECT_EQ(dynamic.ec, error::operation_aborted);
        EXPECT_EQ(dynamic.n, 4U);
        EXPECT_EQ(held, "abcd");
        EXPECT_FALSE(signal.slot().has_handler());
    });
}

/// Asks while a step is complete and its handler not yet called: then nothing is in the slot.
template <class Socket> struct asking_layer : layer<Socket> {
    cancellation_signal& signal;
    cancellation_type type;
    int& steps;
    template <class Buffers, class Handler> void async_read_some(Buffers const& into, Handler&& handler) {
        ++steps;
        layer<Socket>::async_read_some(
            into, [this, h = std::forward<Handler>(handler)](error_code ec, std::size_t n) mutable {
                if (steps == 2)
                    signal.emit(type);
                std::move(h)(ec, n);
            });
    }
};

TEST_P(CancellingOne, RequestBetweenTwoStepsIsNotLost) {
    connected([&](auto& near, auto& far) {
        for (auto const type : {cancellation_type::terminal, cancellation_type::total}) {
            cancellation_signal signal;
            int steps = 0;
            asking_layer<std::remove_reference_t<decltype(far)>> above{{far, 1}, signal, type, steps};
            std::string got(4, ' ');
            completion read;
            async_read(above, buffer(got), bind_cancellation_slot(signal.slot(), read.handler()));
            completion sent;
            async_write(near, buffer("wxyz", 4), sent.handler());
            run();
            EXPECT_EQ(read.count, 1);
            if (type == cancellation_type::total) {
                EXPECT_TRUE(read.succeeded());
                EXPECT_EQ(steps, 4);
                continue;
            }
            EXPECT_EQ(read.ec, error::operation_aborted);
            EXPECT_EQ(read.n, 2U);
            EXPECT_EQ(got, "wx  ");
            EXPECT_EQ(steps, 2);
            drain(far, 2);
        }
    });
}

TEST_P(CancellingOne, ReadUntilKeepsWhatCame) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        std::string held;
        completion read, sent, rest, line;
        async_read_until(far, dynamic_buffer(held), '\n', bind_cancellation_slot(signal.slot(), read.handler()));
        async_write(near, buffer("no end", 6), sent.handler());
        run_until([&] { return sent.count != 0; });
        while (far.available() != 0)
            settle();
        settle();
        signal.emit(cancellation_type::total);
        settle();
        EXPECT_EQ(read.count, 0);
        signal.emit(cancellation_type::partial);
        run();
        EXPECT_EQ(read.count, 1);
        EXPECT_EQ(read.ec, error::operation_aborted);
        EXPECT_EQ(read.n, 0U);
        async_write(near, buffer(" yet\n", 5), rest.handler());
        async_read_until(far, dynamic_buffer(held), '\n', bind_cancellation_slot(signal.slot(), line.handler()));
        run();
        EXPECT_TRUE(line.succeeded());
        EXPECT_EQ(held, "no end yet\n");
    });
}

TEST_P(CancellingOne, AwaitedOperationsEndTooInEveryForm) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        int aborted = 0;
        bool usable = false;
        spawn([&]() -> awaitable<void> {
            char c;
            auto const slot = signal.slot();
            try {
                co_await far.async_read_some(buffer(&c, 1), bind_cancellation_slot(slot));
            } catch (system_error const& e) {
                aborted += e.code() == error::operation_aborted;
            }
            try {
                co_await far.async_read_some(buffer(&c, 1), bind_cancellation_slot(slot, use_await));
            } catch (system_error const& e) {
                aborted += e.code() == error::operation_aborted;
            }
            auto const outside = as_tuple(bind_cancellation_slot(slot));
            auto const [one, none] = co_await far.async_read_some(buffer(&c, 1), outside);
            aborted += one == error::operation_aborted;
            auto const inside = bind_cancellation_slot(slot, as_tuple);
            auto const [two, no] = co_await async_read(far, buffer(&c, 1), inside);
            aborted += two == error::operation_aborted;
            auto later = far.async_wait(socket_base::wait_read, deferred);
            auto const [three] = co_await std::move(later)(bind_cancellation_slot(slot, as_tuple));
            aborted += three == error::operation_aborted;
            co_await far.async_read_some(buffer(&c, 1), bind_cancellation_slot(slot));
            usable = c == 'x';
        });
        for (int i = 1; i <= 5; ++i) {
            settle();
            signal.emit(cancellation_type::terminal);
            run_until([&] { return aborted == i; });
        }
        completion sent;
        async_write(near, buffer("x", 1), sent.handler());
        run();
        EXPECT_TRUE(usable);
    });
}

TEST_P(CancellingOne, OperationMadeBeforeItMeetsItsHandlerListensToo) {
    connected([&](auto& near, auto& far) {
        cancellation_signal signal;
        char c = ' ';
        std::string held;
        completion read, line;
        auto one = far.async_read_some(buffer(&c, 1), deferred);
        std::move(one)(bind_cancellation_slot(signal.slot(), read.handler()));
        settle();
        signal.emit(cancellation_type::terminal);
        run_until([&] { return read.count != 0; });
        EXPECT_EQ(read.ec, error::operation_aborted);
        EXPECT_FALSE(signal.slot().has_handler());
        auto two = async_read_until(far, dynamic_buffer(held), '\n', deferred);
        std::move(two)(bind_cancellation_slot(signal.slot(), line.handler()));
        settle();
        signal.emit(cancellation_type::terminal);
        run();
        EXPECT_EQ(line.ec, error::operation_aborted);
        EXPECT_FALSE(signal.slot().has_handler());
        pass(near, far, "x");
    });
}

TEST_P(CancellingOne, RacingRequestNeverLosesAByte) {
    connected([&](auto& near, auto& far) {
        std::string const text = pattern(400);
        std::string got;
        int asked = 0, aborted = 0, completed = 0;
        cancellation_signal signal;
        spawn([&]() -> awaitable<void> {
            for (char const& c : text) {
                co_await near.async_write_some(buffer(&c, 1));
                co_await this_coro::yield();
            }
        });
        spawn([&]() -> awaitable<void> {
            char c;
            auto const token = as_tuple(bind_cancellation_slot(signal.slot()));
            while (got.size() != text.size()) {
                auto const [ec, n] = co_await far.async_read_some(buffer(&c, 1), token);
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
                asked += signal.slot().has_handler();
                signal.emit(each_type[i % 4]);
                for (int k = 0; k != i % 4; ++k)
                    co_await this_coro::yield();
            }
        });
        run();
        EXPECT_EQ(got, text);
        EXPECT_EQ(completed, 400);
        EXPECT_GT(asked, 0);
        EXPECT_LE(aborted, asked);
    });
}

TEST_P(CancellingOne, AcceptEndsAndLosesNoConnection) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::acceptor acceptor(context(), t.free_address());
        for (auto const type : each_type) {
            cancellation_signal signal, other;
            typename protocol::socket first(context()), second(context()), client(context());
            completion one, two, connected;
            acceptor.async_accept(first, bind_cancellation_slot(signal.slot(), one.handler()));
            acceptor.async_accept(second, bind_cancellation_slot(other.slot(), two.handler()));
            settle();
            signal.emit(type);
            run_until([&] { return one.count != 0; });
            EXPECT_EQ(one.ec, error::operation_aborted);
            EXPECT_FALSE(first.is_open());
            client.async_connect(acceptor.local_endpoint(), connected.handler());
            run();
            EXPECT_TRUE(connected.succeeded());
            EXPECT_TRUE(two.succeeded());
            pass(client, second, "x");
        }
        cancellation_signal signal;
        int accepted = 0;
        acceptor.async_accept(bind_cancellation_slot(signal.slot(), [&](error_code ec, auto socket) {
            EXPECT_EQ(ec, error::operation_aborted);
            EXPECT_FALSE(socket.is_open());
            ++accepted;
        }));
        signal.emit(cancellation_type::total);
        run();
        EXPECT_EQ(accepted, 1);
    });
}

TEST_P(TcpCancellingOne, ConnectEnds) {
    over_tcp([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        for (auto const type : each_type) {
            typename protocol::acceptor acceptor(context(), t.kind());
            acceptor.bind(t.free_address());
            acceptor.listen(0);
            typename protocol::socket first(context()), second(context()), third(context());
            first.connect(acceptor.local_endpoint());
            cancellation_signal signal;
            completion connected, range;
            second.async_connect(acceptor.local_endpoint(), bind_cancellation_slot(signal.slot(), connected.handler()));
            settle();
            EXPECT_EQ(connected.count, 0);
            signal.emit(type);
            run_until([&] { return connected.count != 0; });
            EXPECT_EQ(connected.ec, error::operation_aborted);

            std::vector const endpoints(3, acceptor.local_endpoint());
            async_connect(third, endpoints, bind_cancellation_slot(signal.slot(), range.handler()));
            settle();
            EXPECT_EQ(range.count, 0);
            signal.emit(cancellation_type::total);
            settle();
            EXPECT_EQ(range.count, 0);
            signal.emit(cancellation_type::terminal);
            run_until([&] { return range.count != 0; });
            EXPECT_EQ(range.ec, error::operation_aborted) << "went on to the next endpoint";
            EXPECT_FALSE(signal.slot().has_handler());
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, CancellingOne, testing::ValuesIn(every_driver_and_stream()), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, TcpCancellingOne,
                         testing::ValuesIn(every_driver_and({transport::tcp_v4, transport::tcp_v6})), name_of);

// ---- timers

class CancellingOneWait : public conformance_test {};

TEST_P(CancellingOneWait, WaitEndsAndTheOthersGoOn) {
    each_world([&] {
        for (auto const type : each_type) {
            steady_timer timer(context(), std::chrono::milliseconds(5));
            cancellation_signal signal;
            completion first, second, third;
            timer.async_wait(first.handler());
            timer.async_wait(bind_cancellation_slot(signal.slot(), second.handler()));
            timer.async_wait(third.handler());
            signal.emit(type);
            EXPECT_EQ(second.count, 0);
            run();
            EXPECT_EQ(second.count, 1);
            EXPECT_EQ(second.ec, error::operation_aborted);
            EXPECT_TRUE(first.succeeded());
            EXPECT_TRUE(third.succeeded());
            signal.emit(type);
            EXPECT_EQ(timer.cancel(), 0U);
        }
    });
}

TEST_P(CancellingOneWait, WaitThatIsQueuedAsExpiredStaysASuccess) {
    each_world([&] {
        auto const at = context().now() + std::chrono::milliseconds(1);
        steady_timer one(context(), at), two(context(), at);
        cancellation_signal signals[2];
        completion done[2];
        auto const ask_the_other = [&](int me) {
            return [&, me](error_code ec) {
                done[me].handler()(ec);
                signals[1 - me].emit(cancellation_type::all);
            };
        };
        one.async_wait(bind_cancellation_slot(signals[0].slot(), ask_the_other(0)));
        two.async_wait(bind_cancellation_slot(signals[1].slot(), ask_the_other(1)));
        run();
        EXPECT_TRUE(done[0].succeeded());
        EXPECT_TRUE(done[1].succeeded());
    });
}

TEST_P(CancellingOneWait, MovedTimerAndAbandonedWaits) {
    cancellation_signal signal, left;
    each_world([&] {
        completion waited;
        steady_timer timer(context(), std::chrono::hours(1));
        timer.async_wait(bind_cancellation_slot(signal.slot(), waited.handler()));
        steady_timer moved(std::move(timer));
        signal.emit(cancellation_type::total);
        run();
        EXPECT_EQ(waited.ec, error::operation_aborted);
        moved.async_wait(bind_cancellation_slot(left.slot(), waited.handler()));
        settle();
        EXPECT_TRUE(left.slot().has_handler());
        context().abandon_all();
        EXPECT_FALSE(left.slot().has_handler());
        left.emit(cancellation_type::terminal);
        EXPECT_EQ(waited.count, 1);
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, CancellingOneWait, testing::ValuesIn(every_driver()), name_of);

// ---- datagrams

class CancellingOneDatagram : public conformance_test {};

TEST_P(CancellingOneDatagram, ReceiveEndsAndTheOneBehindItGetsTheDatagram) {
    over_datagrams([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket near(context(), t.free_address()), far(context(), t.free_address());
        typename protocol::endpoint from, other;
        for (auto const type : each_type) {
            char a[4], b[4];
            cancellation_signal signal;
            completion first, second, sent;
            far.async_receive_from(buffer(a), from, bind_cancellation_slot(signal.slot(), first.handler()));
            far.async_receive_from(buffer(b), other, second.handler());
            settle();
            signal.emit(type);
            run_until([&] { return first.count != 0; });
            EXPECT_EQ(first.ec, error::operation_aborted);
            near.async_send_to(buffer("xy", 2), far.local_endpoint(),
                               bind_cancellation_slot(signal.slot(), sent.handler()));
            run();
            EXPECT_TRUE(sent.succeeded());
            EXPECT_TRUE(second.succeeded());
            EXPECT_EQ(second.n, 2U);
            EXPECT_EQ(other, near.local_endpoint());
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, CancellingOneDatagram, testing::ValuesIn(every_driver_and_datagram()), name_of);

} // namespace
} // namespace fairlead::conformance
