// Texts that are written in ranges: connections that are cut, keys that go, and callers who give up.
#include <gtest/gtest.h>

#include <sim/redis_typed_scene.hpp>

#include <fairlead/coro/when_any.hpp>
#include <fairlead/redis/value_ranges.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {
namespace {

constexpr redis::writing_options small_writes{.range = 1'000};

std::string book_text(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i != bytes; ++i)
        text[i] = static_cast<char>('a' + (i * 11 + i / 241) % 26);
    return text;
}

/// It keeps texts, and which of them have an end of their time.
struct book_server {
    struct kept_text {
        std::string text;
        std::string expires_ms{}; ///< as it was said; empty: never

        friend bool operator==(kept_text const&, kept_text const&) = default;
    };
    std::map<std::string, kept_text> keys{{"book", {"old"}}};
    std::vector<std::string> heard{};
    std::optional<int> commands_max{}; ///< after HELLO on a connection that writes: the next one is executed unanswered
    std::string refused{};             ///< a command that has no memory
    int gone_before_append = 0;        ///< the key beside goes before the so many-th APPEND
    int taken_names = 0;
    std::chrono::milliseconds pause{0};
    std::function<void(std::string_view name)> before{}; ///< is called before each command is executed or queued

    /// All but the parts of values.
    std::map<std::string, kept_text> lasting() const {
        auto all = keys;
        std::erase_if(all, [](auto& each) { return each.first.find("being-written") != each.first.npos; });
        return all;
    }
    int count(std::string_view name) const { return static_cast<int>(std::ranges::count(heard, name)); }

    std::string execute(command_words const& words) {
        auto const& name = words[0];
        if (name == refused)
            return "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
        if (name == "SET") {
            auto const has = [&words](std::string_view word) { return std::ranges::count(words, word) != 0; };
            if (words[1].find("being-written") != words[1].npos && taken_names != 0 && taken_names-- != 0)
                return "_\r\n";
            bool const is_there = keys.contains(words[1]);
            if ((has("NX") && is_there) || (has("XX") && !is_there))
                return "_\r\n";
            auto const px = std::ranges::find(words, "PX");
            auto& kept = keys[words[1]];
            kept = {words[2], px != words.end() ? *(px + 1) : has("KEEPTTL") ? kept.expires_ms : ""};
            return "+OK\r\n";
        }
        if (name == "APPEND") {
            if (gone_before_append != 0 && --gone_before_append == 0)
                keys.erase(words[1]);
            auto& kept = keys[words[1]];
            kept.text += words[2];
            return ':' + std::to_string(kept.text.size()) + "\r\n";
        }
        if (name == "EXISTS")
            return keys.contains(words[1]) ? ":1\r\n" : ":0\r\n";
        if (name == "PEXPIRETIME") {
            auto const at = keys.find(words[1]);
            auto const& time = at == keys.end() ? "-2" : at->second.expires_ms.empty() ? "-1" : at->second.expires_ms;
            return ':' + std::string(time) + "\r\n";
        }
        if (name == "PEXPIRE" || name == "PEXPIREAT" || name == "PERSIST") {
            auto const at = keys.find(words[1]);
            if (at == keys.end())
                return ":0\r\n";
            at->second.expires_ms = name == "PERSIST" ? "" : words[2];
            return ":1\r\n";
        }
        if (name == "RENAME" || name == "RENAMENX") {
            auto const node = keys.find(words[1]);
            if (node == keys.end())
                return "-ERR no such key\r\n";
            if (name == "RENAMENX" && keys.contains(words[2]))
                return ":0\r\n";
            keys[words[2]] = node->second;
            keys.erase(words[1]);
            return name == "RENAME" ? "+OK\r\n" : ":1\r\n";
        }
        if (name == "UNLINK")
            return ':' + std::to_string(keys.erase(words[1])) + "\r\n";
        if (name == "GET")
            return keys.contains(words[1]) ? bulk(keys[words[1]].text) : "_\r\n";
        return "+OK\r\n";
    }

    script play() {
        return [this](hand& h, int) -> awaitable<void> {
            auto greeting = h.greet();
            co_await std::move(greeting);
            std::optional<int> left;
            std::optional<std::vector<command_words>> queued; // of a transaction
            std::optional<decltype(keys)> watched;            // all keys as they were at WATCH, but for those beside
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                auto const& name = words[0];
                heard.push_back(name);
                if (name == "SET" && !left)
                    left = commands_max;
                if (before)
                    before(name);
                std::string reply;
                if (name == "WATCH") {
                    watched = lasting();
                    reply = "+OK\r\n";
                } else if (name == "EXEC" && watched && *watched != lasting()) {
                    queued.reset();
                    watched.reset();
                    reply = "_\r\n";
                } else if (name == "MULTI") {
                    queued.emplace();
                    reply = "+OK\r\n";
                } else if (name == "EXEC") {
                    reply = '*' + std::to_string(queued->size()) + "\r\n";
                    for (auto const& each : *queued)
                        reply += execute(each);
                    queued.reset();
                    watched.reset();
                } else if (queued) {
                    queued->push_back(words);
                    reply = "+QUEUED\r\n";
                } else {
                    reply = execute(words);
                }
                auto pausing = h.rest(pause);
                co_await std::move(pausing);
                if (left && (*left)-- == 0)
                    co_return;
                auto answering = h.send(std::move(reply));
                co_await std::move(answering);
            }
        };
    }
};

void play_book(book_server& server, typed_body const& body, redis::config_view const& cfg = {.address = "10.0.0.1"}) {
    auto begin_anew = [&](typed_scene& s) -> awaitable<void> {
        server = book_server();
        return body(s);
    };
    play_typed(server.play(), begin_anew, cfg, true, {.pause_min = 5ms, .pause_max = 20ms});
}

awaitable<error_code> write_book(redis::client& db, std::string_view text, redis::writing_options how = small_writes,
                                 unsigned attempts = 4, bool expected = true) {
    try {
        auto writing = redis::set_in_ranges(db, "book", text, how, attempts);
        auto const is_written = co_await std::move(writing);
        EXPECT_EQ(is_written, expected);
    } catch (system_error const& e) {
        co_return e.code();
    }
    co_return error_code();
}

TEST(RedisRangeWriting, TheKeyHasItsOldValueUntilAllIsThere) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(4'500);
        server.pause = 10ms;
        int old_ones = 0;
        auto looking = [&]() -> awaitable<void> {
            for (;;) {
                steady_timer soon(s.context, 7ms);
                auto waiting = soon.async_wait();
                co_await std::move(waiting);
                if (server.count("MULTI") != 0)
                    continue;
                EXPECT_TRUE(server.keys["book"].text == "old");
                for (auto const& [name, kept] : server.keys)
                    EXPECT_TRUE(name == "book" || kept.expires_ms == "60000") << name;
                ++old_ones;
            }
        };
        auto both = when_any(write_book(s.db, text), looking());
        auto ended = co_await std::move(both);
        EXPECT_FALSE(ended.get<0>().value());
        EXPECT_GT(old_ones, 5);
        EXPECT_EQ(server.keys.size(), 1U);
        EXPECT_TRUE(server.keys["book"].text == text);
        EXPECT_EQ(server.keys["book"].expires_ms, "");
        EXPECT_EQ(server.count("SET"), 1);
        EXPECT_EQ(server.count("APPEND"), 4);
        EXPECT_EQ(server.count("EXEC"), 1);
    });
}

TEST(RedisRangeWriting, AValueMayHaveATime) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        for (std::size_t const bytes : {std::size_t{1'000}, std::size_t{1'001}}) {
            auto const text = book_text(bytes);
            auto writing = write_book(s.db, text, {.range = 1'000, .expiry = 90s});
            auto const ec = co_await std::move(writing);
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_TRUE(server.keys["book"].text == text);
            EXPECT_EQ(server.keys["book"].expires_ms, "90000");
            EXPECT_EQ(server.count("EXEC"), bytes == 1'000 ? 0 : 1) << "a text of one range is one SET";
        }
    });
}

/// The command behind the last one that was answered has been executed. No range is there twice, no end is repeated.
TEST(RedisRangeWriting, AConnectionThatIsCutAtAnyCommandLeavesOneOfTheTwoValues) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(3'200);
        constexpr int commands = 1 + 3 * 2 + 4;
        int unknown = 0, untouched = 0;
        for (int cut = 0; cut <= commands; ++cut) {
            server.keys = {{"book", {"old"}}};
            server.heard.clear();
            server.commands_max = cut;
            auto writing = write_book(s.db, text, small_writes, 1);
            auto const ec = co_await std::move(writing);
            if (!ec) {
                EXPECT_EQ(cut, commands);
                EXPECT_TRUE(server.keys["book"].text == text);
                continue;
            }
            EXPECT_EQ(server.count("EXEC"), ec == redis::error::maybe_executed && cut == commands - 1 ? 1 : 0);
            bool const is_at_the_end = ec == redis::error::maybe_executed;
            EXPECT_TRUE(is_at_the_end || ec == redis::error::value_incomplete) << ec.message();
            EXPECT_TRUE(server.keys["book"].text == (cut == commands - 1 ? text : "old") || is_at_the_end) << cut;
            ++(is_at_the_end ? unknown : untouched);
        }
        EXPECT_EQ(unknown, 3) << "the commands behind MULTI";
        EXPECT_EQ(untouched, commands - 3);
    });
}

TEST(RedisRangeWriting, AValueIsBegunAnewUnderAnotherName) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(3'200);
        server.commands_max = 3;
        auto writing = write_book(s.db, text, small_writes, 3);
        auto const ec = co_await std::move(writing);
        EXPECT_EQ(ec, redis::error::value_incomplete);
        EXPECT_EQ(server.count("SET"), 3);
        EXPECT_EQ(server.keys.size(), 4U) << "each attempt has a name of its own, until its time is over";
        EXPECT_TRUE(server.keys["book"].text == "old");
        for (auto const& [name, kept] : server.keys)
            EXPECT_TRUE(name == "book" || kept.expires_ms == "60000") << name;
        server.commands_max.reset();
        server.taken_names = 2;
        auto last = write_book(s.db, text, small_writes, 1);
        auto const done = co_await std::move(last);
        EXPECT_FALSE(done) << "a name that is taken is no attempt: " << done.message();
        EXPECT_TRUE(server.keys["book"].text == text);
    });
}

TEST(RedisRangeWriting, AKeyBesideThatHasGoneIsNoPartOfTheValue) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(4'200);
        for (int before = 1; before <= 4; ++before) {
            server.keys = {{"book", {"old"}}};
            server.gone_before_append = before;
            auto writing = write_book(s.db, text, small_writes, 1);
            auto const ec = co_await std::move(writing);
            EXPECT_EQ(ec, redis::error::value_incomplete);
            EXPECT_EQ(server.keys.size(), 1U);
            EXPECT_TRUE(server.keys["book"].text == "old");
            server.gone_before_append = before;
            auto again = write_book(s.db, text, small_writes, 2);
            auto const done = co_await std::move(again);
            EXPECT_FALSE(done) << done.message();
            EXPECT_TRUE(server.keys["book"].text == text);
        }
    });
}

TEST(RedisRangeWriting, ARefusalLeavesTheKeyAndNothingBesideIt) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(4'200);
        for (auto const* const name : {"APPEND", "SET"}) {
            server.refused = name;
            server.heard.clear();
            try {
                auto writing = redis::set_in_ranges(s.db, "book", text, small_writes);
                co_await std::move(writing);
                ADD_FAILURE() << "there was memory";
            } catch (system_error const& e) {
                EXPECT_EQ(e.code(), redis::error::out_of_memory);
                EXPECT_TRUE(std::string_view(e.what()).starts_with(std::string("redis ") + name)) << e.what();
            }
            EXPECT_EQ(server.keys.size(), 1U);
            EXPECT_TRUE(server.keys["book"].text == "old");
            EXPECT_EQ(server.count("SET"), 1) << "it is not tried again";
        }
        EXPECT_EQ(s.db.counters().lost, 0U);
    });
}

TEST(RedisRangeWriting, ACallerWhoGivesUpLeavesOneOfTheTwoValues) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(2'500);
        server.pause = 1ms;
        int given_up = 0;
        for (int moment = 0; moment != 30; ++moment) {
            server.keys["book"] = {"old"};
            steady_timer limit(s.context, moment * 700us);
            error_code ec = redis::error::not_sent;
            auto writing = [&]() -> awaitable<void> {
                auto one = write_book(s.db, text);
                ec = co_await std::move(one);
            };
            auto both = when_any(writing(), limit.async_wait());
            auto ended = co_await std::move(both);
            auto resting = s.rest(2s); // It may be under way still, where packets are lost.
            co_await std::move(resting);
            bool const is_new = server.keys["book"].text == text;
            EXPECT_TRUE(is_new || server.keys["book"].text == "old");
            if (ec == fairlead::error::operation_aborted)
                EXPECT_FALSE(is_new) << moment;
            else
                EXPECT_TRUE(!ec || ec == redis::error::maybe_executed) << moment << ": " << ec.message();
            for (auto const& [name, kept] : server.keys)
                EXPECT_TRUE(name == "book" || kept.expires_ms == "60000") << name;
            given_up += ec ? 1 : 0;
            auto other = s.db.get("book");
            auto const value = co_await std::move(other);
            EXPECT_EQ(value, server.keys["book"].text);
        }
        EXPECT_GT(given_up, 5);
        auto last = write_book(s.db, text);
        auto const done = co_await std::move(last);
        EXPECT_FALSE(done) << done.message();
        EXPECT_TRUE(server.keys["book"].text == text);
    });
}

TEST(RedisRangeWriting, ARangeThatTakesLongerThanItsLimitLeavesTheKey) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(2'500);
        server.pause = 3s;
        auto writing = write_book(s.db, text, {.range = 1'000, .timeout = 2s});
        auto const ec = co_await std::move(writing);
        EXPECT_EQ(ec, redis::error::not_sent_in_time) << ec.message();
        EXPECT_EQ(server.count("SET"), 1);
        EXPECT_TRUE(server.keys["book"].text == "old");
    });
}

/// In the middle, between the look at it and the end, and after the last look.
TEST(RedisRangeWriting, AKeyThatComesMeanwhileIsNotReplacedWithNx) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(2'500);
        redis::writing_options const how{.range = 1'000, .expiry = 90s, .condition = redis::options::nx};
        for (auto const* const moment : {"EXISTS", "APPEND", "MULTI", "RENAMENX", "EXEC"}) {
            server.keys.clear();
            server.heard.clear();
            server.before = [&](std::string_view name) {
                if (name == moment)
                    server.keys["book"] = {"another", "7"};
            };
            auto writing = write_book(s.db, text, how, 4, false);
            auto const ec = co_await std::move(writing);
            EXPECT_FALSE(ec) << ec.message();
            EXPECT_EQ(server.keys, (decltype(server.keys){{"book", {"another", "7"}}})) << moment;
            EXPECT_EQ(server.count("SET"), moment == std::string_view("EXISTS") ? 0 : 1);
        }
        server.before = nullptr;
        server.heard.clear();
        auto again = write_book(s.db, text, how, 4, false);
        auto const unmet = co_await std::move(again);
        EXPECT_FALSE(unmet) << unmet.message();
        EXPECT_EQ(server.count("SET"), 0) << "no byte is sent where it is there from the beginning";
        server.keys.clear();
        auto last = write_book(s.db, text, how);
        auto const done = co_await std::move(last);
        EXPECT_FALSE(done) << done.message();
        EXPECT_EQ(server.keys, (decltype(server.keys){{"book", {text, "90000"}}}));
    });
}

TEST(RedisRangeWriting, AKeyThatGoesMeanwhileIsNotMadeAnewWithXx) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(2'500);
        for (bool const keeps : {false, true})
            for (auto const* const moment : {"EXISTS", "APPEND", "MULTI", "RENAME", "EXEC"}) {
                redis::writing_options how{.range = 1'000, .condition = redis::options::xx};
                if (keeps)
                    how.expiry = redis::options::keep_ttl;
                server.keys = {{"book", {"old"}}};
                server.before = [&](std::string_view name) {
                    if (name == moment)
                        server.keys.erase("book");
                };
                auto writing = write_book(s.db, text, how, 4, false);
                auto const ec = co_await std::move(writing);
                EXPECT_FALSE(ec) << ec.message();
                EXPECT_TRUE(server.keys.empty()) << moment;
                server.before = nullptr;
                server.keys = {{"book", {"old", "7"}}};
                auto last = write_book(s.db, text, how);
                auto const done = co_await std::move(last);
                EXPECT_FALSE(done) << done.message();
                EXPECT_EQ(server.keys, (decltype(server.keys){{"book", {text, keeps ? "7" : ""}}}));
            }
    });
}

TEST(RedisRangeWriting, ATimeToExpireIsKeptAsItIsAtTheEnd) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        for (std::size_t const bytes : {std::size_t{900}, std::size_t{2'500}}) {
            auto const text = book_text(bytes);
            redis::writing_options const how{.range = 1'000, .expiry = redis::options::keep_ttl};
            for (auto const& [before, after] :
                 std::vector<std::pair<std::string, std::string>>{{"7", "8"}, {"7", ""}, {"", "8"}, {"7", "none"}}) {
                server.keys = {{"book", {"old", before}}};
                int changes = 1;
                server.before = [&](std::string_view name) {
                    bool const is_last_moment = name == (bytes < 1'000 ? "SET" : "EXEC");
                    if (!is_last_moment || changes-- <= 0)
                        return;
                    if (after == "none")
                        server.keys.erase("book");
                    else
                        server.keys["book"].expires_ms = after;
                };
                auto writing = write_book(s.db, text, how);
                auto const ec = co_await std::move(writing);
                EXPECT_FALSE(ec) << ec.message();
                EXPECT_EQ(server.keys, (decltype(server.keys){{"book", {text, after == "none" ? "" : after}}}));
            }
        }
    });
}

TEST(RedisRangeWriting, AKeyThatChangesBeforeEachEndIsLeftToOthers) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(2'500);
        int n = 0;
        server.before = [&](std::string_view name) {
            if (name == "MULTI")
                server.keys["book"] = {"another", std::to_string(++n)};
        };
        auto writing = write_book(s.db, text, {.range = 1'000, .expiry = redis::options::keep_ttl});
        auto const ec = co_await std::move(writing);
        EXPECT_EQ(ec, redis::error::watched_key_changed) << ec.message();
        EXPECT_EQ(ec, redis::condition::not_executed);
        EXPECT_EQ(n, 16);
        EXPECT_EQ(server.count("SET"), 1) << "the bytes are sent once";
        EXPECT_EQ(server.keys, (decltype(server.keys){{"book", {"another", "16"}}})) << "and the part is not left";
    });
}

TEST(RedisRangeWriting, AConnectionThatIsCutWhileAConditionIsKeptLeavesOneOfTheTwoValues) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        auto const text = book_text(1'500);
        using redis::options::keep_ttl;
        redis::writing_options const all[] = {{.range = 1'000, .condition = redis::options::nx},
                                              {.range = 1'000, .condition = redis::options::xx},
                                              {.range = 1'000, .expiry = keep_ttl, .condition = redis::options::xx}};
        for (auto const& how : all) {
            int unknown = 0;
            decltype(server.keys) before;
            if (how.condition.is_xx())
                before["book"] = {"old", "7"};
            bool is_done = false;
            for (int cut = 0; !is_done; ++cut) {
                server.keys = before;
                server.heard.clear();
                server.commands_max = cut;
                auto writing = write_book(s.db, text, how, 1);
                auto const ec = co_await std::move(writing);
                is_done = !ec;
                bool const is_at_the_end = ec == redis::error::maybe_executed;
                EXPECT_TRUE(is_done || is_at_the_end || ec == redis::error::value_incomplete) << ec.message();
                auto const now = server.lasting();
                bool const is_new = now.contains("book") && now.at("book").text == text;
                EXPECT_TRUE(is_new || now == before) << cut;
                EXPECT_TRUE(!is_new || is_done || is_at_the_end) << cut;
                unknown += is_at_the_end ? 1 : 0;
                EXPECT_LT(cut, 20);
            }
            EXPECT_EQ(unknown, how.condition.is_nx() ? 4 : 3) << "the commands behind MULTI";
            server.commands_max.reset();
        }
    });
}

TEST(RedisRangeWriting, OptionsThatMeanNothingAreRefused) {
    book_server server;
    play_book(server, [&](typed_scene& s) -> awaitable<void> {
        EXPECT_THROW((void)redis::set_in_ranges(s.db, "book", "", {.range = 0}), std::invalid_argument);
        EXPECT_THROW((void)redis::set_in_ranges(s.db, "book", "", {.expiry = -1ms}), std::invalid_argument);
        EXPECT_THROW((void)redis::set_in_ranges(s.db, "book", "", {.expiry = -1h}), std::invalid_argument);
        EXPECT_THROW((void)redis::set_in_ranges(s.db, "book", "", {.kept = 0s}), std::invalid_argument);
        auto writing = write_book(s.db, "", {.range = SIZE_MAX});
        auto const ec = co_await std::move(writing);
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_TRUE(server.keys["book"].text == "");
    });
}

} // namespace
} // namespace fairlead::test
