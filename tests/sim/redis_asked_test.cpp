// Typed calls of coroutines that can be asked to end: in groups, in scopes, and below a slot.
#include <gtest/gtest.h>

#include <sim/redis_typed_scene.hpp>

#include <fairlead/coro/when_all.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/scope/task_scope.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace fairlead::test {
namespace {

/// Each key has the value of its own name, some milliseconds later, but for "list", which is none.
script slow_keys() {
    return [](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        for (;;) {
            auto reading = h.next();
            auto const words = co_await std::move(reading);
            auto pausing = h.rest(3ms);
            co_await std::move(pausing);
            auto answering = h.send(words[1] == "list" ? "-WRONGTYPE no text\r\n" : bulk(words[1]));
            co_await std::move(answering);
        }
    };
}

awaitable<std::string> failure_of_list(redis::client& db) {
    try {
        auto asking = db.get("list");
        co_await std::move(asking);
    } catch (system_error const& e) {
        co_return e.what();
    }
    co_return "none";
}

TEST(RedisAsked, AFailedCallIsNamedWhereverItIsAwaited) {
    play_typed(slow_keys(), [](typed_scene& s) -> awaitable<void> {
        auto alone = failure_of_list(s.db);
        auto const plain = co_await std::move(alone);
        EXPECT_TRUE(plain.starts_with("redis GET: WRONGTYPE no text")) << plain;
        auto both = when_all(failure_of_list(s.db), failure_of_list(s.db));
        auto const [first, second] = co_await std::move(both);
        EXPECT_EQ(first, plain);
        EXPECT_EQ(second, plain);
        std::string in_scope;
        auto scoped = with_scope([&](task_scope<>& tasks) -> awaitable<void> {
            auto spawning = tasks.spawn([&]() -> awaitable<void> {
                auto failing = failure_of_list(s.db);
                in_scope = co_await std::move(failing);
            });
            co_await std::move(spawning);
        });
        co_await std::move(scoped);
        EXPECT_EQ(in_scope, plain);
    });
}

TEST(RedisAsked, ACallThatIsAskedToEndMixesUpNothing) {
    play_typed(slow_keys(), [](typed_scene& s) -> awaitable<void> {
        steady_timer limit(s.context);
        for (int n = 0; n != 20; ++n) {
            auto const key = "k" + std::to_string(n);
            limit.expires_after(std::chrono::milliseconds(n % 7));
            auto both = when_any(s.db.get(key), limit.async_wait());
            auto ended = co_await std::move(both);
            if (ended.template get<0>().has_value()) {
                EXPECT_EQ(ended.template get<0>().value(), key);
            } else {
                EXPECT_EQ(ended.index(), 1U);
            }
            auto after = s.db.get("after " + key);
            auto const value = co_await std::move(after);
            EXPECT_EQ(value, "after " + key);
        }
    });
}

} // namespace
} // namespace fairlead::test
