// A typed command is made anew for each call: its bytes and its result take nothing from the heap after warm-up.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <alloc/failing_new.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::test {

namespace {

using namespace std::chrono_literals;

/// A server of one caller: an answer for each read, by the command's first letters. It allocates nothing itself.
awaitable<void> answer_typed_calls(local::stream_protocol::socket s) {
    char some[4096];
    for (;;) {
        auto reading = s.async_read_some(buffer(some), as_tuple);
        auto const [ec, n] = co_await std::move(reading);
        if (ec)
            co_return;
        std::string_view const command(some, n);
        std::string_view reply = "$5\r\nvalue\r\n";
        if (command.find("HELLO") != command.npos)
            reply = "%1\r\n+proto\r\n:3\r\n";
        else if (command.find("\r\nSET\r\n") != command.npos)
            reply = "+OK\r\n";
        else if (command.find("\r\nINCR\r\n") != command.npos)
            reply = ":7\r\n";
        auto writing = async_write(s, buffer(reply), as_tuple);
        co_await std::move(writing);
    }
}

awaitable<any_stream> connect_typed_calls(redis::address_parts) {
    auto const executor = co_await this_coro::executor;
    local::stream_protocol::socket here(executor), there(executor);
    connect_pair(here, there);
    co_spawn(executor, answer_typed_calls(std::move(there)), detached);
    co_return any_stream(std::move(here));
}

constexpr int typed_rounds = 300; // each, to warm up and to count

/// Counts what `each(db)` allocates once it has been called so often.
template <class Each> void expect_no_allocation_in(Each each) {
    io_context ctx(1);
    redis::connector const how(&connect_typed_calls);
    redis::client db(ctx, {}, how);
    db.async_run(detached);
    std::size_t before = 0, after = 0;
    auto repeat = [](redis::client& c, Each body, std::size_t& first, std::size_t& last) -> awaitable<void> {
        for (int i = 0; i != 2 * typed_rounds; ++i) {
            if (i == typed_rounds)
                first = allocations;
            auto one = body(c);
            co_await std::move(one);
        }
        last = allocations;
        c.cancel();
    };
    auto repeating = repeat(db, each, before, after);
    co_spawn(ctx, std::move(repeating), rethrow);
    ctx.run_for(60s);
    ASSERT_NE(after, 0U);
    EXPECT_EQ(after - before, 0U) << "in " << typed_rounds << " rounds";
}

awaitable<void> usual_typed_calls(redis::client& db) {
    auto const value = co_await db.get("key");
    EXPECT_EQ(value, "value");
    auto const seconds = redis::options::ex(10s);
    auto const is_set = co_await db.set("key", "value", seconds, redis::options::nx);
    EXPECT_TRUE(is_set);
    auto const count = co_await db.incr("count");
    EXPECT_EQ(count, 7);
    auto const field = co_await db.hget("hash", "field");
    EXPECT_EQ(field, "value");
}

awaitable<void> typed_calls_with_tokens(redis::client& db) {
    auto getting = db.async_exec(redis::cmd::get("key"), as_tuple);
    auto const [ec, value] = co_await std::move(getting);
    EXPECT_EQ(ec, error_code());
    EXPECT_EQ(value, "value");
    auto limited = db.async_exec(redis::cmd::get("key"), cancel_after(5s));
    auto const in_time = co_await std::move(limited);
    EXPECT_EQ(in_time, "value");
    auto within = db.within(5s).get("key");
    auto const also_in_time = co_await std::move(within);
    EXPECT_EQ(also_in_time, "value");
}

awaitable<void> typed_calls_into_memory(redis::client& db) {
    char space[64];
    auto const size = co_await db.get_into("key", space);
    EXPECT_EQ(size, 5U);
}

awaitable<void> typed_calls_with_long_arguments(redis::client& db) {
    static std::string const key(1'500, 'k');
    auto const is_set = co_await db.set(key, key);
    EXPECT_TRUE(is_set);
}

struct typed_call_again {
    redis::client& db;
    std::size_t& before;
    std::size_t& after;
    int i;
    void operator()(error_code ec, std::optional<std::string> const& value) {
        EXPECT_EQ(ec, error_code());
        EXPECT_EQ(value, "value");
        if (++i == typed_rounds)
            before = allocations;
        if (i == 2 * typed_rounds) {
            after = allocations;
            return db.cancel();
        }
        db.async_exec(redis::cmd::get("key"), typed_call_again{db, before, after, i});
    }
};

} // namespace

TEST(RedisTypedAllocations, AnAwaitedTypedCallAllocatesNothing) { expect_no_allocation_in(&usual_typed_calls); }
TEST(RedisTypedAllocations, NorDoesOneWithATokenOrALimit) { expect_no_allocation_in(&typed_calls_with_tokens); }
TEST(RedisTypedAllocations, NorDoesOneIntoMemoryOfTheCaller) { expect_no_allocation_in(&typed_calls_into_memory); }
TEST(RedisTypedAllocations, NorDoesOneWithLongArguments) { expect_no_allocation_in(&typed_calls_with_long_arguments); }

TEST(RedisTypedAllocations, NorDoesACallbackThatCallsAgain) {
    io_context ctx(1);
    redis::connector const how(&connect_typed_calls);
    redis::client db(ctx, {}, how);
    db.async_run(detached);
    std::size_t before = 0, after = 0;
    db.async_exec(redis::cmd::get("key"), typed_call_again{db, before, after, 0});
    ctx.run_for(60s);
    ASSERT_NE(after, 0U);
    EXPECT_EQ(after - before, 0U);
}

} // namespace fairlead::test
