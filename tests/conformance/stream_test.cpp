// Connected streams: bytes and their order, in every form of operation.
#include "streams.hpp"

#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fairlead::conformance {
namespace {

class Streams : public stream_conformance_test {};
// Tests of properties that only some transports have.
class LocalStreams : public Streams {};

// ---- bytes

TEST_P(Streams, WholeTransfersOfEverySizeArrive) {
    connected([&](auto& near, auto& far) {
        for (std::size_t const size : {1U, 2U, 3U, 100U, 4095U, 4096U, 65'535U, 65'536U, 65'537U, 300'000U}) {
            SCOPED_TRACE(size);
            pass(near, far, pattern(size));
            pass(far, near, pattern(size, 1));
        }
    });
}

TEST_P(Streams, AwaitedTransfersOfEverySizeArrive) {
    connected([&](auto& near, auto& far) {
        std::array<std::size_t, 6> const sizes{1, 2, 1000, 65'536, 65'537, 300'000};
        spawn([&]() -> awaitable<void> {
            for (auto const size : sizes) {
                auto const text = pattern(size, size);
                EXPECT_EQ(co_await async_write(near, buffer(text)), size);
            }
            near.shutdown(socket_base::shutdown_send);
        });
        spawn([&]() -> awaitable<void> {
            for (auto const size : sizes) {
                std::string got(size, ' ');
                EXPECT_EQ(co_await async_read(far, buffer(got)), size);
                EXPECT_EQ(got, pattern(size, size));
            }
            char c;
            auto const [ec, n] = co_await far.async_read_some(buffer(&c, 1), as_tuple);
            EXPECT_EQ(ec, error::eof);
            EXPECT_EQ(n, 0U);
        });
        run();
    });
}

TEST_P(Streams, SingleAttemptsMoveAtLeastOneByteAndNoMoreThanAsked) {
    connected([&](auto& near, auto& far) {
        auto const text = pattern(20'000);
        spawn([&]() -> awaitable<void> {
            for (std::size_t done = 0; done != text.size();) {
                auto const n = co_await near.async_write_some(buffer(text.data() + done, text.size() - done));
                EXPECT_GE(n, 1U);
                EXPECT_LE(n, text.size() - done);
                done += n;
            }
            near.close();
        });
        spawn([&]() -> awaitable<void> {
            std::string got;
            char chunk[700];
            for (;;) {
                auto const [ec, n] = co_await far.async_read_some(buffer(chunk), as_tuple);
                got.append(chunk, n);
                if (ec) {
                    EXPECT_EQ(ec, error::eof);
                    EXPECT_EQ(n, 0U);
                    break;
                }
                EXPECT_GE(n, 1U);
            }
            EXPECT_EQ(got, text);
        });
        run();
    });
}

TEST_P(Streams, OneByteAtATime) {
    connected([&](auto& near, auto& far) {
        auto const text = pattern(500);
        std::string got;
        spawn([&]() -> awaitable<void> {
            for (char const& c : text) {
                auto const n = co_await near.async_write_some(buffer(&c, 1));
                EXPECT_EQ(n, 1U);
            }
        });
        spawn([&]() -> awaitable<void> {
            for (char c; got.size() != text.size(); got += c) {
                auto const n = co_await far.async_read_some(buffer(&c, 1));
                EXPECT_EQ(n, 1U);
            }
        });
        run();
        EXPECT_EQ(got, text);
    });
}

TEST_P(Streams, ReadingNothingNeedsNoData) {
    connected([&](auto& near, auto&) {
        std::array<mutable_buffer, 3> const empty{};
        char c;
        completion some, many, whole;
        near.async_read_some(buffer(&c, 0), some.handler());
        near.async_read_some(empty, many.handler());
        async_read(near, buffer(&c, 0), whole.handler());
        run();
        for (auto const& r : {some, many, whole}) {
            EXPECT_TRUE(r.succeeded()) << r.ec.message();
            EXPECT_EQ(r.n, 0U);
        }
    });
}

TEST_P(Streams, AwaitedReadOfNothingNeedsNoData) {
    connected([&](auto& near, auto&) {
        bool done = false;
        spawn([&]() -> awaitable<void> {
            char c;
            for (int i = 0; i != 10; ++i) {
                EXPECT_EQ(co_await near.async_read_some(buffer(&c, 0)), 0U);
                EXPECT_EQ(co_await async_read(near, buffer(&c, 0)), 0U);
            }
            done = true;
        });
        run();
        EXPECT_TRUE(done);
    });
}

TEST_P(Streams, NothingToMoveIsNoErrorAlsoAtTheEnd) {
    connected([&](auto& near, auto& far) {
        std::array<mutable_buffer, 3> const empty{};
        std::vector<const_buffer> const none;
        char c;
        auto const write_nothing = [&] {
            completion some, many, whole;
            near.async_write_some(buffer(&c, 0), some.handler());
            near.async_write_some(none, many.handler());
            async_write(near, none, whole.handler());
            run();
            for (auto const& r : {some, many, whole}) {
                EXPECT_TRUE(r.succeeded()) << r.ec.message();
                EXPECT_EQ(r.n, 0U);
            }
            error_code ec;
            EXPECT_EQ(near.read_some(empty, ec), 0U);
            EXPECT_FALSE(ec);
            EXPECT_EQ(near.write_some(none, ec), 0U);
            EXPECT_FALSE(ec);
        };
        write_nothing();
        far.close();
        EXPECT_EQ(read_error(near), error::eof);
        write_nothing();
        near.shutdown(socket_base::shutdown_both);
        write_nothing();
        completion some, whole;
        near.async_read_some(empty, some.handler());
        async_read(near, buffer(&c, 0), whole.handler());
        run();
        EXPECT_TRUE(some.succeeded()) << some.ec.message();
        EXPECT_TRUE(whole.succeeded()) << whole.ec.message();
    });
}

TEST_P(Streams, ManyBuffersAreEmptiedAndFilledInTheirOrder) {
    connected([&](auto& near, auto& far) {
        // 1024 is what one call of the system takes.
        for (std::size_t const count : {1U, 2U, 3U, 64U, 1023U, 1024U, 1025U, 3000U}) {
            SCOPED_TRACE(count);
            auto const text = pattern(count * 5, count);
            std::string got(text.size(), ' ');
            std::vector<const_buffer> from;
            std::vector<mutable_buffer> into;
            for (std::size_t i = 0; i != count; ++i) {
                from.push_back(buffer(&text[i * 5], 2));
                from.push_back(buffer(&text[i * 5 + 2], 3));
                into.push_back(buffer(&got[i * 5], 5));
                if (i % 7 == 0) { // with gaps
                    from.push_back(const_buffer());
                    into.push_back(mutable_buffer());
                }
            }
            completion sent, received;
            async_write(near, from, sent.handler());
            async_read(far, into, received.handler());
            run();
            EXPECT_TRUE(sent.succeeded()) << sent.ec.message();
            EXPECT_EQ(sent.n, text.size());
            EXPECT_TRUE(received.succeeded()) << received.ec.message();
            EXPECT_EQ(received.n, text.size());
            EXPECT_EQ(got, text);
        }
    });
}

TEST_P(Streams, SingleAttemptsWithManyBuffersMoveAPrefix) {
    connected([&](auto& near, auto& far) {
        std::size_t const count = 2000;
        auto const text = pattern(count * 3);
        std::string got;
        spawn([&]() -> awaitable<void> {
            for (std::size_t done = 0; done != text.size();) {
                std::vector<const_buffer> from;
                for (auto at = done; at < text.size(); at += 3)
                    from.push_back(buffer(&text[at], std::min<std::size_t>(3, text.size() - at)));
                done += co_await near.async_write_some(from);
            }
        });
        spawn([&]() -> awaitable<void> {
            std::string pieces(count * 2, ' ');
            std::vector<mutable_buffer> into;
            for (std::size_t i = 0; i != count; ++i)
                into.push_back(buffer(&pieces[i * 2], 2));
            while (got.size() != text.size()) {
                auto const n = co_await far.async_read_some(into);
                got.append(pieces, 0, n);
            }
        });
        run();
        EXPECT_EQ(got, text);
    });
}

TEST_P(Streams, MegabytesBothWaysAtOnceWithReadersThatAreSlow) {
    connected([&](auto& near, auto& far) {
        std::size_t const size = 2'000'000;
        auto const there = pattern(size, 1), back = pattern(size, 2);
        std::string got_there, got_back;
        auto const write = [&](auto& s, std::string const& text) {
            spawn([&s, &text]() -> awaitable<void> {
                auto const n = co_await async_write(s, buffer(text));
                EXPECT_EQ(n, text.size());
                s.shutdown(socket_base::shutdown_send);
            });
        };
        auto const read = [&](auto& s, std::string& into) {
            spawn([&s, &into]() -> awaitable<void> {
                std::string chunk(10'000, ' ');
                for (std::size_t step = 1;; step = step * 3 % 9973) {
                    auto const [ec, n] = co_await s.async_read_some(buffer(chunk.data(), step), as_tuple);
                    into.append(chunk, 0, n);
                    if (ec) {
                        EXPECT_EQ(ec, error::eof);
                        break;
                    }
                    if (step % 4 == 0)
                        co_await this_coro::yield();
                }
            });
        };
        write(near, there);
        write(far, back);
        read(far, got_there);
        read(near, got_back);
        run();
        EXPECT_TRUE(got_there == there);
        EXPECT_TRUE(got_back == back);
    });
}

TEST_P(Streams, WriterWaitsForAReaderAndGoesOnWhereItStopped) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near);
        EXPECT_GT(before, 0U);
        auto const text = pattern(500'000);
        completion sent, received;
        async_write(near, buffer(text), sent.handler());
        settle();
        EXPECT_EQ(sent.count, 0);
        drain(far, before);
        std::string got(text.size(), ' ');
        async_read(far, buffer(got), received.handler());
        run();
        EXPECT_TRUE(sent.succeeded()) << sent.ec.message();
        EXPECT_EQ(sent.n, text.size());
        EXPECT_TRUE(received.succeeded()) << received.ec.message();
        EXPECT_TRUE(got == text);
    });
}

TEST_P(Streams, PendingReadsAreServedInTheirOrder) {
    connected([&](auto& near, auto& far) {
        auto const text = pattern(64);
        std::string got(text.size(), ' ');
        std::vector<completion> reads(text.size()), writes(text.size());
        for (std::size_t i = 0; i != text.size(); ++i)
            far.async_read_some(buffer(&got[i], 1), reads[i].handler());
        settle();
        for (std::size_t i = 0; i != text.size(); ++i)
            near.async_write_some(buffer(&text[i], 1), writes[i].handler());
        run();
        EXPECT_EQ(got, text);
        for (auto const& r : reads)
            EXPECT_TRUE(r.succeeded() && r.n == 1);
    });
}

TEST_P(Streams, PendingWholeReadsAndWritesDoNotMix) {
    connected([&](auto& near, auto& far) {
        auto const before = fill(near); // so that all are pending together
        std::vector<std::string> out, in;
        for (std::uint64_t i = 0; i != 4; ++i) {
            out.push_back(pattern(200'000 + i, i));
            in.emplace_back(200'000 + i, ' ');
        }
        std::vector<completion> writes(4), reads(4);
        for (std::size_t i = 0; i != 4; ++i)
            async_write(near, buffer(out[i]), writes[i].handler());
        settle();
        EXPECT_EQ(writes[0].count, 0);
        drain(far, before);
        for (std::size_t i = 0; i != 4; ++i)
            async_read(far, buffer(in[i]), reads[i].handler());
        run();
        for (std::size_t i = 0; i != 4; ++i) {
            EXPECT_TRUE(writes[i].succeeded() && reads[i].succeeded()) << i;
            EXPECT_TRUE(in[i] == out[i]) << i;
        }
    });
}

TEST_P(Streams, ReadAndWriteOfOneSocketDoNotWaitForEachOther) {
    connected([&](auto& near, auto& far) {
        std::string got(3, ' ');
        completion read, written, peers;
        async_read(near, buffer(got), read.handler()); // stays pending …
        settle();
        pass(near, far, "abc"); // … while the other direction works.
        EXPECT_EQ(read.count, 0);
        auto const full = fill(near);
        auto const more = pattern(300'000);
        async_write(near, buffer(more), written.handler());
        settle();
        EXPECT_EQ(written.count, 0);
        async_write(far, buffer("xyz", 3), peers.handler());
        run_until([&] { return read.count != 0; });
        EXPECT_EQ(got, "xyz");
        EXPECT_EQ(written.count, 0);
        drain(far, full + more.size());
        run();
        EXPECT_TRUE(written.succeeded());
    });
}

TEST_P(Streams, ReadUntilFindsTheDelimiterWhereverTheStreamIsCut) {
    connected([&](auto& near, auto& far) {
        std::string const text = "first\r\nsecond line\r\n\r\nlast";
        spawn([&]() -> awaitable<void> {
            for (char const& c : text) {
                co_await near.async_write_some(buffer(&c, 1));
                co_await this_coro::yield();
            }
            near.shutdown(socket_base::shutdown_send);
        });
        spawn([&]() -> awaitable<void> {
            std::string held;
            std::vector<std::string> lines;
            for (int i = 0; i != 3; ++i) {
                auto const n = co_await async_read_until(far, dynamic_buffer(held), "\r\n");
                lines.push_back(held.substr(0, n));
                held.erase(0, n);
            }
            EXPECT_EQ(lines, (std::vector<std::string>{"first\r\n", "second line\r\n", "\r\n"}));
            auto const [ec, n] = co_await async_read_until(far, dynamic_buffer(held), "\r\n", as_tuple);
            EXPECT_EQ(ec, error::eof);
            EXPECT_EQ(n, 0U);
            EXPECT_EQ(held, "last") << "what had come is kept";
        });
        run();
    });
}

TEST_P(Streams, ReadUntilGivesUpAtTheLimitOfItsBuffer) {
    connected([&](auto& near, auto& far) {
        send(near, far, std::string(100, 'x'));
        std::string held;
        completion read;
        async_read_until(far, dynamic_buffer(held, 40), '\n', read.handler());
        run();
        EXPECT_EQ(read.count, 1);
        EXPECT_EQ(read.ec, error::not_found);
        EXPECT_EQ(held, std::string(40, 'x'));
    });
}

TEST_P(Streams, PeekedBytesStay) {
    connected([&](auto& near, auto& far) {
        completion sent;
        async_write(near, buffer("0123456789", 10), sent.handler());
        for (int i = 0; i != 3; ++i) {
            char first = ' ';
            completion peeked;
            far.async_receive(buffer(&first, 1), socket_base::message_peek, peeked.handler());
            run();
            EXPECT_TRUE(peeked.succeeded()) << peeked.ec.message();
            EXPECT_EQ(peeked.n, 1U);
            EXPECT_EQ(first, '0');
        }
        std::string got(10, ' ');
        completion received;
        async_read(far, buffer(got), received.handler());
        run();
        EXPECT_EQ(got, "0123456789");
    });
}

TEST_P(Streams, Z5_ShortPeekLeavesSomethingToRead) {
    connected([&](auto& near, auto& far) {
        char wide[16];
        std::array<mutable_buffer, 2> const parts = {buffer(wide, 2), buffer(wide + 2, 14)};
        for (bool const in_parts : {false, true}) {
            completion sent, peeked;
            async_write(near, buffer("abc", 3), sent.handler());
            if (in_parts)
                far.async_receive(parts, socket_base::message_peek, peeked.handler());
            else
                far.async_receive(buffer(wide), socket_base::message_peek, peeked.handler());
            run();
            EXPECT_TRUE(peeked.succeeded()) << peeked.ec.message();
            EXPECT_EQ(wide[0], 'a');
            // Nothing more comes: what has been seen has to be there.
            for (std::size_t total = 0; total != 3;) {
                completion read;
                far.async_read_some(buffer(wide + total, 16 - total), read.handler());
                run();
                ASSERT_TRUE(read.succeeded()) << read.ec.message();
                total += read.n;
            }
            EXPECT_EQ(std::string_view(wide, 3), "abc");
        }
    });
}

TEST_P(Streams, PendingPeekSeesWhatComesAndTheEnd) {
    connected([&](auto& near, auto& far) {
        char c[2] = {' ', ' '};
        completion first, second;
        far.async_receive(buffer(&c[0], 1), socket_base::message_peek, first.handler());
        far.async_receive(buffer(&c[1], 1), second.handler());
        settle();
        EXPECT_EQ(first.count + second.count, 0);
        completion sent;
        async_write(near, buffer("a", 1), sent.handler());
        run();
        EXPECT_TRUE(first.succeeded() && second.succeeded());
        EXPECT_EQ(c[0], 'a');
        EXPECT_EQ(c[1], 'a');
        near.close();
        completion end;
        far.async_receive(buffer(&c[0], 1), socket_base::message_peek, end.handler());
        run();
        EXPECT_EQ(end.ec, error::eof);
    });
}

TEST_P(Streams, AvailableCountsWhatCanBeRead) {
    connected([&](auto& near, auto& far) {
        EXPECT_EQ(far.available(), 0U);
        send(near, far, "0123456789");
        EXPECT_EQ(far.available(), 10U);
        std::string got(4, ' ');
        completion read;
        async_read(far, buffer(got), read.handler());
        run();
        EXPECT_EQ(far.available(), 6U);
        near.shutdown(socket_base::shutdown_send);
        settle();
        EXPECT_EQ(far.available(), 6U);
    });
}

// ---- in the calling thread

TEST_P(Streams, NonBlockingFormsDoWhatIsPossibleAtOnce) {
    connected([&](auto& near, auto& far) {
        near.non_blocking(true);
        far.non_blocking(true);
        EXPECT_TRUE(near.non_blocking());
        char c[10];
        error_code ec;
        EXPECT_EQ(far.read_some(buffer(c), ec), 0U);
        EXPECT_EQ(ec, error::would_block);
        EXPECT_GE(near.write_some(buffer("0123", 4), ec), 1U);
        EXPECT_FALSE(ec);
        wait_until_readable(far); // Asynchronous operations wait all the same.
        EXPECT_GE(far.read_some(buffer(c), ec), 1U);
        EXPECT_FALSE(ec);
        EXPECT_EQ(c[0], '0');
        auto const n = fill(near);
        EXPECT_GT(n, 0U);
        EXPECT_EQ(near.write_some(buffer(c), ec), 0U);
        EXPECT_EQ(ec, error::would_block);
        completion late;
        near.async_write_some(buffer("x", 1), late.handler());
        settle();
        EXPECT_EQ(late.count, 0);
        drain(far, n);
        run();
        EXPECT_TRUE(late.succeeded());
    });
}

TEST_P(Streams, BlockingFormsDoWhatIsPossibleAtOnce) {
    connected([&](auto& near, auto& far) {
        auto const text = pattern(10'000);
        EXPECT_EQ(write(near, buffer(text)), text.size());
        wait_until_readable(far);
        while (far.available() != text.size())
            settle();
        std::string got(text.size(), ' ');
        EXPECT_EQ(read(far, buffer(got)), text.size());
        EXPECT_EQ(got, text);
        near.shutdown(socket_base::shutdown_send);
        wait_until_readable(far);
        error_code ec;
        EXPECT_EQ(far.read_some(buffer(got), ec), 0U);
        EXPECT_EQ(ec, error::eof);
        far.wait(socket_base::wait_read, ec);
        EXPECT_FALSE(ec);
        EXPECT_THROW(far.read_some(buffer(got)), system_error);
    });
}

TEST_P(Streams, BlockingFormsWaitWhereSomebodyElseCanAct) {
    connected([&](auto& near, auto& far) {
        char c = ' ';
        error_code ec;
        if (differs("nothing-blocks")) {
            near.read_some(buffer(&c, 1), ec);
            EXPECT_EQ(ec, std::errc::resource_deadlock_would_occur);
            far.wait(socket_base::wait_read, ec);
            EXPECT_EQ(ec, std::errc::resource_deadlock_would_occur);
            fill(near);
            near.write_some(buffer("x", 1), ec);
            EXPECT_EQ(ec, std::errc::resource_deadlock_would_occur);
        } else {
            std::thread writer([&] { far.write_some(buffer("y", 1)); });
            EXPECT_EQ(near.read_some(buffer(&c, 1), ec), 1U);
            writer.join();
            EXPECT_EQ(c, 'y');
            std::size_t left = fill(near) + 1;
            far.wait(socket_base::wait_read, ec);
            EXPECT_FALSE(ec) << ec.message();
            std::thread reader([&] {
                std::string into(left, ' ');
                while (left != 0)
                    left -= far.read_some(buffer(into, left));
            });
            EXPECT_EQ(near.write_some(buffer("x", 1), ec), 1U);
            reader.join();
            EXPECT_FALSE(ec) << ec.message();
        }
    });
}

// ---- pairs, options, descriptors

TEST_P(LocalStreams, PairsAreConnectedToEachOther) {
    over_local([&](local_transport const&) {
        local::stream_protocol::socket a(context()), b(context());
        local::connect_pair(a, b);
        pass(a, b, pattern(100'000));
        pass(b, a, pattern(100'000, 1));
        EXPECT_EQ(a.local_endpoint(), local::stream_protocol::endpoint());
        EXPECT_EQ(a.remote_endpoint(), local::stream_protocol::endpoint());
        error_code ec;
        local::connect_pair(a, b, ec);
        EXPECT_EQ(ec, error::already_open);
        a.close();
        EXPECT_EQ(read_error(b), error::eof);
        EXPECT_EQ(write_error(b), error::broken_pipe);
    });
}

TEST_P(Streams, OptionsThatTheLibraryNamesAreKept) {
    connected([&](auto& near, auto&) {
        socket_base::keep_alive alive(true);
        near.set_option(alive);
        alive = false;
        near.get_option(alive);
        EXPECT_TRUE(alive.value());
        socket_base::linger linger(true, 17);
        near.set_option(linger);
        linger = {false, 0};
        near.get_option(linger);
        EXPECT_TRUE(linger.enabled());
        EXPECT_EQ(linger.timeout(), 17);
        near.set_option(socket_base::linger(false, 0));
        ip::tcp::no_delay no_delay(true);
        error_code ec;
        near.set_option(no_delay, ec);
        if (is_tcp<decltype(near)>) {
            EXPECT_FALSE(ec) << ec.message();
            no_delay = false;
            near.get_option(no_delay);
            EXPECT_TRUE(no_delay.value());
        } else if (differs("options-are-only-stored")) {
            EXPECT_FALSE(ec);
        } else {
            EXPECT_EQ(ec, error::operation_not_supported);
        }
        // The kernel doubles what it is asked for, for its own records; the option says what was asked for.
        near.set_option(socket_base::send_buffer_size(20'000));
        socket_base::send_buffer_size size;
        near.get_option(size);
        EXPECT_EQ(size.value(), 20'000);
    });
}

TEST_P(Streams, DescriptorCanBeGivenAwayAndTakenOver) {
    connected([&](auto& near, auto& far) {
        error_code ec;
        if (differs("no-descriptors"))
            EXPECT_EQ(near.native_handle(), -1);
        else
            EXPECT_GE(near.native_handle(), 0);
        char c;
        completion read;
        near.async_read_some(buffer(&c, 1), read.handler());
        settle();
        int const fd = near.release(ec);
        EXPECT_FALSE(ec);
        EXPECT_FALSE(near.is_open());
        run();
        EXPECT_EQ(read.ec, error::operation_aborted);
        std::remove_cvref_t<decltype(near)> again(context());
        again.assign(far.local_endpoint().protocol(), fd);
        pass(again, far, "after all");
        pass(far, again, "and back");
    });
}

INSTANTIATE_TEST_SUITE_P(Conformance, Streams, testing::ValuesIn(every_driver_and_stream()), name_of);
INSTANTIATE_TEST_SUITE_P(Conformance, LocalStreams, testing::ValuesIn(every_driver_and({transport::local})), name_of);

} // namespace
} // namespace fairlead::conformance
