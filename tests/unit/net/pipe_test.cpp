#include <fairlead/net/pipe.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace fairlead;

static_assert(std::is_same_v<readable_pipe, basic_readable_pipe<any_io_executor>>);
static_assert(std::is_same_v<writable_pipe::rebind_executor<io_context::executor_type>::other,
                             basic_writable_pipe<io_context::executor_type>>);
static_assert(!std::is_copy_constructible_v<readable_pipe> && !std::is_copy_constructible_v<writable_pipe>);
static_assert(std::is_convertible_v<basic_readable_pipe<io_context::executor_type>&&, readable_pipe>);

struct pipe_ends {
    io_context context;
    readable_pipe reads{context};
    writable_pipe writes{context};
    pipe_ends() { connect_pipe(reads, writes); }
};

TEST(Pipe, IsMadeOnceAndNotInherited) {
    pipe_ends p;
    EXPECT_TRUE(p.reads.is_open() && p.writes.is_open());
    for (int fd : {p.reads.native_handle(), p.writes.native_handle()})
        EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
    error_code ec;
    connect_pipe(p.reads, p.writes, ec);
    EXPECT_EQ(ec, error::already_open);
    EXPECT_THROW(connect_pipe(p.reads, p.writes), system_error);
}

TEST(Pipe, CarriesMoreThanItHolds) {
    pipe_ends p;
    std::string sent(1'000'000, '\0'), got(sent.size(), ' ');
    for (std::size_t i = 0; i != sent.size(); ++i)
        sent[i] = static_cast<char>('a' + i % 26);
    std::size_t written = 0, read = 0;
    async_write(p.writes, buffer(sent), [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        written = n;
    });
    async_read(p.reads, buffer(got), [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        read = n;
    });
    p.context.run();
    EXPECT_EQ(written, sent.size());
    EXPECT_EQ(read, sent.size());
    EXPECT_EQ(got, sent);
}

TEST(Pipe, MovesSeveralBuffersAtOnce) {
    pipe_ends p;
    std::array<const_buffer, 3> const out{buffer("ab", 2), buffer("", 0), buffer("cde", 3)};
    EXPECT_EQ(p.writes.write_some(out), 5U);
    char first[1], second[8] = {};
    std::array<mutable_buffer, 2> const into{buffer(first), buffer(second)};
    std::size_t got = 0;
    p.reads.async_read_some(into, [&](error_code, std::size_t n) { got = n; });
    p.context.run();
    EXPECT_EQ(got, 5U);
    EXPECT_EQ(first[0] + std::string(second), "abcde");
}

TEST(Pipe, EndsWhenAllWritersHaveClosedIt) {
    pipe_ends p;
    p.writes.write_some(buffer("rest", 4));
    p.writes.close();
    std::string got;
    error_code end;
    async_read(p.reads, dynamic_buffer(got), [&](error_code ec, std::size_t) { end = ec; });
    p.context.run();
    EXPECT_EQ(got, "rest");
    EXPECT_EQ(end, error::eof);
    char bytes[4];
    p.reads.read_some(buffer(bytes), end);
    EXPECT_EQ(end, error::eof) << "each time";
}

TEST(Pipe, AReaderThatWaitsHearsOfTheEnd) {
    pipe_ends p;
    char bytes[4];
    error_code end;
    p.reads.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) { end = ec; });
    p.context.poll();
    p.writes.close();
    p.context.run();
    EXPECT_EQ(end, error::eof);
}

// With the default action SIGPIPE would end the test.
TEST(Pipe, WritingToABrokenPipeIsAnErrorAndNoSignal) {
    ASSERT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL);
    pipe_ends p;
    p.reads.close();
    error_code ec;
    p.writes.write_some(buffer("x", 1), ec);
    EXPECT_EQ(ec, error::broken_pipe);
    EXPECT_THROW(p.writes.write_some(buffer("x", 1)), system_error);
    int broken = 0;
    p.writes.async_write_some(buffer("x", 1), [&](error_code e, std::size_t) { broken += e == error::broken_pipe; });
    async_write(p.writes, buffer("x", 1), [&](error_code e, std::size_t) { broken += e == error::broken_pipe; });
    p.context.run();
    EXPECT_EQ(broken, 2);
    sigset_t pending, blocked;
    ::sigpending(&pending);
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    EXPECT_FALSE(::sigismember(&pending, SIGPIPE)) << "none is left behind";
    EXPECT_FALSE(::sigismember(&blocked, SIGPIPE)) << "the mask is as before";
}

TEST(Pipe, AWriterThatWaitsHearsThatNobodyReads) {
    pipe_ends p;
    std::string const much(1 << 20, 'x');
    error_code end;
    std::size_t written = 0;
    async_write(p.writes, buffer(much), [&](error_code ec, std::size_t n) {
        end = ec;
        written = n;
    });
    p.context.poll();
    p.reads.close();
    p.context.run();
    EXPECT_EQ(end, error::broken_pipe);
    EXPECT_GT(written, 0U);
    EXPECT_LT(written, much.size());
}

TEST(Pipe, ItsEndsMayBelongToTwoContexts) {
    io_context first, second;
    readable_pipe reads(first);
    writable_pipe writes(second);
    connect_pipe(reads, writes);
    char bytes[8];
    std::size_t got = 0;
    reads.async_read_some(buffer(bytes), [&](error_code, std::size_t n) { got = n; });
    writes.async_write_some(buffer("text", 4), [](error_code, std::size_t) {});
    second.run();
    first.run();
    EXPECT_EQ(got, 4U);
}

TEST(Pipe, CancelAndCloseAbortWhatIsPending) {
    pipe_ends p;
    char bytes[4];
    int aborted = 0;
    auto const count = [&](error_code ec, std::size_t) { aborted += ec == error::operation_aborted; };
    p.reads.async_read_some(buffer(bytes), count);
    p.reads.cancel();
    p.context.run();
    EXPECT_EQ(aborted, 1);
    p.reads.async_read_some(buffer(bytes), count);
    p.reads.close();
    p.context.restart();
    p.context.run();
    EXPECT_EQ(aborted, 2);
}

TEST(Pipe, TakesOverDescriptors) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    io_context context;
    readable_pipe reads(context.get_executor(), fds[0]);
    writable_pipe writes(context, fds[1]);
    writes.write_some(buffer("x", 1));
    int const fd = writes.release();
    EXPECT_FALSE(writes.is_open());
    writes.assign(fd);
    writes.close();
    char bytes[4];
    EXPECT_EQ(reads.read_some(buffer(bytes)), 1U);
}

} // namespace
