#include <fairlead/net/descriptor.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace {

using namespace fairlead;
using posix::stream_descriptor;

static_assert(std::is_same_v<stream_descriptor, posix::basic_stream_descriptor<any_io_executor>>);
static_assert(!std::is_copy_constructible_v<stream_descriptor>);
static_assert(std::is_nothrow_move_constructible_v<stream_descriptor>);
using rebound_descriptor = stream_descriptor::rebind_executor<io_context::executor_type>::other;
static_assert(std::is_convertible_v<rebound_descriptor&&, stream_descriptor>);
static_assert(!std::is_convertible_v<stream_descriptor&&, rebound_descriptor>);

/// Reads until something else than bytes comes.
awaitable<void> read_all(stream_descriptor& d, std::size_t at_once, std::vector<std::string>& pieces, error_code& end) {
    std::string bytes(at_once, '\0');
    for (;;) {
        auto const [ec, n] = co_await d.async_read_some(buffer(bytes), as_tuple);
        if (ec) {
            end = ec;
            co_return;
        }
        pieces.push_back(bytes.substr(0, n));
    }
}

struct file {
    std::string path = "/tmp/fairlead-test-XXXXXX";
    int fd = ::mkstemp(path.data());
    explicit file(std::string const& text) {
        EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::lseek(fd, 0, SEEK_SET);
    }
    ~file() { ::unlink(path.c_str()); }
};

TEST(StreamDescriptor, AssignsReleasesAndCloses) {
    io_context context;
    stream_descriptor d(context);
    EXPECT_FALSE(d.is_open());
    EXPECT_EQ(d.native_handle(), -1);
    error_code ec;
    d.assign(-1, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_THROW(d.assign(-1), system_error);
    EXPECT_THROW(stream_descriptor(context, -1), system_error);
    int const fd = ::eventfd(0, EFD_CLOEXEC);
    d.assign(fd);
    EXPECT_TRUE(d.is_open());
    EXPECT_EQ(d.native_handle(), fd);
    d.assign(fd, ec);
    EXPECT_EQ(ec, error::already_open);
    EXPECT_EQ(d.release(), fd);
    EXPECT_FALSE(d.is_open());
    EXPECT_NE(::fcntl(fd, F_GETFD), -1) << "released, not closed";
    stream_descriptor again(context.get_executor(), fd);
    again.close();
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
    again.close();
    again.cancel(ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_THROW(again.release(), system_error);
}

TEST(StreamDescriptor, TwoObjectsOfAContextCannotHaveTheSameDescriptor) {
    io_context context;
    stream_descriptor first(context, ::eventfd(0, EFD_CLOEXEC));
    error_code ec;
    stream_descriptor second(context);
    second.assign(first.native_handle(), ec);
    EXPECT_EQ(ec, std::errc::file_exists);
    EXPECT_FALSE(second.is_open());
    EXPECT_NE(::fcntl(first.native_handle(), F_GETFD), -1);
}

TEST(StreamDescriptor, ReadsAnEventCounter) {
    io_context context;
    stream_descriptor d(context, ::eventfd(0, EFD_CLOEXEC));
    std::uint64_t value = 0;
    std::size_t got = 0;
    d.async_read_some(buffer(&value, sizeof value), [&](error_code ec, std::size_t n) { got = ec ? 0 : n; });
    context.poll();
    EXPECT_EQ(got, 0U);
    std::uint64_t const three = 3;
    EXPECT_EQ(d.write_some(buffer(&three, sizeof three)), sizeof three);
    context.run();
    EXPECT_EQ(got, 8U);
    EXPECT_EQ(value, 3U);
    error_code ec;
    char too_small[4];
    d.write_some(buffer(&three, sizeof three));
    d.read_some(buffer(too_small), ec);
    EXPECT_EQ(ec, error::invalid_argument);
}

// A short read says nothing here: one more can be read at once, and no event will tell.
TEST(StreamDescriptor, ReadsThatEndEarlyAreNoSignOfTheEnd) {
    io_context context;
    stream_descriptor d(context, ::eventfd(3, EFD_CLOEXEC | EFD_SEMAPHORE));
    std::vector<std::string> pieces;
    error_code end;
    co_spawn(context, read_all(d, 64, pieces, end), detached);
    while (pieces.size() != 3)
        context.run_one(); // a failure shows as the test's time-out
    context.poll();
    EXPECT_EQ(pieces.size(), 3U);
    d.cancel();
    context.run();
    EXPECT_EQ(end, error::operation_aborted);
}

TEST(StreamDescriptor, ReadsATerminalLineByLine) {
    int const master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0)
        GTEST_SKIP() << "this system has no pseudo terminals";
    int const slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        GTEST_SKIP() << "this system has no pseudo terminals";
    io_context context;
    stream_descriptor keyboard(context, master), terminal(context, slave);
    std::vector<std::string> pieces;
    error_code end;
    co_spawn(context, read_all(terminal, 64, pieces, end), detached);
    context.poll();
    write(keyboard, buffer("one\ntwo\nthree\n", 14));
    while (pieces.size() != 3)
        context.run_one(); // a failure shows as the test's time-out
    EXPECT_EQ(pieces, (std::vector<std::string>{"one\n", "two\n", "three\n"}));
    keyboard.close();
    context.run();
    EXPECT_TRUE(end == error::eof || end == std::errc::io_error) << end.message();
}

TEST(StreamDescriptor, ReadsAPipeOfPacketsPacketByPacket) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC | O_DIRECT), 0);
    io_context context;
    stream_descriptor reads(context, fds[0]), writes(context, fds[1]);
    writes.write_some(buffer("ab", 2));
    writes.write_some(buffer("cd", 2));
    writes.close();
    std::vector<std::string> pieces;
    error_code end;
    co_spawn(context, read_all(reads, 64, pieces, end), detached);
    context.run();
    EXPECT_EQ(pieces, (std::vector<std::string>{"ab", "cd"}));
    EXPECT_EQ(end, error::eof);
}

TEST(StreamDescriptor, ARegularFileIsAlwaysReady) {
    file f("abcdefg");
    io_context context;
    stream_descriptor d(context, f.fd);
    std::vector<std::string> pieces;
    error_code end;
    co_spawn(context, read_all(d, 3, pieces, end), detached);
    EXPECT_TRUE(pieces.empty());
    context.run();
    EXPECT_EQ(pieces, (std::vector<std::string>{"abc", "def", "g"}));
    EXPECT_EQ(end, error::eof);
    // At the end of a file more can be written, and then read.
    bool waited = false;
    std::size_t written = 0;
    d.async_wait(stream_descriptor::wait_read, [&](error_code ec) { waited = !ec; });
    async_write(d, buffer("hij", 3), [&](error_code, std::size_t n) { written = n; });
    context.restart();
    context.run();
    EXPECT_TRUE(waited);
    EXPECT_EQ(written, 3U);
    ::lseek(d.native_handle(), 7, SEEK_SET);
    std::string text;
    error_code ec;
    EXPECT_EQ(read(d, dynamic_buffer(text), ec), 3U);
    EXPECT_EQ(text, "hij");
}

TEST(StreamDescriptor, DevNullIsAlwaysReady) {
    io_context context;
    stream_descriptor d(context, ::open("/dev/null", O_RDWR | O_CLOEXEC));
    char bytes[8];
    error_code end;
    std::size_t written = 0;
    d.async_read_some(buffer(bytes), [&](error_code ec, std::size_t) { end = ec; });
    d.async_write_some(buffer("text", 4), [&](error_code, std::size_t n) { written = n; });
    context.run();
    EXPECT_EQ(end, error::eof);
    EXPECT_EQ(written, 4U);
}

TEST(StreamDescriptor, AFullDeviceSaysSoEachTime) {
    int const fd = ::open("/dev/full", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        GTEST_SKIP() << "there is no /dev/full";
    io_context context;
    stream_descriptor d(context, fd);
    int full = 0;
    for (int i = 0; i != 3; ++i)
        d.async_write_some(buffer("text", 4),
                           [&](error_code ec, std::size_t) { full += ec == std::errc::no_space_on_device; });
    context.run();
    EXPECT_EQ(full, 3);
}

TEST(StreamDescriptor, TakesSocketsTooAndTheirPeerMayGo) {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    io_context context;
    stream_descriptor a(context, fds[0]), b(context, fds[1]);
    std::string text;
    async_read_until(b, dynamic_buffer(text), '\n', [](error_code, std::size_t) {});
    async_write(a, buffer("line\n", 5), [](error_code, std::size_t) {});
    context.run();
    EXPECT_EQ(text, "line\n");
    b.close();
    error_code ec;
    a.write_some(buffer("x", 1), ec);
    EXPECT_EQ(ec, error::broken_pipe);
}

TEST(StreamDescriptor, TellsHowManyBytesCanBeRead) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    io_context context;
    stream_descriptor reads(context, fds[0]), writes(context, fds[1]);
    write(writes, buffer("12345", 5));
    stream_descriptor::bytes_readable command;
    reads.io_control(command);
    EXPECT_EQ(command.get(), 5U);
    reads.close();
    error_code ec;
    reads.io_control(command, ec);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_THROW(reads.io_control(command), system_error);
}

TEST(StreamDescriptor, WaitsInTheCallingThreadOrSaysThatItWould) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    io_context context;
    stream_descriptor reads(context, fds[0]), writes(context, fds[1]);
    char bytes[8];
    error_code ec;
    reads.non_blocking(true);
    EXPECT_TRUE(reads.non_blocking());
    reads.read_some(buffer(bytes), ec);
    EXPECT_EQ(ec, error::would_block);
    reads.wait(stream_descriptor::wait_read, ec);
    EXPECT_EQ(ec, error::would_block);
    writes.wait(stream_descriptor::wait_write);
    writes.write_some(buffer("x", 1));
    reads.wait(stream_descriptor::wait_read, ec);
    EXPECT_FALSE(ec);
    EXPECT_EQ(reads.read_some(buffer(bytes)), 1U);
}

TEST(StreamDescriptor, TheNativeModeIsForOthersAndNeverLetsTheLoopWait) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    io_context context;
    stream_descriptor reads(context, fds[0]), writes(context, fds[1]);
    reads.native_non_blocking(true);
    EXPECT_TRUE(reads.native_non_blocking());
    reads.native_non_blocking(false);
    EXPECT_FALSE(reads.native_non_blocking());
    EXPECT_FALSE(::fcntl(fds[0], F_GETFL) & O_NONBLOCK);
    std::size_t got = 0;
    char bytes[8];
    reads.async_read_some(buffer(bytes), [&](error_code, std::size_t n) { got = n; });
    context.poll(); // a failure shows as the test's time-out
    EXPECT_TRUE(reads.native_non_blocking());
    writes.write_some(buffer("xy", 2));
    context.run();
    EXPECT_EQ(got, 2U);
    error_code ec;
    reads.non_blocking(true);
    reads.native_non_blocking(false, ec);
    EXPECT_EQ(ec, error::invalid_argument);
}

TEST(StreamDescriptor, MovesWithItsPendingReads) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    io_context context;
    rebound_descriptor from(context, fds[0]);
    stream_descriptor writes(context, fds[1]);
    std::size_t got = 0;
    char bytes[8];
    from.async_read_some(buffer(bytes), [&](error_code, std::size_t n) { got = n; });
    context.poll();
    stream_descriptor to(std::move(from));
    EXPECT_FALSE(from.is_open());
    writes.write_some(buffer("xyz", 3));
    context.run();
    EXPECT_EQ(got, 3U);
    stream_descriptor other(context);
    other = std::move(to);
    EXPECT_TRUE(other.is_open());
}

} // namespace
