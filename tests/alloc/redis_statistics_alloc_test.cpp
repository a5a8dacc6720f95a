// Statistics and hooks of a client take no memory for each call. Where there is none, calls go on.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/call_statistics.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/token/adapters.hpp>

#include <redis/call_table.hpp>

#include <alloc/failing_new.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <string>

namespace fairlead::test {
namespace {

TEST(RedisAllocations, StatisticsAndHooksTakeNoMemoryForACall) {
    io_context ctx(1);
    redis::server server(ctx);
    auto const statistics = std::make_shared<redis::call_statistics>();
    std::size_t ended = 0;
    auto const address = server.address();
    redis::client db(ctx, {.address = address},
                     {.statistics = statistics,
                      .before_call = [](redis::call_begin const&) { return std::uintptr_t(1); },
                      .after_call = [&](redis::call_end const&, std::uintptr_t number) { ended += number; }});
    db.async_run([](error_code) {});
    std::size_t before = 0, after = 0;
    auto body = [&]() -> awaitable<void> {
        redis::request get, two;
        get.push("GET", "a");
        two.push("GET", "a");
        two.push("CLIENT", "GETNAME");
        for (int i = 0; i != 400; ++i) {
            if (i == 200)
                before = allocations;
            co_await db.async_exec(get, redis::ignore);
            co_await db.async_exec(two, redis::ignore);
        }
        after = allocations;
        db.cancel();
        server.stop();
    };
    co_spawn(ctx, body(), [](std::exception_ptr e) { EXPECT_FALSE(e); });
    ctx.run_for(std::chrono::seconds(60));
    EXPECT_EQ(after - before, 0U);
    EXPECT_EQ(ended, 800U);
}

TEST(RedisAllocations, CommandWithoutMemoryForItsRowIsNotCounted) {
    if (!new_is_replaced())
        GTEST_SKIP() << "a sanitizer keeps an operator new of its own";
    redis::impl::call_table table;
    auto const place = redis::impl::call_table::place_of("GET", "");
    redis::impl::ended_command const e{
        .outcome = redis::call_outcome::answered, .bytes_sent = 1, .bytes_received = 1, .took_ns = 1};
    {
        auto const none = failing_new::from(1);
        table.count(place, e);
        EXPECT_EQ(none.failed(), 1U);
    }
    EXPECT_FALSE(table.rows[place].load());
    table.count(place, e);
    EXPECT_EQ(table.rows[place].load()->bytes_sent, 1U);
}

} // namespace
} // namespace fairlead::test
