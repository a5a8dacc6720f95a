// Scans over pages, and over connections that are lost. In many worlds.
#include <gtest/gtest.h>

#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/client.hpp>
#include <sim/redis_typed_scene.hpp>

#include <memory>

namespace fairlead::test {
namespace {

std::string scan_reply(std::string_view cursor, std::vector<std::string> const& items) {
    std::string s = "*2\r\n" + bulk(cursor) + '*' + std::to_string(items.size()) + "\r\n";
    for (auto const& each : items)
        s += bulk(each);
    return s;
}

awaitable<std::vector<std::string>> all_of_scan(generator<std::string> keys) {
    std::vector<std::string> all;
    while (auto k = co_await keys.next())
        all.push_back(*k);
    co_return all;
}

} // namespace

TEST(RedisScan, GoesThroughAllPagesAlsoEmptyOnes) {
    using namespace redis::options;
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int) -> std::string {
        if (line.starts_with("SCAN 0 "))
            return scan_reply("17", {"a1", "a2"});
        if (line.starts_with("SCAN 17 "))
            return scan_reply("18446744073709551615", {});
        return scan_reply("0", {"a3"});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto scanning = all_of_scan(s.db.scan(match("a*"), count(2)));
        auto const all = co_await std::move(scanning);
        EXPECT_EQ(all, (std::vector<std::string>{"a1", "a2", "a3"}));
        EXPECT_EQ(heard, (std::vector<std::string>{"SCAN 0 MATCH a* COUNT 2", "SCAN 17 MATCH a* COUNT 2",
                                                   "SCAN 18446744073709551615 MATCH a* COUNT 2"}));
    });
}

TEST(RedisScan, BeginsAnewOnAnotherConnection) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int generation) -> std::string {
        if (line == "SCAN 0")
            return scan_reply("5", {"a"});
        if (line == "SCAN 5")
            return generation == 0 ? std::string() : scan_reply("0", {"of another order"});
        return line == "SCAN 7" ? scan_reply("0", {"b"}) : "+OK\r\n";
    });
    auto const other = typed_server(heard, [](std::string const& line, int) -> std::string {
        return line == "SCAN 0" ? scan_reply("7", {"c"}) : scan_reply("0", {"d"});
    });
    auto const both = [&](hand& h, int generation) { return generation == 0 ? server(h, 0) : other(h, generation); };
    play_typed(both, [&](typed_scene& s) -> awaitable<void> {
        auto scanning = all_of_scan(s.db.scan());
        auto const all = co_await std::move(scanning);
        EXPECT_EQ(all, (std::vector<std::string>{"a", "c", "d"}));
    });
}

TEST(RedisScan, HoldsOnePageAndAsksForTheNextWhenItIsWanted) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const& line, int) -> std::string {
        return line == "SSCAN k 0" ? scan_reply("5", {"1", "2"}) : scan_reply("0", {"3"});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto members = s.db.sscan<int>("k");
        auto first = co_await members.next();
        auto second = co_await members.next();
        EXPECT_EQ(first, 1);
        EXPECT_EQ(second, 2);
        EXPECT_EQ(heard.size(), 1U);
        auto third = co_await members.next();
        auto none = co_await members.next();
        EXPECT_EQ(third, 3);
        EXPECT_EQ(none, std::nullopt);
        EXPECT_EQ(heard, (std::vector<std::string>{"SSCAN k 0", "SSCAN k 5"}));
    });
}

TEST(RedisScan, CanBeAskedToEnd) {
    std::vector<std::string> heard;
    auto const server = [&](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        auto skipping = h.skip(2); // It answers nothing.
        co_await std::move(skipping);
    };
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto limited = co_spawn(s.context, all_of_scan(s.db.scan()), cancel_after(100ms, as_tuple));
        auto const [failure, all] = co_await std::move(limited);
        EXPECT_TRUE(failure);
        EXPECT_TRUE(all.empty());
    });
}

TEST(RedisScan, MayOutliveItsClient) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [](std::string const&, int) { return scan_reply("5", {"a"}); });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        auto other = std::make_unique<redis::client>(s.context, redis::config_view{.address = "10.0.0.1"});
        auto keys = other->scan();
        auto unused = other->scan();
        other.reset();
        error_code ec;
        try {
            co_await keys.next();
        } catch (system_error const& e) {
            ec = e.code();
        }
        EXPECT_EQ(ec, fairlead::error::operation_aborted);
    });
}

} // namespace fairlead::test
