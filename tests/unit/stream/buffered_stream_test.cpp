#include <fairlead/stream/buffered_stream.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/deferred.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using socket_type = local::stream_protocol::socket;
using read_stream = buffered_read_stream<socket_type&>;
using write_stream = buffered_write_stream<socket_type&>;
using both_stream = buffered_stream<socket_type&>;

template <class S> constexpr bool is_stream =
    async_read_stream<S> && async_write_stream<S> && sync_read_stream<S> && sync_write_stream<S>;
static_assert(is_stream<read_stream> && is_stream<write_stream> && is_stream<both_stream>);
static_assert(is_stream<buffered_stream<socket_type>> && is_stream<buffered_read_stream<write_stream>>);
static_assert(std::same_as<both_stream::next_layer_type, socket_type>);
static_assert(std::same_as<both_stream::lowest_layer_type, socket_type::lowest_layer_type>);
static_assert(std::same_as<write_stream::executor_type, any_io_executor>);
static_assert(std::constructible_from<buffered_stream<socket_type>, io_context&>);
static_assert(!std::constructible_from<read_stream, int> && !std::copy_constructible<read_stream>);
static_assert(is_read_buffered<read_stream>::value && !is_read_buffered<write_stream>::value);
static_assert(is_write_buffered<write_stream>::value && !is_write_buffered<read_stream>::value);
static_assert(is_read_buffered<both_stream>::value && is_write_buffered<both_stream>::value);
static_assert(!is_read_buffered<socket_type>::value && !is_write_buffered<int>::value);

struct BufferedStream : testing::Test {
    BufferedStream() { local::connect_pair(near, far); }
    void arrives(std::string_view text) { EXPECT_EQ(far.write_some(buffer(text)), text.size()); }
    /// The bytes that have come to the other side, without waiting.
    std::string sent() {
        char text[256];
        error_code would_block;
        far.non_blocking(true);
        return {text, far.read_some(buffer(text), would_block)};
    }
    auto store() {
        return [this](error_code e, std::size_t k) {
            ++calls;
            ec = e;
            n = k;
        };
    }
    void run() {
        context.restart();
        context.run();
    }
    std::string_view got() const { return {bytes, n}; }

    io_context context;
    socket_type near{context}, far{context};
    char bytes[64] = {};
    int calls = 0;
    error_code ec;
    std::size_t n = 99;
};

// ---- reading

TEST_F(BufferedStream, SmallReadsAreServedFromOneLargeOne) {
    read_stream s(near, 8);
    arrives("abcdefghij");
    EXPECT_EQ(s.in_avail(), 0U);
    n = s.read_some(buffer(bytes, 3));
    EXPECT_EQ(got(), "abc");
    EXPECT_EQ(s.in_avail(), 5U);
    EXPECT_EQ(near.available(), 2U);
    n = s.read_some(buffer(bytes, 64), ec);
    EXPECT_EQ(got(), "defgh") << "no more than is there without waiting";
    s.async_read_some(buffer(bytes, 1), store());
    EXPECT_EQ(calls, 0);
    run();
    EXPECT_EQ(got(), "i");
    EXPECT_EQ(s.in_avail(ec), 1U);
    EXPECT_EQ(near.available(), 0U);
}

TEST_F(BufferedStream, WhatIsThereCompletesWithoutTheSocketButNeverInsideTheCall) {
    read_stream s(near, 8);
    arrives("abc");
    EXPECT_EQ(s.fill(), 3U);
    near.close();
    s.async_read_some(buffer(bytes, 2), store());
    EXPECT_EQ(calls, 0);
    run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(got(), "ab");
    s.async_read_some(buffer(bytes, 0), store());
    run();
    EXPECT_EQ(n, 0U);
    EXPECT_FALSE(ec);
    EXPECT_EQ(s.read_some(buffer(bytes, 2)), 1U);
    EXPECT_THROW(s.read_some(buffer(bytes, 2)), system_error) << "now the socket is asked";
}

TEST_F(BufferedStream, AwaitedItDoesNotSuspendForWhatIsThere) {
    read_stream s(near, 8);
    std::string order;
    auto const body = [](read_stream& from, io_context& c, std::string& log) -> awaitable<void> {
        post(c, [&log] { log += '|'; });
        char one = ' ';
        for (int i = 0; i != 3; ++i) {
            co_await from.async_read_some(buffer(&one, 1));
            log += one;
        }
    };
    auto const slices_that_ended = [this] { return context.yields().deadline; };
    // A thread that loses its processor for a slice has to suspend. Such a round shows nothing.
    for (auto before = slices_that_ended() + 1; before != slices_that_ended();) {
        before = slices_that_ended();
        arrives("abc");
        s.fill();
        order.clear();
        co_spawn(context, body(s, context, order), detached);
        run();
    }
    EXPECT_EQ(order, "abc|");
}

TEST_F(BufferedStream, FillsAsFarAsThereIsRoom) {
    read_stream s(near, 4);
    arrives("abcdefg");
    s.async_fill(store());
    EXPECT_EQ(calls, 0);
    run();
    EXPECT_EQ(n, 4U);
    n = s.read_some(buffer(bytes, 1));
    EXPECT_EQ(s.fill(ec), 1U) << "what was taken out makes space";
    EXPECT_EQ(s.in_avail(), 4U);
    EXPECT_EQ(s.fill(), 0U) << "full: nothing is waited for";
    s.async_fill(store());
    EXPECT_EQ(calls, 1);
    run();
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(n, 0U);
    EXPECT_FALSE(ec);
    n = s.read_some(buffer(bytes, 64));
    EXPECT_EQ(got(), "bcde");
}

TEST_F(BufferedStream, PeekLeavesTheBytes) {
    read_stream s(near, 8);
    arrives("abc");
    n = s.peek(buffer(bytes, 2));
    EXPECT_EQ(got(), "ab");
    n = s.peek(buffer(bytes, 64), ec);
    EXPECT_EQ(got(), "abc");
    n = s.read_some(buffer(bytes, 64));
    EXPECT_EQ(got(), "abc");
    far.close();
    EXPECT_EQ(s.peek(buffer(bytes, 1), ec), 0U);
    EXPECT_EQ(ec, error::eof);
    EXPECT_THROW(s.peek(buffer(bytes, 1)), system_error);
}

TEST_F(BufferedStream, ReadsIntoSeveralBuffers) {
    read_stream s(near, 8);
    arrives("abcdef");
    std::array<mutable_buffer, 3> const parts{buffer(bytes, 2), mutable_buffer(), buffer(bytes + 2, 3)};
    s.async_read_some(parts, store());
    run();
    EXPECT_EQ(got(), "abcde");
    s.async_read_some(parts, store());
    run();
    EXPECT_EQ(got(), "f");
}

TEST_F(BufferedStream, TheEndComesAfterTheLastByte) {
    read_stream s(near, 4);
    arrives("abcdef");
    far.close();
    std::string all;
    auto const body = [](read_stream& from, std::string& to) -> awaitable<error_code> {
        for (;;) {
            char some[3];
            auto const [end, k] = co_await from.async_read_some(buffer(some), as_tuple);
            to.append(some, k);
            if (end)
                co_return end;
        }
    };
    co_spawn(context, body(s, all), [this](std::exception_ptr, error_code e) { ec = e; });
    run();
    EXPECT_EQ(all, "abcdef");
    EXPECT_EQ(ec, error::eof);
    s.async_fill(store());
    run();
    EXPECT_EQ(ec, error::eof);
    EXPECT_EQ(n, 0U);
}

/// An executor that is no loop's and counts the work that others announce.
struct working_executor {
    io_context* where;
    int* work;
    io_context& context() const { return *where; }
    template <class F> void execute(F&& f) const {
        where->get_executor().execute([g = std::decay_t<F>(std::forward<F>(f))]() mutable { std::move(g)(); });
    }
    void on_work_started() const { ++*work; }
    void on_work_finished() const { --*work; }
    bool operator==(working_executor const&) const = default;
};

awaitable<void> fill_and_note_work(read_stream& s, int& work, int& before, std::size_t& n) {
    before = work;
    n = co_await s.async_fill();
}

TEST_F(BufferedStream, AwaitedFillIsWorkOfTheCoroutinesExecutorUntilItResumes) {
    read_stream s(near, 8);
    io_context other;
    int work = 0, before = -1;
    co_spawn(working_executor{&other, &work}, fill_and_note_work(s, work, before, n), detached);
    other.run();
    EXPECT_EQ(work, before + 1);
    arrives("ab");
    run();
    EXPECT_EQ(work, before) << "the resumption is queued; the operation has ended";
    other.restart();
    other.run();
    EXPECT_EQ(n, 2U);
    EXPECT_EQ(work, 0);
}

TEST_F(BufferedStream, FillThatIsAbandonedIsNobodysWork) {
    int work = 0, before = -1;
    {
        io_context other, below;
        socket_type here(below), there(below);
        local::connect_pair(here, there);
        read_stream s(here, 8);
        co_spawn(working_executor{&other, &work}, fill_and_note_work(s, work, before, n), detached);
        other.run();
        EXPECT_EQ(work, before + 1);
    }
    EXPECT_EQ(work, 0);
}

TEST_F(BufferedStream, CancelledReadsLoseNothing) {
    read_stream s(near, 8);
    cancellation_signal signal;
    s.async_read_some(buffer(bytes, 2), bind_cancellation_slot(signal.slot(), store()));
    context.poll();
    signal.emit(cancellation_type::total);
    run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(n, 0U);
    arrives("abc");
    n = s.read_some(buffer(bytes, 2));
    EXPECT_EQ(got(), "ab");
    s.close();
    EXPECT_FALSE(near.is_open());
    s.async_read_some(buffer(bytes, 2), store());
    run();
    EXPECT_EQ(got(), "c");
    s.async_read_some(buffer(bytes, 2), store());
    run();
    EXPECT_EQ(ec, error::bad_descriptor);
}

// ---- writing

TEST_F(BufferedStream, SmallWritesAreSentTogether) {
    write_stream s(near, 8);
    EXPECT_EQ(s.write_some(buffer("abc", 3)), 3U);
    s.async_write_some(buffer("de", 2), store());
    EXPECT_EQ(calls, 0);
    run();
    EXPECT_EQ(n, 2U);
    EXPECT_EQ(sent(), "");
    EXPECT_EQ(s.flush(), 5U);
    EXPECT_EQ(sent(), "abcde");
    EXPECT_EQ(s.flush(ec), 0U);
    EXPECT_FALSE(ec);
}

TEST_F(BufferedStream, AFullBufferIsWrittenBeforeMoreIsTaken) {
    write_stream s(near, 4);
    EXPECT_EQ(s.write_some(buffer("abcdef", 6)), 4U) << "what there is space for";
    EXPECT_EQ(sent(), "");
    s.async_write_some(buffer("ef", 2), store());
    run();
    EXPECT_EQ(n, 2U);
    EXPECT_EQ(sent(), "abcd");
    EXPECT_EQ(s.write_some(buffer("ghi", 3), ec), 2U);
    EXPECT_EQ(s.write_some(buffer("i", 1), ec), 1U);
    EXPECT_EQ(sent(), "efgh");
    std::array<const_buffer, 3> const parts{buffer("j", 1), const_buffer(), buffer("kl", 2)};
    s.async_write_some(parts, store());
    run();
    EXPECT_EQ(n, 3U);
    s.async_flush(store());
    EXPECT_EQ(calls, 2);
    run();
    EXPECT_EQ(n, 4U);
    EXPECT_EQ(sent(), "ijkl");
    s.async_flush(store());
    run();
    EXPECT_EQ(n, 0U);
    s.async_write_some(const_buffer(), store());
    run();
    EXPECT_EQ(n, 0U);
}

TEST_F(BufferedStream, AwaitedWritesDoNotSuspendWhileThereIsRoom) {
    write_stream s(near, 8);
    std::string order;
    auto const body = [](write_stream& to, io_context& c, std::string& log) -> awaitable<void> {
        post(c, [&log] { log += '|'; });
        for (int i = 0; i != 3; ++i) {
            co_await to.async_write_some(buffer("x", 1));
            log += 'w';
        }
        co_await to.async_flush();
        log += 'f';
    };
    co_spawn(context, body(s, context, order), detached);
    run();
    EXPECT_EQ(order.substr(0, 3), "www");
    EXPECT_EQ(sent(), "xxx");
}

TEST_F(BufferedStream, AFailedWriteTakesNothingAndKeepsWhatIsThere) {
    write_stream s(near, 4);
    s.write_some(buffer("abcd", 4));
    far.close();
    s.async_write_some(buffer("e", 1), store());
    run();
    EXPECT_EQ(ec, error::broken_pipe);
    EXPECT_EQ(n, 0U);
    EXPECT_EQ(s.write_some(buffer("e", 1), ec), 0U);
    EXPECT_EQ(ec, error::broken_pipe);
    EXPECT_THROW(s.write_some(buffer("e", 1)), system_error);
    s.async_flush(store());
    run();
    EXPECT_EQ(ec, error::broken_pipe);
    EXPECT_EQ(n, 0U);
    EXPECT_THROW(s.flush(), system_error);
}

TEST_F(BufferedStream, ACancelledFlushKeepsWhatWasNotWritten) {
    sim::world world(1);
    socket_type a(world.context()), b(world.context());
    local::connect_pair(a, b);
    write_stream s(a, 1 << 20);
    std::string const large(1 << 20, 'x');
    s.write_some(buffer(large));
    s.async_flush(cancel_after(1s, store()));
    world.run();
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_LT(n, large.size()) << "the other side reads nothing";
    auto rest = large.size() - n;
    std::string all(large.size(), ' ');
    async_read(b, buffer(all), detached);
    s.async_flush(store());
    world.run();
    EXPECT_FALSE(ec);
    EXPECT_EQ(n, rest);
    EXPECT_EQ(all, large);
}

// ---- tokens, associations, algorithms

TEST_F(BufferedStream, TakesEveryToken) {
    both_stream s(near, 4, 4);
    arrives("abcdefghi");
    auto op = s.async_read_some(buffer(bytes, 2), deferred);
    static_assert(std::same_as<decltype(op), async_op<void(error_code, std::size_t)>>);
    std::move(op)(store());
    run();
    EXPECT_EQ(got(), "ab");
    auto future = s.async_read_some(buffer(bytes, 64), use_future);
    run();
    EXPECT_EQ(future.get(), 2U);
    EXPECT_EQ(s.async_read_some(buffer(bytes, 1), block), 1U);
    EXPECT_EQ(s.async_fill(block), 1U);
    EXPECT_EQ(s.async_write_some(buffer("12345", 5), block[ec]), 4U);
    EXPECT_EQ(s.async_write_some(buffer("5", 1), block), 1U) << "after what was there is written";
    EXPECT_EQ(sent(), "1234");
    EXPECT_EQ(s.async_flush(block), 1U);
    s.async_write_some(buffer("6", 1), detached);
    run();
    EXPECT_EQ(s.flush(), 1U);
    EXPECT_EQ(sent(), "56");
    s.async_read_some(buffer(bytes, 64),
                      as_tuple([this](std::tuple<error_code, std::size_t> t) { n = std::get<1>(t); }));
    run();
    EXPECT_EQ(got(), "fghi");
}

TEST_F(BufferedStream, HandlersRunOnTheirOwnExecutor) {
    both_stream s(near, 4, 4);
    io_context other;
    arrives("ab");
    s.async_read_some(buffer(bytes, 1), bind_executor(other, store())); // from the socket
    run();
    EXPECT_EQ(calls, 0);
    other.run();
    EXPECT_EQ(got(), "a");
    s.async_read_some(buffer(bytes, 1), bind_executor(other, store())); // from the buffer
    run();
    EXPECT_EQ(calls, 1);
    other.restart();
    other.run();
    EXPECT_EQ(got(), "b");
    EXPECT_EQ(s.get_executor(), context.get_executor());
    EXPECT_EQ(&s.next_layer(), &near);
    EXPECT_EQ(&s.lowest_layer(), &near.lowest_layer());
}

TEST_F(BufferedStream, OwnsItsStreamWhenToldTo) {
    buffered_stream<socket_type> s(std::move(near)), closed(context, 16, 16);
    EXPECT_FALSE(closed.next_layer().is_open());
    arrives("x");
    EXPECT_EQ(s.read_some(buffer(bytes, 1)), 1U);
    s.close(ec);
    EXPECT_FALSE(s.next_layer().is_open());
}

TEST_F(BufferedStream, DestroyedWithItsContextThePendingOperationIsNeverCalled) {
    auto const alive = std::make_shared<int>();
    {
        io_context going;
        socket_type a(going), b(going);
        local::connect_pair(a, b);
        read_stream s(a);
        s.async_read_some(buffer(bytes, 1), [alive, this](error_code, std::size_t) { ++calls; });
        going.poll();
        EXPECT_EQ(alive.use_count(), 2);
        going.abandon_all();
        EXPECT_EQ(alive.use_count(), 1);
    }
    EXPECT_EQ(calls, 0);
}

/// Asks line by line through small buffers; the other side answers in capitals.
awaitable<void> ask(both_stream& s, int lines, int& good) {
    std::string text;
    for (int i = 0; i != lines; ++i) {
        std::string const line = "line number " + std::to_string(i) + "\n";
        co_await async_write(s, buffer(line));
        co_await s.async_flush();
        auto const n = co_await async_read_until(s, dynamic_buffer(text), '\n');
        good += text.substr(0, n) == "LINE" + line.substr(4);
        text.erase(0, n);
    }
    s.close();
}
awaitable<void> answer(both_stream& s) {
    for (;;) {
        char four[4];
        auto [ec, n] = co_await async_read(s, buffer(four), as_tuple);
        if (ec)
            co_return;
        std::string rest;
        auto const length = co_await async_read_until(s, dynamic_buffer(rest), "\n");
        // Bytes that were read too far belong to the next line, but there is none before this one is answered.
        EXPECT_EQ(length, rest.size());
        std::array<const_buffer, 2> const both{buffer("LINE", 4), buffer(rest)};
        co_await async_write(s, both);
        co_await s.async_flush();
    }
}

TEST(BufferedStreams, CarryAlgorithmsUnderEveryKindOfWeather) {
    for (std::uint64_t seed = 1; seed != 20; ++seed) {
        sim::world world(seed);
        socket_type a(world.context()), b(world.context());
        local::connect_pair(a, b);
        both_stream near(a, 1 + seed, 3 + seed), far(b, 40 - seed, 2 + seed);
        int good = 0;
        co_spawn(world.context(), ask(near, 8, good), detached);
        co_spawn(world.context(), answer(far), detached);
        world.run();
        EXPECT_EQ(good, 8) << "seed " << seed;
    }
}

} // namespace
