// Texts in ranges with a real server: what it takes for a change, and what it refuses.
#include "real_redis.hpp"

#include <fairlead/coro/when_any.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/redis/value_ranges.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/token/block.hpp>
#include <support/scale.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;
using namespace redis::options;

constexpr std::size_t range_bytes = 1'000;
constexpr redis::reading_options small_ranges{.range = range_bytes};

class RealRedisRanges : public RealRedisWithClient {};

std::string text_of(std::size_t bytes, unsigned seed = 1) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i != bytes; ++i)
        text[i] = static_cast<char>('a' + (i * seed + i / 241) % 26);
    return text;
}

awaitable<error_code> rest_of(redis::value_reader& from, std::string& into) {
    try {
        while (from.left() != 0) {
            auto reading = from.next();
            auto const piece = co_await std::move(reading);
            into.append(piece);
        }
    } catch (system_error const& e) {
        co_return e.code();
    }
    co_return error_code();
}

awaitable<error_code> failure_of_beginning(redis::client& db, std::string key, std::string& what) {
    try {
        auto beginning = redis::read_in_ranges(db, key, small_ranges);
        auto const reader = co_await std::move(beginning);
        EXPECT_FALSE(reader.has_value()) << "it should not have begun";
    } catch (system_error const& e) {
        what = e.what();
        co_return e.code();
    }
    co_return error_code();
}

awaitable<void> read_in_every_size(redis::client& db) {
    for (std::size_t const bytes : {std::size_t{0}, std::size_t{1}, range_bytes - 1, range_bytes, range_bytes + 1,
                                    2 * range_bytes - 1, 2 * range_bytes, 2 * range_bytes + 1, 77 * range_bytes + 7}) {
        auto const text = text_of(bytes);
        auto setting = db.set("film", text);
        co_await std::move(setting);
        auto beginning = redis::read_in_ranges(db, "film", small_ranges);
        auto film = co_await std::move(beginning);
        EXPECT_TRUE(film.has_value()) << bytes;
        EXPECT_EQ(film->size(), bytes);
        std::string all;
        auto reading = rest_of(*film, all);
        auto const ec = co_await std::move(reading);
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_EQ(all, text) << bytes;
        auto getting = redis::get_in_ranges(db, "film", small_ranges);
        auto const whole = co_await std::move(getting);
        EXPECT_EQ(whole, text) << bytes;
    }
    auto const text = text_of(scaled(16, 2) << 20);
    auto setting = db.set("film", text);
    co_await std::move(setting);
    auto getting = redis::get_in_ranges(db, "film");
    auto const whole = co_await std::move(getting);
    EXPECT_EQ(whole, text);
}

TEST_F(RealRedisRanges, TextsOfAnySizeComeBack) { use(read_in_every_size(*db)); }

awaitable<void> read_what_is_no_text(redis::client& db) {
    auto const lists = redis::cmd::rpush("list", {"a"});
    auto pushing = db.call(lists);
    co_await std::move(pushing);
    std::string what;
    auto none = failure_of_beginning(db, "none", what);
    auto const of_none = co_await std::move(none);
    EXPECT_FALSE(of_none) << of_none.message();
    auto nothing = redis::get_in_ranges(db, "none");
    auto const no_text = co_await std::move(nothing);
    EXPECT_FALSE(no_text.has_value());
    auto list = failure_of_beginning(db, "list", what);
    auto const of_list = co_await std::move(list);
    EXPECT_EQ(of_list, redis::error::wrong_type);
    EXPECT_NE(what.find("redis GETRANGE"), what.npos) << what;
    EXPECT_NE(what.find("WRONGTYPE"), what.npos) << what;
}

TEST_F(RealRedisRanges, NoKeyAndNoTextAreToldFromAnEmptyText) { use(read_what_is_no_text(*db)); }

struct change {
    char const* name;
    std::vector<std::vector<std::string>> commands;
};

/// Each of these is done when the first range has been handed out.
std::vector<change> const& changes() {
    static std::vector<change> const all{
        {"other bytes of the same length", {{"SETRANGE", "film", "9000", "1234"}}},
        {"the same bytes again", {{"SET", "film", text_of(10 * range_bytes)}}},
        {"more bytes", {{"APPEND", "film", "!"}}},
        {"fewer bytes", {{"SET", "film", text_of(3 * range_bytes)}}},
        {"no key", {{"DEL", "film"}}},
        {"no key, and then the same one", {{"DEL", "film"}, {"SET", "film", text_of(10 * range_bytes)}}},
        {"another key in its place", {{"SET", "new", text_of(10 * range_bytes, 3)}, {"RENAME", "new", "film"}}},
        {"another name", {{"RENAME", "film", "old"}}},
        {"a list", {{"DEL", "film"}, {"RPUSH", "film", "a"}}},
        {"an empty database", {{"FLUSHDB"}}},
        {"the end of its time", {{"PEXPIRE", "film", "20"}, {"", "60"}}},
        {"another end of its time", {{"EXPIRE", "film", "100"}}},
        {"an end of its time in the past", {{"PEXPIREAT", "film", "1"}}},
    };
    return all;
}

awaitable<void> apply(redis::client& db, change const& each) {
    for (auto const& words : each.commands) {
        if (words[0].empty()) {
            steady_timer pause(db.get_executor(), std::chrono::milliseconds(std::stoi(words[1])));
            auto waiting = pause.async_wait();
            co_await std::move(waiting);
            continue;
        }
        redis::request changing;
        changing.push_range(words[0], std::span(words).subspan(1));
        auto executing = db.async_exec(changing, redis::ignore);
        co_await std::move(executing);
    }
}

awaitable<void> change_meanwhile(redis::client& db) {
    auto const text = text_of(10 * range_bytes);
    for (auto const& each : changes()) {
        auto setting = db.set("film", text);
        co_await std::move(setting);
        auto beginning = redis::read_in_ranges(db, "film", small_ranges);
        auto film = co_await std::move(beginning);
        auto reading = film->next();
        std::string all(co_await std::move(reading));
        auto changing = apply(db, each);
        co_await std::move(changing);
        auto going_on = rest_of(*film, all);
        auto const ec = co_await std::move(going_on);
        EXPECT_EQ(ec, redis::error::value_changed) << each.name << ": " << ec.message();
        EXPECT_GT(film->left(), 0U) << each.name;
        EXPECT_LT(all.size(), text.size()) << each.name;
        std::string more;
        auto again = rest_of(*film, more);
        auto const later = co_await std::move(again);
        EXPECT_EQ(later, redis::error::value_changed) << each.name;
        EXPECT_EQ(more, "") << each.name;
        auto const clearing = redis::cmd::del("film");
        auto deleting = db.call(clearing);
        co_await std::move(deleting);
    }
}

TEST_F(RealRedisRanges, AKeyThatChangesMeanwhileGivesNoValue) { use(change_meanwhile(*db)); }

/// The embedded server takes the same for a change.
TEST(EmbeddedRanges, AKeyThatChangesMeanwhileGivesNoValue) {
    io_context ctx;
    redis::server server(ctx);
    redis::client db(ctx, {.address = server.address()});
    db.async_run(detached);
    bool is_over = false;
    auto changing = [](redis::client& c, redis::server& s, bool& done) -> awaitable<void> {
        auto body = change_meanwhile(c);
        co_await std::move(body);
        auto again = read_in_every_size(c);
        co_await std::move(again);
        c.cancel();
        s.stop();
        done = true;
    };
    co_spawn(ctx, changing(db, server, is_over), rethrow_to_test{});
    ctx.run();
    EXPECT_TRUE(is_over);
}

/// Nobody writes the key: its time, which it had before, is over. Redis removes it later, when it looks for such keys,
/// or when somebody asks for it.
awaitable<void> expire_meanwhile(redis::client& db, bool is_looked_for) {
    redis::request looking;
    looking.push("DEBUG", "SET-ACTIVE-EXPIRE", is_looked_for ? "1" : "0");
    auto setting_up = db.async_exec(looking, redis::ignore);
    co_await std::move(setting_up);
    for (std::size_t const ranges_read : {std::size_t{1}, std::size_t{9}}) {
        auto const text = text_of(10 * range_bytes);
        auto setting = db.set("film", text, px(300ms));
        co_await std::move(setting);
        auto beginning = redis::read_in_ranges(db, "film", small_ranges);
        auto film = co_await std::move(beginning);
        std::string all;
        while (all.size() != ranges_read * range_bytes) {
            auto reading = film->next();
            auto const piece = co_await std::move(reading);
            all.append(piece);
        }
        steady_timer pause(db.get_executor(), 500ms);
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
        auto going_on = rest_of(*film, all);
        auto const ec = co_await std::move(going_on);
        EXPECT_EQ(ec, redis::error::value_changed) << ec.message();
        EXPECT_EQ(all.size(), ranges_read * range_bytes);
    }
}

TEST_F(RealRedisRanges, ATextWhoseTimeIsOverMeanwhileIsNoValue) {
    use(expire_meanwhile(*db, false));
    ctx_.restart();
    use(expire_meanwhile(*db, true));
}

/// Reading one key, writing others, and reading this one as well.
awaitable<void> change_others_meanwhile(redis::client& db) {
    auto const text = text_of(10 * range_bytes);
    auto setting = db.set("film", text, ex(100s));
    co_await std::move(setting);
    auto beginning = redis::read_in_ranges(db, "film", small_ranges);
    auto film = co_await std::move(beginning);
    auto other = db.set("other", "text");
    co_await std::move(other);
    auto looking = db.get("film");
    auto const same = co_await std::move(looking);
    EXPECT_EQ(same, text);
    std::string all;
    auto reading = rest_of(*film, all);
    auto const ec = co_await std::move(reading);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(all, text);
}

TEST_F(RealRedisRanges, ChangesOfOtherKeysAndReadersMakeNoDifference) { use(change_others_meanwhile(*db)); }

awaitable<void> rewrite(redis::client& db, bool& goes_on, std::chrono::milliseconds pause_after) {
    unsigned n = 0;
    while (goes_on) {
        auto setting = db.set("film", std::string(200 * range_bytes, static_cast<char>('a' + n++ % 26)));
        co_await std::move(setting);
        steady_timer pause(db.get_executor(), pause_after);
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
    }
    goes_on = true;
}

/// No value is ever a mix: its bytes are all the same.
awaitable<void> read_beside_a_writer(redis::client& db) {
    bool goes_on = true;
    co_spawn(db.get_executor(), rewrite(db, goes_on, 20ms), rethrow);
    int whole_ones = 0, changed_ones = 0;
    for (int i = 0; i != 40; ++i) {
        try {
            auto getting = redis::get_in_ranges(db, "film", small_ranges);
            auto const text = co_await std::move(getting);
            if (!text)
                continue;
            EXPECT_EQ(text->find_first_not_of(text->front()), text->npos);
            EXPECT_EQ(text->size(), 200 * range_bytes);
            ++whole_ones;
        } catch (system_error const& e) {
            EXPECT_EQ(e.code(), redis::error::value_changed) << e.what();
            ++changed_ones;
        }
    }
    EXPECT_GT(whole_ones + changed_ones, 0);
    goes_on = false;
    while (!goes_on) {
        steady_timer pause(db.get_executor(), 5ms);
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
    }
}

TEST_F(RealRedisRanges, NoValueIsEverAMixOfTwo) { use(read_beside_a_writer(*db)); }

awaitable<void> change_each_time(redis::client& db) {
    bool goes_on = true;
    auto setting = db.set("film", std::string(200 * range_bytes, 'a'));
    co_await std::move(setting);
    co_spawn(db.get_executor(), rewrite(db, goes_on, 0ms), rethrow);
    try {
        auto getting = redis::get_in_ranges(db, "film", small_ranges, 3);
        auto const text = co_await std::move(getting);
        ADD_FAILURE() << "200 ranges of a key that is written all the time are no value";
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), redis::error::value_changed) << e.what();
    }
    goes_on = false;
    while (!goes_on) {
        steady_timer pause(db.get_executor(), 5ms);
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
    }
}

TEST_F(RealRedisRanges, AKeyThatChangesAllTheTimeIsGivenUp) { use(change_each_time(*db)); }

/// A user may lack any of the commands. Each refusal is told, and no transaction stays open on the connection.
awaitable<void> lack_rights(redis::client& admin, redis::config const& like) {
    auto setting = admin.set("film", text_of(3 * range_bytes));
    co_await std::move(setting);
    for (auto const* const name : {"watch", "getrange", "strlen", "multi", "exec"}) {
        redis::request users;
        users.push("ACL", "SETUSER", "reader", "reset", "on", ">secret", "~*", "+@all", std::string("-") + name);
        auto naming = admin.async_exec(users, redis::ignore);
        co_await std::move(naming);
        auto cfg = like;
        cfg.username = "reader";
        cfg.password = "secret";
        redis::client db(admin.get_executor(), cfg, {.leases_max = 1});
        db.async_run(detached);
        std::string what;
        error_code ec;
        try {
            auto getting = redis::get_in_ranges(db, "film", small_ranges);
            auto const text = co_await std::move(getting);
        } catch (system_error const& e) {
            what = e.what();
            ec = e.code();
        }
        bool const is_exec = std::string_view(name) == "exec"; // The server says EXECABORT, and NOPERM behind it.
        EXPECT_TRUE(ec == redis::error::no_permission || (is_exec && ec == redis::error::exec_aborted))
            << name << ": " << ec.message();
        EXPECT_NE(what.find("permission"), what.npos) << what;
        std::string upper(name);
        for (char& c : upper)
            c = static_cast<char>(c - 'a' + 'A');
        EXPECT_NE(what.find("redis " + upper), what.npos) << what;
        redis::request plain;
        plain.push("GET", "nobody wrote it");
        plain.set_apart();
        std::optional<std::string> other;
        auto executing = db.async_exec(plain, other);
        co_await std::move(executing); // On the pool's only connection. QUEUED would be another reply.
        EXPECT_FALSE(other.has_value()) << name << ": " << other.value_or("");
        db.cancel();
    }
}

TEST_F(RealRedisRanges, AUserWithoutTheRightsIsToldWhichOneIsMissing) { use(lack_rights(*db, cfg_)); }

/// The lease's next transaction depends on nothing that was read in ranges.
awaitable<void> use_own_lease(redis::client& db) {
    for (std::size_t const bytes : {std::size_t{10}, 10 * range_bytes}) {
        for (bool const is_left : {false, true}) {
            auto setting = db.set("film", text_of(bytes));
            co_await std::move(setting);
            auto acquiring = db.acquire();
            auto own = co_await std::move(acquiring);
            {
                auto beginning = redis::read_in_ranges(own, "film", small_ranges);
                auto film = co_await std::move(beginning);
                EXPECT_TRUE(film.has_value());
                std::string all;
                auto reading = rest_of(*film, all);
                if (!is_left) {
                    auto const ec = co_await std::move(reading);
                    EXPECT_FALSE(ec) << ec.message();
                    EXPECT_EQ(all, text_of(bytes));
                }
            }
            auto pinging = own.get("other");
            co_await std::move(pinging);
            auto changing = db.append("film", "!");
            co_await std::move(changing);
            auto executing = own.call(redis::transaction(redis::cmd::incr("n")));
            auto const done = co_await std::move(executing);
            EXPECT_TRUE(done.has_value()) << bytes << (is_left ? " left" : " read");
        }
    }
}

TEST_F(RealRedisRanges, ALeaseOfTheCallerWatchesNothingAfterwards) { use(use_own_lease(*db)); }

awaitable<void> read_many_times(redis::client& db, std::string key, std::atomic<int>& right_ones) {
    for (int i = 0; i != 20; ++i) {
        auto beginning = redis::read_in_ranges(db, key, small_ranges);
        auto film = co_await std::move(beginning);
        std::string all;
        auto reading = rest_of(*film, all);
        auto const ec = co_await std::move(reading);
        right_ones += !ec && all == text_of(20 * range_bytes + 1, static_cast<unsigned>(key.size()));
        if (i % 4 == 0) { // and one that is left with a request under way, or before one
            auto again = redis::read_in_ranges(db, key, small_ranges);
            auto left = co_await std::move(again);
            steady_timer soon(db.get_executor(), std::chrono::microseconds(i * 5));
            std::vector<char> memory(2 * range_bytes);
            auto both = when_any(left->read_some(memory), soon.async_wait());
            co_await std::move(both);
        }
    }
}

/// The readers run on all threads of a pool, and the connections on one of them.
TEST_F(RealRedisRanges, ReadersOfManyThreadsReadAtTheSameTime) {
    thread_pool pool(3);
    redis::client shared(pool.get_executor(), cfg_, {.pause_min = 5ms, .pause_max = 50ms});
    shared.async_run(detached);
    std::atomic<int> right_ones{0}, ended{0};
    std::vector<std::string> const keys{"a", "bb", "ccc", "dddd"};
    for (auto const& key : keys) {
        redis::request setting;
        setting.push("SET", key, text_of(20 * range_bytes + 1, static_cast<unsigned>(key.size())));
        shared.async_exec(setting, redis::ignore, block);
        co_spawn(pool.get_executor(), read_many_times(shared, key, right_ones), [&](std::exception_ptr e) {
            rethrow_to_test{}(e);
            if (++ended == static_cast<int>(keys.size()))
                shared.cancel();
        });
    }
    pool.join();
    EXPECT_EQ(ended, static_cast<int>(keys.size()));
    EXPECT_EQ(right_ones, 20 * static_cast<int>(keys.size()));
}

awaitable<void> write_between(redis::client& db) {
    auto setting = db.set("film", text_of(2 * range_bytes));
    co_await std::move(setting);
    auto beginning = redis::read_in_ranges(db, "film", small_ranges);
    auto film = co_await std::move(beginning);
    std::vector<char> memory(7);
    std::string all;
    for (bool is_over = false; !is_over;) {
        auto reading = film->read_some(memory);
        auto const n = co_await std::move(reading);
        is_over = n == 0;
        all.append(memory.data(), n);
        if (film->left() <= range_bytes / 2 && film->left() != 0) {
            auto changing = db.append("film", "!"); // too late: the last range has come, and with it EXEC
            co_await std::move(changing);
        }
    }
    EXPECT_EQ(all, text_of(2 * range_bytes));
}

TEST_F(RealRedisRanges, ChangesAfterTheLastRangeHasComeAreOfTheNextValue) { use(write_between(*db)); }

} // namespace
} // namespace fairlead::test
