// A consumer of a group, and a server that is played by hand. In many worlds.
#include <gtest/gtest.h>

#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/consumer_group.hpp>
#include <sim/redis_typed_scene.hpp>

#include <optional>

namespace fairlead::test {
namespace {

using origin = redis::consumed_entry::origin;

std::string entry_list(std::vector<std::string> const& ids) {
    std::string s = '*' + std::to_string(ids.size()) + "\r\n";
    for (auto const& id : ids)
        s += "*2\r\n" + bulk(id) + (id.ends_with("-9") ? std::string("_\r\n") : "*2\r\n" + bulk("n") + bulk(id));
    return s;
}
/// The reply to XREADGROUP; an id that ends with -9 is of an entry that was deleted.
std::string group_reply(std::vector<std::string> const& ids) {
    return ids.empty() ? "_\r\n" : "%1\r\n" + bulk("s") + entry_list(ids);
}
std::string const no_group = "-NOGROUP No such key 's' or consumer group 'g'\r\n";

awaitable<std::string> next_id(redis::consumer_group& g) {
    auto taking = g.next();
    auto const m = co_await std::move(taking);
    if (!m)
        co_return "none";
    co_return m->id + (m->from == origin::fresh ? "" : m->from == origin::pending ? " pending" : " claimed");
}
awaitable<std::vector<std::string>> next_ids(redis::consumer_group& g, int n) {
    std::vector<std::string> ids;
    for (; n != 0; --n) {
        auto taking = next_id(g);
        ids.push_back(co_await std::move(taking));
    }
    co_return ids;
}
using ids_of_group = std::vector<std::string>;

} // namespace

TEST(RedisConsumer, PendingEntriesComeFirstThenNewOnes) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("XGROUP"))
            return "-BUSYGROUP Consumer Group name already exists\r\n";
        if (line.ends_with("STREAMS s 0"))
            return group_reply({"1-0", "2-0"});
        if (line.ends_with("STREAMS s 2-0"))
            return group_reply({});
        if (line.ends_with("STREAMS s >"))
            return group_reply(heard.size() < 6 ? ids_of_group{} : ids_of_group{"3-0"});
        return ":1\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.batch = 2, .block_for = 0ms});
        auto taking = next_ids(g, 3);
        auto const ids = co_await std::move(taking);
        EXPECT_EQ(ids, (ids_of_group{"1-0 pending", "2-0 pending", "3-0"}));
        auto acknowledging = g.ack("3-0");
        auto const was_pending = co_await std::move(acknowledging);
        EXPECT_TRUE(was_pending);
        std::string const read = "XREADGROUP GROUP g me COUNT 2 STREAMS s ";
        EXPECT_EQ(heard, (ids_of_group{"XGROUP CREATE s g 0 MKSTREAM", read + "0", read + "2-0", read + ">", read + ">",
                                       read + ">", "XACK s g 3-0"}));
    });
}

TEST(RedisConsumer, X04_EntriesWhoseReplyWasLostAreReadAgainAndNoOthers) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int generation) -> std::string {
        if (line.starts_with("XGROUP"))
            return "+OK\r\n";
        if (line.ends_with("STREAMS s 0"))
            return group_reply({});
        if (line.ends_with("STREAMS s >")) {
            if (generation == 0 && heard.size() > 3)
                return {}; // delivered, and lost
            return group_reply(generation == 0 ? ids_of_group{"1-0"} : ids_of_group{"3-0"});
        }
        return line.ends_with("STREAMS s 1-0") ? group_reply({"2-0"}) : group_reply({});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms});
        auto taking = next_ids(g, 3);
        auto const ids = co_await std::move(taking);
        EXPECT_EQ(ids, (ids_of_group{"1-0", "2-0 pending", "3-0"}));
    });
}

TEST(RedisConsumer, AGroupThatSomebodyDeletedIsMadeAgainFromItsBeginning) {
    std::vector<std::string> heard;
    bool is_there = false;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("XGROUP")) {
            is_there = true;
            return "+OK\r\n";
        }
        if (!is_there)
            return no_group;
        return group_reply(line.ends_with("STREAMS s >") ? ids_of_group{"1-0"} : ids_of_group{});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.begin = "$", .block_for = 0ms});
        auto taking = next_ids(g, 1);
        co_await std::move(taking);
        is_there = false;
        auto taking_again = next_ids(g, 1);
        co_await std::move(taking_again);
        std::erase_if(heard, [](std::string const& line) { return !line.starts_with("XGROUP"); });
        EXPECT_EQ(heard, (ids_of_group{"XGROUP CREATE s g $ MKSTREAM", "XGROUP CREATE s g 0 MKSTREAM"}));
    });
}

TEST(RedisConsumer, WhatOthersLeftIsClaimedAPageAtATime) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("XGROUP"))
            return "+OK\r\n";
        if (line.starts_with("XAUTOCLAIM") && line.ends_with(" 0-0 COUNT 64"))
            return "*3\r\n" + bulk("5-0") + entry_list({"1-0"}) + "*0\r\n";
        if (line.starts_with("XAUTOCLAIM"))
            return "*3\r\n" + bulk("0-0") + entry_list({"5-0"}) + "*0\r\n";
        return group_reply(line.ends_with("STREAMS s >") ? ids_of_group{"7-0"} : ids_of_group{});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms, .claim_idle = 30s, .claim_interval = 10s});
        auto taking = next_ids(g, 4);
        auto const ids = co_await std::move(taking);
        EXPECT_EQ(ids, (ids_of_group{"1-0 claimed", "5-0 claimed", "7-0", "7-0"}));
        EXPECT_EQ(std::ranges::count(heard, "XAUTOCLAIM s g me 30000 0-0 COUNT 64"), 1);
        auto resting = s.rest(10s);
        co_await std::move(resting);
        auto more = next_ids(g, 1);
        auto const again = co_await std::move(more);
        EXPECT_EQ(again, (ids_of_group{"1-0 claimed"}));
    });
}

TEST(RedisConsumer, AnEntryThatWasDeletedIsAcknowledgedAndPassedOver) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("XGROUP"))
            return "+OK\r\n";
        if (line.starts_with("XACK"))
            return ":1\r\n";
        if (line.ends_with("STREAMS s 0"))
            return group_reply({"1-9", "2-0", "3-9"});
        return group_reply(line.ends_with("STREAMS s >") ? ids_of_group{"4-0"} : ids_of_group{});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms});
        auto taking = next_ids(g, 2);
        auto const ids = co_await std::move(taking);
        EXPECT_EQ(ids, (ids_of_group{"2-0 pending", "4-0"}));
        EXPECT_EQ(std::ranges::count(heard, "XACK s g 1-9 3-9"), 1);
    });
}

TEST(RedisConsumer, TheStreamIsTrimmedNowAndThen) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("XGROUP"))
            return "+OK\r\n";
        if (line.starts_with("XTRIM"))
            return ":0\r\n";
        return group_reply(line.ends_with("STREAMS s >") ? ids_of_group{"1-0", "2-0"} : ids_of_group{});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.batch = 2, .block_for = 0ms, .keep_about = 32});
        auto taking = next_ids(g, 10);
        auto const ids = co_await std::move(taking);
        EXPECT_EQ(ids.size(), 10U);
        EXPECT_EQ(std::ranges::count(heard, "XTRIM s MAXLEN ~ 32"), 2) << "after each four";
    });
}

TEST(RedisConsumer, AnAcknowledgementIsRepeatedWhenItsReplyIsLost) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const&, int generation) -> std::string {
        return generation == 0 ? std::string() : ":0\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms});
        auto acknowledging = g.ack("1-0");
        auto const done = co_await std::move(acknowledging);
        EXPECT_TRUE(done);
        EXPECT_EQ(heard, (ids_of_group{"XACK s g 1-0", "XACK s g 1-0"}));
        auto not_pending = g.ack("2-0");
        auto const done_again = co_await std::move(not_pending);
        EXPECT_FALSE(done_again);
    });
}

TEST(RedisConsumer, SeveralEntriesAreAcknowledgedByOneCommand) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int generation) -> std::string {
        if (line == "XACK s g 5-0 6-0" && generation == 0)
            return {};
        return line.starts_with("XACK") ? ":2\r\n" : "+OK\r\n";
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms});
        std::vector<redis::consumed_entry> entries(2);
        entries[0].id = "1-0";
        entries[1].id = "2-0";
        auto of_entries = g.ack(entries);
        auto const n = co_await std::move(of_entries);
        EXPECT_EQ(n, 2U);
        redis::stream_entry const one{"3-0", {}};
        auto of_two = g.ack(one, "4-0");
        co_await std::move(of_two);
        ids_of_group const ids{"5-0", "6-0"};
        auto of_ids = g.ack(ids);
        auto const repeated = co_await std::move(of_ids);
        EXPECT_EQ(repeated, 2U);
        auto of_none = g.ack(ids_of_group{});
        auto const none = co_await std::move(of_none);
        EXPECT_EQ(none, 0U);
        EXPECT_EQ(heard,
                  (ids_of_group{"XACK s g 1-0 2-0", "XACK s g 3-0 4-0", "XACK s g 5-0 6-0", "XACK s g 5-0 6-0"}));
    });
}

TEST(RedisConsumer, AcknowledgementsAreNotedAndSentTogetherAtTheLatestBeforeTheNextRead) {
    std::vector<std::string> heard;
    std::vector<ids_of_group> batches;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        if (line.starts_with("XGROUP"))
            return "+OK\r\n";
        if (line.starts_with("XACK"))
            return ":1\r\n";
        if (line.ends_with(">") && !batches.empty()) {
            auto const ids = batches.front();
            batches.erase(batches.begin());
            return group_reply(ids);
        }
        return group_reply({});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        batches = {{"1-0", "2-0", "3-0"}, {"4-0"}};
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms, .ack_batch = 2});
        for (int i = 0; i != 3; ++i) {
            auto taking = g.next();
            auto const entry = co_await std::move(taking);
            auto acknowledging = g.ack(*entry);
            EXPECT_TRUE(co_await std::move(acknowledging));
        }
        EXPECT_EQ(heard.back(), "XACK s g 1-0 2-0");
        auto taking = next_ids(g, 1);
        auto const last = co_await std::move(taking);
        EXPECT_EQ(last, (ids_of_group{"4-0"}));
        std::string const read = "XREADGROUP GROUP g me COUNT 64 STREAMS s >";
        EXPECT_EQ(heard, (ids_of_group{"XGROUP CREATE s g 0 MKSTREAM", "XREADGROUP GROUP g me COUNT 64 STREAMS s 0",
                                       read, "XACK s g 1-0 2-0", "XACK s g 3-0", read}));
    });
}

TEST(RedisConsumer, NotedAcknowledgementsOutliveALostConnection) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int generation) -> std::string {
        if (line.starts_with("XGROUP"))
            return "+OK\r\n";
        if (line.starts_with("XACK"))
            return generation == 0 ? std::string() : ":1\r\n";
        return group_reply(line.ends_with(">") ? ids_of_group{generation == 0 ? "1-0" : "2-0"} : ids_of_group{});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms, .ack_batch = 100});
        auto taking = next_ids(g, 1);
        co_await std::move(taking);
        auto acknowledging = g.ack("1-0");
        EXPECT_TRUE(co_await std::move(acknowledging));
        auto taking_next = next_ids(g, 1);
        auto const ids = co_await std::move(taking_next);
        EXPECT_EQ(ids, (ids_of_group{"2-0"}));
        EXPECT_EQ(std::ranges::count(heard, "XACK s g 1-0"), 2) << "once more behind the loss";
        auto noting = g.ack("2-0");
        co_await std::move(noting);
        auto sending = g.ack(ids_of_group{});
        co_await std::move(sending);
        EXPECT_EQ(heard.back(), "XACK s g 2-0");
    });
}

TEST(RedisConsumer, ACancelledWaitLosesNothing) {
    std::vector<std::string> heard;
    bool is_slow = true;
    auto const server = [&](hand& h, int) -> awaitable<void> {
        heard.clear();
        is_slow = true;
        auto greeting = h.greet();
        co_await std::move(greeting);
        for (;;) {
            auto reading = h.next();
            auto const words = co_await std::move(reading);
            auto const line = line_of(words);
            heard.push_back(line);
            std::string reply = "+OK\r\n";
            if (line.ends_with("STREAMS s >")) {
                if (std::exchange(is_slow, false)) {
                    auto resting = h.rest(3s);
                    co_await std::move(resting);
                    reply = group_reply({"1-0"});
                } else {
                    reply = group_reply({"2-0"});
                }
            } else if (line.ends_with("STREAMS s 0")) {
                reply = group_reply(is_slow ? ids_of_group{} : ids_of_group{"1-0"});
            } else if (line.starts_with("XREADGROUP")) {
                reply = group_reply({});
            }
            auto replying = h.send(std::move(reply));
            co_await std::move(replying);
        }
    };
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms});
        auto limited = co_spawn(s.context, next_id(g), cancel_after(2s, as_tuple));
        auto const [failure, id] = co_await std::move(limited);
        EXPECT_TRUE(failure);
        auto taking = next_ids(g, 2);
        auto const ids = co_await std::move(taking);
        EXPECT_EQ(ids, (ids_of_group{"1-0 pending", "2-0"}));
    });
}

TEST(RedisConsumer, TheLoopEndsWithTheClient) {
    std::vector<std::string> heard;
    auto const server = typed_server(heard, [&](std::string const& line, int) -> std::string {
        return line.starts_with("XGROUP") ? "+OK\r\n" : group_reply({});
    });
    play_typed(server, [&](typed_scene& s) -> awaitable<void> {
        std::optional<std::string> last;
        redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 0ms, .poll_interval = 10ms});
        co_spawn(s.context, next_id(g), [&](std::exception_ptr, std::string id) { last = std::move(id); });
        auto resting = s.rest(1s);
        co_await std::move(resting);
        s.db.cancel();
        auto ending = s.until([&] { return last.has_value(); });
        co_await std::move(ending);
        EXPECT_EQ(last, "none");
    });
}

TEST(RedisConsumer, WaitsAtTheServerOnAConnectionOfThePool) {
    std::vector<std::string> blocked;
    auto const server = [&](hand& h, int generation) -> awaitable<void> {
        if (generation == 0)
            blocked.clear();
        auto greeting = h.greet();
        co_await std::move(greeting);
        for (;;) {
            auto reading = h.next();
            auto const line = line_of(co_await std::move(reading));
            std::string reply = line.starts_with("XGROUP") ? "+OK\r\n" : group_reply({});
            if (line.find(" BLOCK ") != std::string::npos) {
                EXPECT_NE(generation, 0) << "the shared connection serves others";
                blocked.push_back(line);
                auto resting = h.rest(2s);
                co_await std::move(resting);
                if (blocked.size() == 2)
                    reply = group_reply({"1-0"});
            }
            auto replying = h.send(std::move(reply));
            co_await std::move(replying);
        }
    };
    play_typed(
        server,
        [&](typed_scene& s) -> awaitable<void> {
            redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 2s, .poll_interval = 1h});
            auto taking = next_ids(g, 1);
            auto const ids = co_await std::move(taking);
            EXPECT_EQ(ids, (ids_of_group{"1-0"}));
            EXPECT_EQ(blocked, ids_of_group(2, "XREADGROUP GROUP g me COUNT 64 BLOCK 2000 STREAMS s >"));
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisConsumer, AWaitAtTheServerEndsWhenItIsTimeToClaim) {
    std::vector<long> waits;
    int claims = 0;
    auto const server = [&](hand& h, int generation) -> awaitable<void> {
        if (generation == 0) {
            waits.clear();
            claims = 0;
        }
        auto greeting = h.greet();
        co_await std::move(greeting);
        for (;;) {
            auto reading = h.next();
            auto const words = co_await std::move(reading);
            std::string reply = words[0] == "XGROUP" ? "+OK\r\n" : group_reply({});
            if (words[0] == "XAUTOCLAIM")
                reply = "*3\r\n" + bulk("0-0") + entry_list(++claims == 2 ? ids_of_group{"1-0"} : ids_of_group{}) +
                        "*0\r\n";
            if (words.size() > 7 && words[6] == "BLOCK") {
                waits.push_back(std::stol(words[7]));
                auto resting = h.rest(std::chrono::milliseconds(waits.back()));
                co_await std::move(resting);
            }
            auto replying = h.send(std::move(reply));
            co_await std::move(replying);
        }
    };
    play_typed(
        server,
        [&](typed_scene& s) -> awaitable<void> {
            redis::consumer_group g(s.db, "s", "g", "me",
                                    {.block_for = 10min, .claim_idle = 1min, .claim_interval = 10s});
            auto taking = next_ids(g, 1);
            auto const ids = co_await std::move(taking);
            EXPECT_EQ(ids, (ids_of_group{"1-0 claimed"}));
            EXPECT_FALSE(waits.empty());
            EXPECT_TRUE(std::ranges::all_of(waits, [](long ms) { return ms > 0 && ms <= 10'000; }));
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisConsumer, AWaitAtTheServerEndsWithTheClient) {
    auto const server = [](hand& h, int) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        for (;;) {
            auto reading = h.next();
            auto const line = line_of(co_await std::move(reading));
            if (line.find(" BLOCK ") != std::string::npos)
                continue;
            auto replying = h.send(line.starts_with("XGROUP") ? "+OK\r\n" : group_reply({}));
            co_await std::move(replying);
        }
    };
    play_typed(
        server,
        [&](typed_scene& s) -> awaitable<void> {
            std::optional<std::string> last;
            redis::consumer_group g(s.db, "s", "g", "me", {.block_for = 1min});
            co_spawn(s.context, next_id(g), [&](std::exception_ptr, std::string id) { last = std::move(id); });
            auto resting = s.rest(1s);
            co_await std::move(resting);
            s.db.cancel();
            auto ending = s.until([&] { return last.has_value(); });
            co_await std::move(ending);
            EXPECT_EQ(last, "none");
        },
        {.address = "10.0.0.1"}, true);
}

} // namespace fairlead::test
