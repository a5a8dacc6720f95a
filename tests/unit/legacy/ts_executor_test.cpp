#include <fairlead/legacy/ts_executor.hpp>

#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <support/counting_allocator.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace {

using namespace fairlead;

static_assert(io_executor<executor> && execution::executor<executor>);
static_assert(is_executor<executor>::value, "as the Networking TS has it");
static_assert(!is_executor<any_io_executor>::value);

TEST(TsExecutor, HoldsAnyExecutorAndComparesWithIt) {
    io_context context, other;
    executor const e(context.get_executor()), same = context.get_executor();
    executor changed;
    EXPECT_FALSE(changed);
    EXPECT_TRUE(changed == nullptr);
    changed = other.get_executor();
    EXPECT_EQ(&e.context(), &context);
    EXPECT_EQ(&changed.context(), &other);
    EXPECT_TRUE(e == same);
    EXPECT_TRUE(e != changed);
    EXPECT_TRUE(e.target<io_context::executor_type>());
    changed = nullptr;
    EXPECT_THROW(changed.context(), bad_executor);
    EXPECT_THROW(changed.post([] {}, std::allocator<void>()), bad_executor);
}

TEST(TsExecutor, IsMadeOfAnyIoExecutorAndTheOtherWay) {
    io_context context;
    any_io_executor const any = context.get_executor();
    executor const e = any;
    any_io_executor const back = e;
    EXPECT_TRUE(e == any);
    EXPECT_TRUE(back == any);
}

TEST(TsExecutor, DispatchesAtOnceInsideAndPostsInMemoryOfAnAllocator) {
    io_context context;
    executor const e(context.get_executor());
    test::account books;
    test::counting_allocator<int> const a(&books);
    std::string log;
    e.post(
        [&] {
            e.dispatch([&log] { log += 'a'; }, a);
            e.defer([&log] { log += 'c'; }, a);
            log += 'b';
        },
        a);
    EXPECT_EQ(books.taken, 1);
    e.dispatch([&log] { log += '-'; }, a);
    EXPECT_EQ(log, "");
    context.run();
    EXPECT_EQ(log, "ab-c");
    EXPECT_EQ(books.taken, 3);
    EXPECT_EQ(books.live, 0);
}

TEST(TsExecutor, ServesStrandsObjectsAndHandlers) {
    io_context context;
    strand<executor> s(make_strand(context)), t = make_strand(context);
    s = t;
    basic_waitable_timer<steady_clock, wait_traits<steady_clock>, executor> timer(executor(context.get_executor()),
                                                                                  std::chrono::seconds(0));
    int ran = 0;
    timer.async_wait(bind_executor(s, [&](error_code) { ran += s.running_in_this_thread(); }));
    ip::tcp::socket const socket(executor(context.get_executor()));
    post(executor(s), [&] { ran += t.running_in_this_thread(); });
    context.run();
    EXPECT_EQ(ran, 2);
}

} // namespace
