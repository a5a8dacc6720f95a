// Rows C3, C5, C6 and C7: any executor under I/O objects, and what that costs where it is one of ours.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <type_traits>
#include <vector>

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;

namespace {

static_assert(std::is_same_v<local_socket::executor_type, any_io_executor>, "the default executor is polymorphic");

TEST(Papers, C03_CopiesOfAnExecutorOfAContextShareNothingAndAllocateNothing) {
    io_context context;
    test::new_counter const count;
    any_io_executor const first(context.get_executor());
    std::array<any_io_executor, 8> copies;
    copies.fill(first);
    any_io_executor const moved(std::move(copies[0]));
    EXPECT_EQ(count.calls(), 0U);
    EXPECT_EQ(sizeof(any_io_executor), 32U);
    EXPECT_EQ(moved, first);
    EXPECT_EQ(moved.native_loop(), &context.as_loop()) << "one pointer, and no count that threads would share";
    static_assert(std::is_trivially_copyable_v<io_context::executor_type>);
}

TEST(Papers, C05_NativeExecutorIsDetectedAndUnknownOnesWork) {
    io_context context;
    EXPECT_NE(any_io_executor(context.get_executor()).native_loop(), nullptr);
    EXPECT_EQ(any_io_executor(make_strand(context)).native_loop(), nullptr);
    // Native: the op of a wait is all that is taken, from the recycler. Unknown: blocks, but the same result.
    steady_timer native(context, 0ns), unknown(any_io_executor(make_strand(context)), 0ns);
    int expired = 0;
    auto const wait = [&](steady_timer& t) {
        t.expires_after(0ns);
        t.async_wait([&](error_code ec) { expired += !ec; });
        context.run();
        context.restart();
    };
    wait(native);
    wait(unknown);
    test::new_counter const count;
    wait(native);
    EXPECT_EQ(count.calls(), 0U);
    wait(unknown);
    EXPECT_EQ(count.calls(), 0U) << "after warm-up the recycler has the blocks of the slower way, too";
    EXPECT_EQ(expired, 4);
}

template <class Executor> void works_on(Executor const& ex) {
    basic_stream_socket<local::stream_protocol, Executor> a(ex), b(ex);
    local::connect_pair(a, b);
    std::array<char, 5> bytes{};
    auto read = b.async_read_some(buffer(bytes), use_future);
    EXPECT_EQ(async_write(a, buffer("hello", 5), use_future).get(), 5U);
    EXPECT_EQ(read.get(), 5U);
    EXPECT_EQ(std::string_view(bytes.data(), 5), "hello");
}

TEST(Papers, C06_ObjectsOfAPoolTheSystemAStrandAndAnyOfThem) {
    thread_pool pool(2);
    works_on(pool.get_executor());
    works_on(system_executor());
    works_on(make_strand(pool));
    works_on(any_io_executor(pool.get_executor()));
    works_on(any_io_executor(make_strand(pool)));
}

TEST(Papers, C07_DefaultsAreEnough) {
    // Not a word about executors: the listing of the paper (C8) names none either, and takes the native way.
    io_context context(1);
    local_socket a(context), b(context);
    connect_pair(a, b);
    EXPECT_NE(a.get_executor().native_loop(), nullptr);
    std::array<char, 4> bytes;
    int done = 0;
    auto const round = [&] {
        a.async_read_some(buffer(bytes), [&](error_code, std::size_t) { ++done; });
        async_write(b, buffer(bytes), [&](error_code, std::size_t) { ++done; });
        context.run();
        context.restart();
    };
    round();
    test::new_counter const count;
    round();
    EXPECT_EQ(count.calls(), 0U);
    EXPECT_EQ(done, 4);
}

} // namespace
