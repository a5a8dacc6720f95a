// Texts that are written in ranges to a real server.
#include "real_redis.hpp"

#include <fairlead/coro/when_any.hpp>
#include <fairlead/redis/value_ranges.hpp>
#include <fairlead/redis_server/server.hpp>
#include <support/scale.hpp>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using namespace redis::options;

constexpr redis::writing_options thousands{.range = 1'000};

class RealRedisRangeWriting : public RealRedisWithClient {};

std::string book_of(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i != bytes; ++i)
        text[i] = static_cast<char>(i * 31 + i / 239); // any byte
    return text;
}

awaitable<std::size_t> count_keys(redis::client& db) {
    redis::request counting;
    counting.push("DBSIZE");
    std::size_t n = 0;
    auto executing = db.async_exec(counting, n);
    co_await std::move(executing);
    co_return n;
}

awaitable<void> empty(redis::client& db) {
    redis::request flushing;
    flushing.push("FLUSHALL");
    auto executing = db.async_exec(flushing, redis::ignore);
    co_await std::move(executing);
}

awaitable<void> write_in_every_size(redis::client& db) {
    auto flushing = empty(db);
    co_await std::move(flushing);
    for (auto const* const key : {"book", "{shelf:1}book", "a}b", "two words\r\n"}) {
        for (std::size_t const bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1'000}, std::size_t{1'001},
                                        std::size_t{2'000}, std::size_t{77'007}}) {
            auto const text = book_of(bytes);
            auto const list = redis::cmd::rpush(key, {"a list is replaced, too"});
            auto const old = redis::cmd::del(key);
            auto deleting = db.call(old);
            co_await std::move(deleting);
            auto pushing = db.call(list);
            co_await std::move(pushing);
            auto const how = redis::writing_options{.range = 1'000, .expiry = bytes % 2 == 0 ? 0s : 100s};
            auto writing = redis::set_in_ranges(db, key, text, how);
            co_await std::move(writing);
            auto getting = db.get(key);
            auto const value = co_await std::move(getting);
            EXPECT_TRUE(value == text) << key << ' ' << bytes;
            redis::request asking;
            asking.push("PTTL", key);
            long left_ms = 0;
            auto executing = db.async_exec(asking, left_ms);
            co_await std::move(executing);
            if (bytes % 2 == 0)
                EXPECT_EQ(left_ms, -1);
            else
                EXPECT_TRUE(left_ms > 50'000 && left_ms <= 100'000) << left_ms;
        }
    }
    auto counting = count_keys(db);
    auto const keys = co_await std::move(counting);
    EXPECT_EQ(keys, 4U);
    auto const text = book_of(scaled(16, 2) << 20);
    auto writing = redis::set_in_ranges(db, "book", text);
    co_await std::move(writing);
    auto getting = redis::get_in_ranges(db, "book");
    auto const whole = co_await std::move(getting);
    EXPECT_TRUE(whole == text);
}

TEST_F(RealRedisRangeWriting, TextsOfAnySizeAreThere) { use(write_in_every_size(*db)); }

void with_embedded(awaitable<void> (*body)(redis::client& db)) {
    io_context ctx;
    redis::server server(ctx);
    redis::client db(ctx, {.address = server.address()});
    db.async_run(detached);
    bool is_over = false;
    auto running = [](redis::client& c, redis::server& s, auto* run, bool& done) -> awaitable<void> {
        auto work = run(c);
        co_await std::move(work);
        c.cancel();
        s.stop();
        done = true;
    };
    co_spawn(ctx, running(db, server, body, is_over), rethrow_to_test{});
    ctx.run();
    EXPECT_TRUE(is_over);
}

TEST(EmbeddedRangeWriting, TextsOfAnySizeAreThere) { with_embedded(&write_in_every_size); }

struct value_and_time {
    std::optional<std::string> value{};
    long left_ms = 0;
};

awaitable<value_and_time> look_at(redis::client& db, std::string key) {
    redis::request asking;
    asking.push("GET", key);
    asking.push("PTTL", key);
    redis::response<std::optional<std::string>, long> replies;
    auto executing = db.async_exec(asking, replies);
    co_await std::move(executing);
    co_return value_and_time{std::get<0>(replies).value(), std::get<1>(replies).value()};
}

/// A key that is not there, that stays, and that expires.
awaitable<void> begin_with(redis::client& db, std::string key, std::string_view state) {
    auto deleting = db.del(key);
    co_await std::move(deleting);
    if (state == "none")
        co_return;
    auto pushing = db.rpush(key, {"a list is replaced, too"});
    co_await std::move(pushing);
    if (state == "stays")
        co_return;
    auto limiting = db.expire(key, 1000s);
    co_await std::move(limiting);
}

/// SET and the writing in ranges each have a key that begins alike.
awaitable<void> write_beside_set(redis::client& db, std::string_view state, redis::writing_options how,
                                 std::vector<std::string> words, std::string text) {
    auto beginning = begin_with(db, "by:set", state);
    co_await std::move(beginning);
    auto beginning_too = begin_with(db, "by:ranges", state);
    co_await std::move(beginning_too);
    words.insert(words.begin(), {"by:set", text});
    redis::request setting;
    setting.push_range("SET", words);
    std::optional<std::string> done;
    auto executing = db.async_exec(setting, done);
    co_await std::move(executing);
    auto writing = redis::set_in_ranges(db, "by:ranges", text, how);
    auto const is_written = co_await std::move(writing);
    EXPECT_EQ(is_written, done.has_value());
    if (!done) {
        auto typing = db.call(redis::pipeline(redis::cmd::type("by:set"), redis::cmd::type("by:ranges")));
        auto const [expected, type] = co_await std::move(typing);
        EXPECT_EQ(type.value(), expected.value());
        co_return;
    }
    auto looking = look_at(db, "by:set");
    auto const expected = co_await std::move(looking);
    auto looking_too = look_at(db, "by:ranges");
    auto const seen = co_await std::move(looking_too);
    EXPECT_TRUE(expected.value == text);
    EXPECT_TRUE(seen.value == text);
    EXPECT_EQ(seen.left_ms < 0, expected.left_ms < 0);
    EXPECT_LT(std::abs(seen.left_ms - expected.left_ms), 60'000);
}

/// The same as SET with the same options says and does, of one range and of several.
awaitable<void> write_with_options(redis::client& db) {
    auto flushing = empty(db);
    co_await std::move(flushing);
    redis::write_condition const conditions[] = {{}, nx, xx};
    redis::write_expiry const expiries[] = {{}, 100s, keep_ttl};
    for (auto const* const state : {"none", "stays", "expires"})
        for (std::size_t const bytes : {std::size_t{900}, std::size_t{3'500}})
            for (auto const& condition : conditions)
                for (auto const& expiry : expiries) {
                    std::vector<std::string> words;
                    if (condition)
                        words.push_back(condition.is_nx() ? "NX" : "XX");
                    if (expiry.keeps())
                        words.push_back("KEEPTTL");
                    else if (expiry.after() != 0ms)
                        words.insert(words.end(), {"EX", "100"});
                    std::string what = state;
                    for (auto const& word : words)
                        what.append(" ").append(word);
                    SCOPED_TRACE(what.append(" ").append(std::to_string(bytes)));
                    redis::writing_options const how{.range = 1'000, .expiry = expiry, .condition = condition};
                    auto writing = write_beside_set(db, state, how, words, book_of(bytes));
                    co_await std::move(writing);
                }
    auto deleting = db.del("by:set", "by:ranges");
    co_await std::move(deleting);
    auto counting = count_keys(db);
    auto const left = co_await std::move(counting);
    EXPECT_EQ(left, 0U) << "no part is left";
}

TEST_F(RealRedisRangeWriting, OptionsMeanWhatTheyMeanForSet) { use(write_with_options(*db)); }

TEST(EmbeddedRangeWriting, OptionsMeanWhatTheyMeanForSet) { with_embedded(&write_with_options); }

/// Of many writers of one key with nx one is told that it has written, and its text is there.
awaitable<void> write_one_of_many(redis::client& db) {
    auto flushing = empty(db);
    co_await std::move(flushing);
    for (auto rounds = scaled(20, 5); rounds != 0; --rounds) {
        std::string written_by;
        auto write = [&](char letter) -> awaitable<void> {
            auto const text = std::string(20'000, letter);
            auto writing = redis::set_in_ranges(db, "book", text, {.range = 1'000, .condition = nx});
            if (co_await std::move(writing))
                written_by += letter;
        };
        auto all = when_all(write('a'), write('b'), write('c'), write('d'));
        co_await std::move(all);
        EXPECT_EQ(written_by.size(), 1U);
        auto taking = db.getdel("book");
        auto const text = co_await std::move(taking);
        EXPECT_TRUE(text == std::string(20'000, written_by.front()));
    }
    auto counting = count_keys(db);
    auto const left = co_await std::move(counting);
    EXPECT_EQ(left, 0U);
}

TEST_F(RealRedisRangeWriting, OneOfManyWritersMakesAKey) { use(write_one_of_many(*db)); }

/// The time is changed while the text is on its way.
awaitable<void> keep_a_time_that_changes(redis::client& db) {
    auto flushing = empty(db);
    co_await std::move(flushing);
    auto const text = book_of(50'000);
    auto change = [&]() -> awaitable<void> {
        for (int n = 0; n != 20; ++n) {
            auto changing = db.expire("book", std::chrono::seconds(1'000 + n));
            co_await std::move(changing);
        }
    };
    auto write = [&]() -> awaitable<void> {
        auto writing = redis::set_in_ranges(db, "book", text, {.range = 1'000, .expiry = keep_ttl});
        EXPECT_TRUE(co_await std::move(writing));
    };
    for (auto rounds = scaled(10, 3); rounds != 0; --rounds) {
        auto setting = db.set("book", "old", ex(100s));
        co_await std::move(setting);
        auto both = when_all(change(), write());
        co_await std::move(both);
        auto looking = look_at(db, "book");
        auto const seen = co_await std::move(looking);
        EXPECT_TRUE(seen.value == text);
        EXPECT_GT(seen.left_ms, 900'000) << "the time of the beginning, or none";
    }
}

TEST_F(RealRedisRangeWriting, ATimeThatChangesMeanwhileIsKept) { use(keep_a_time_that_changes(*db)); }

awaitable<void> write_for_ever(redis::client& db, bool& goes_on, std::string texts) {
    for (std::size_t n = 0;; ++n) {
        if (!goes_on)
            co_return;
        auto const text = std::string(100'000, texts[n % texts.size()]);
        auto writing = redis::set_in_ranges(db, "book", text, thousands);
        co_await std::move(writing);
    }
}

/// Each of the four writers writes texts of one letter.
awaitable<void> read_beside_writers(redis::client& db) {
    auto flushing = empty(db);
    co_await std::move(flushing);
    bool goes_on = true;
    auto first = db.set("book", std::string(100'000, 'z'));
    co_await std::move(first);
    auto reading = [&]() -> awaitable<void> {
        for (auto left = scaled(300, 30); left != 0; --left) {
            auto getting = db.get("book");
            auto const text = co_await std::move(getting);
            EXPECT_EQ(text->size(), 100'000U);
            EXPECT_EQ(text->find_first_not_of(text->front()), text->npos);
        }
        goes_on = false;
    };
    auto all = when_all(write_for_ever(db, goes_on, "ab"), write_for_ever(db, goes_on, "cd"),
                        write_for_ever(db, goes_on, "e"), write_for_ever(db, goes_on, "f"), reading());
    co_await std::move(all);
    auto counting = count_keys(db);
    auto const keys = co_await std::move(counting);
    EXPECT_EQ(keys, 1U);
}

TEST_F(RealRedisRangeWriting, NobodySeesAPartOfAText) { use(read_beside_writers(*db)); }

/// A writer that gives up leaves a key that goes by itself.
awaitable<void> give_up(redis::client& db) {
    auto flushing = empty(db);
    co_await std::move(flushing);
    auto const text = book_of(4 << 20);
    auto const how = redis::writing_options{.range = 1'000, .kept = 1s};
    steady_timer limit(db.get_executor(), 20ms);
    auto both = when_any(redis::set_in_ranges(db, "book", text, how), limit.async_wait());
    auto ended = co_await std::move(both);
    auto counting = count_keys(db);
    auto const left = co_await std::move(counting);
    EXPECT_EQ(left, 1U);
    auto getting = db.get("book");
    auto const value = co_await std::move(getting);
    EXPECT_FALSE(value.has_value());
    for (std::size_t keys = 1; keys != 0;) {
        steady_timer pause(db.get_executor(), 50ms);
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
        auto looking = count_keys(db);
        keys = co_await std::move(looking);
    }
}

TEST_F(RealRedisRangeWriting, APartThatWasLeftGoesByItself) { use(give_up(*db)); }

/// A user may lack any of the commands. The key is as it was, and no transaction stays open on the connection.
awaitable<void> lack_rights_to_write(redis::client& admin, redis::config const& like) {
    auto setting = admin.set("book", "old", ex(1000s));
    co_await std::move(setting);
    auto const text = book_of(3'500);
    struct right {
        char const* name;
        redis::writing_options how = thousands;
    };
    redis::writing_options const with_xx{.range = 1'000, .condition = xx};
    redis::writing_options const with_time{.range = 1'000, .expiry = keep_ttl};
    right const rights[] = {{"set"},
                            {"append"},
                            {"pexpire"},
                            {"persist"},
                            {"multi"},
                            {"rename"},
                            {"exec"},
                            {"exists", with_xx},
                            {"watch", with_xx},
                            {"pexpiretime", with_time},
                            {"pexpireat", with_time}};
    for (auto const& [name, how] : rights) {
        redis::request users;
        users.push("ACL", "SETUSER", "writer", "reset", "on", ">secret", "~*", "+@all", std::string("-") + name);
        auto naming = admin.async_exec(users, redis::ignore);
        co_await std::move(naming);
        auto cfg = like;
        cfg.username = "writer";
        cfg.password = "secret";
        redis::client db(admin.get_executor(), cfg, {.leases_max = 1});
        db.async_run(detached);
        error_code ec;
        std::string what;
        try {
            auto writing = redis::set_in_ranges(db, "book", text, how);
            co_await std::move(writing);
        } catch (system_error const& e) {
            ec = e.code();
            what = e.what();
        }
        EXPECT_EQ(ec, redis::condition::refused_by_server) << name << ": " << ec.message();
        EXPECT_NE(what.find("permission"), what.npos) << what;
        redis::request plain;
        plain.push("GET", "book");
        plain.set_apart();
        std::optional<std::string> value;
        auto executing = db.async_exec(plain, value);
        co_await std::move(executing); // On the pool's only connection. QUEUED would be another reply.
        EXPECT_TRUE(value == "old") << name;
        db.cancel();
    }
}

TEST_F(RealRedisRangeWriting, AUserWithoutTheRightsLeavesTheKey) { use(lack_rights_to_write(*db, cfg_)); }

} // namespace
} // namespace fairlead::test
