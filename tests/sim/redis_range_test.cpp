// Texts in ranges: a server that answers range by range, connections that are cut, and callers who give up.
#include <gtest/gtest.h>

#include <sim/redis_typed_scene.hpp>

#include <fairlead/coro/when_any.hpp>
#include <fairlead/redis/value_ranges.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::test {
namespace {

constexpr std::size_t film_bytes = 5'000;
constexpr redis::reading_options ranges{.range = 1'000};

std::string film_text(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i != bytes; ++i)
        text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
    return text;
}

/// It has one key, "film". Other keys have the values of their own names.
struct film_server {
    std::string film = film_text(film_bytes);
    bool is_changed = false; ///< so says EXEC
    bool refuses_exec = false;
    std::optional<int> bytes_max{}; ///< of replies after HELLO on a connection that watches; then it is cut
    std::chrono::milliseconds pause{0};
    std::vector<std::string> heard{};
    int connections = 0;

    std::string reply_to(command_words const& words) const {
        auto const& name = words[0];
        if (name == "WATCH" || name == "MULTI" || name == "UNWATCH")
            return "+OK\r\n";
        if (name == "EXEC" && refuses_exec)
            return "-NOPERM no permission to run the 'exec' command\r\n";
        if (name == "EXEC")
            return is_changed ? "_\r\n" : "*0\r\n";
        if (name == "STRLEN")
            return ':' + std::to_string(film.size()) + "\r\n";
        if (name == "EXISTS")
            return ":1\r\n";
        if (name != "GETRANGE")
            return bulk(words.size() > 1 ? words[1] : name);
        auto const first = std::stoul(words[2]), last = std::stoul(words[3]);
        return bulk(first < film.size() ? std::string_view(film).substr(first, last - first + 1) : "");
    }

    script play() {
        return [this](hand& h, int) -> awaitable<void> {
            ++connections;
            auto greeting = h.greet();
            co_await std::move(greeting);
            std::optional<int> left;
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                heard.push_back(words[0]);
                if (words[0] == "WATCH")
                    left = bytes_max;
                auto reply = reply_to(words);
                auto pausing = h.rest(pause);
                co_await std::move(pausing);
                bool const is_cut = left && static_cast<int>(reply.size()) > *left;
                if (is_cut)
                    reply.resize(static_cast<std::size_t>(*left));
                if (left)
                    *left -= static_cast<int>(reply.size());
                auto answering = h.send(std::move(reply));
                co_await std::move(answering);
                if (is_cut)
                    co_return;
            }
        };
    }
    int count(std::string_view name) const { return static_cast<int>(std::ranges::count(heard, name)); }
};

void play_film(film_server& server, typed_body const& body, redis::config_view const& cfg = {.address = "10.0.0.1"},
               redis::client_options const& options = {.pause_min = 5ms, .pause_max = 20ms}) {
    auto begin_anew = [&](typed_scene& s) -> awaitable<void> {
        server = film_server();
        return body(s);
    };
    play_typed(server.play(), begin_anew, cfg, true, options);
}

/// The bytes that come, until the end or an error.
struct part {
    std::string text;
    error_code ec;
};
awaitable<part> rest_of(redis::value_reader& from, std::size_t piece_bytes) {
    part all;
    std::vector<char> memory(piece_bytes);
    try {
        for (;;) {
            auto reading = from.read_some(memory);
            auto const n = co_await std::move(reading);
            if (n == 0)
                break;
            all.text.append(memory.data(), n);
        }
    } catch (system_error const& e) {
        all.ec = e.code();
    }
    co_return all;
}

awaitable<part> read_all(redis::client& db, std::size_t piece_bytes) {
    part all;
    try {
        auto beginning = redis::read_in_ranges(db, "film", ranges);
        auto film = co_await std::move(beginning);
        auto reading = rest_of(*film, piece_bytes);
        all = co_await std::move(reading);
        EXPECT_EQ(film->left() == 0, !all.ec);
    } catch (system_error const& e) {
        all.ec = e.code();
    }
    co_return all;
}

TEST(RedisRanges, EachRangeIsAskedForWhenItIsWanted) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        auto beginning = redis::read_in_ranges(s.db, "film", ranges);
        auto film = co_await std::move(beginning);
        EXPECT_EQ(film->size(), film_bytes);
        std::string all;
        for (int n = 1; film->left() != 0; ++n) {
            auto resting = s.rest(10s);
            co_await std::move(resting);
            EXPECT_EQ(server.count("GETRANGE"), n == 1 ? 1 : n - 1);
            auto reading = film->next();
            auto const piece = co_await std::move(reading);
            EXPECT_EQ(piece.size(), 1'000U);
            all.append(piece);
            EXPECT_EQ(film->left(), film_bytes - all.size());
        }
        EXPECT_EQ(all, server.film);
        EXPECT_EQ(server.count("EXEC"), 1);
        server.connections = 0;
        auto again = read_all(s.db, 300); // on the connection that was given back
        auto const second = co_await std::move(again);
        EXPECT_EQ(second.text, server.film);
        EXPECT_EQ(server.connections, 0);
    });
}

TEST(RedisRanges, AValueOfOneRangeTakesOneRoundTrip) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        server.film = film_text(999);
        auto reading = read_all(s.db, 100);
        auto const film = co_await std::move(reading);
        EXPECT_EQ(film.text, server.film);
        EXPECT_EQ(server.count("EXEC"), 0);
        server.film = film_text(1'000);
        auto exactly = read_all(s.db, 100);
        auto const whole = co_await std::move(exactly);
        EXPECT_EQ(whole.text, server.film);
        EXPECT_EQ(server.count("EXEC"), 1);
    });
}

/// The last range is not handed out before EXEC has been answered.
TEST(RedisRanges, AChangedKeyIsSaidInPlaceOfTheLastRange) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        server.is_changed = true;
        auto reading = read_all(s.db, 10'000);
        auto const film = co_await std::move(reading);
        EXPECT_EQ(film.ec, redis::error::value_changed);
        EXPECT_EQ(film.text, server.film.substr(0, film_bytes - 1'000));
        server.film.resize(1'000);
        auto exactly = read_all(s.db, 10'000);
        auto const one = co_await std::move(exactly);
        EXPECT_EQ(one.ec, redis::error::value_changed);
        EXPECT_EQ(one.text, "");
    });
}

TEST(RedisRanges, AConnectionThatIsCutAtAnyByteGivesNoValue) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        int const all_bytes = static_cast<int>(film_bytes) + 5 * 10 + 2 * 5 + 7 + 5 + 5; // with lines, and +OK of WATCH
        int whole_ones = 0;
        for (int cut = 0; cut <= all_bytes; cut += 1 + cut % 5 * 97) {
            server.bytes_max = cut;
            auto reading = read_all(s.db, 700);
            auto const film = co_await std::move(reading);
            EXPECT_TRUE(server.film.starts_with(film.text));
            if (!film.ec) {
                EXPECT_EQ(film.text, server.film);
                ++whole_ones;
                continue;
            }
            EXPECT_EQ(film.ec, redis::error::value_incomplete) << film.ec.message() << " at " << cut;
            EXPECT_LT(film.text.size(), server.film.size());
        }
        EXPECT_LE(whole_ones, 2);
        server.bytes_max.reset();
        auto last = read_all(s.db, 700);
        auto const film = co_await std::move(last);
        EXPECT_EQ(film.text, server.film);
    });
}

TEST(RedisRanges, AWholeTextIsReadAnewAfterALossOrAChange) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        server.bytes_max = 3'000;
        auto getting = redis::get_in_ranges(s.db, "film", ranges);
        error_code ec;
        try {
            auto const text = co_await std::move(getting);
        } catch (system_error const& e) {
            ec = e.code();
        }
        EXPECT_EQ(ec, redis::error::value_incomplete);
        EXPECT_EQ(server.count("WATCH"), 4);
        server.bytes_max.reset();
        server.is_changed = true;
        try {
            auto changed = redis::get_in_ranges(s.db, "film", ranges, 2);
            auto const text = co_await std::move(changed);
        } catch (system_error const& e) {
            ec = e.code();
        }
        EXPECT_EQ(ec, redis::error::value_changed);
        EXPECT_EQ(server.count("WATCH"), 6);
        server.is_changed = false;
        auto last = redis::get_in_ranges(s.db, "film", ranges, 1);
        auto const text = co_await std::move(last);
        EXPECT_EQ(text, server.film);
    });
}

/// The answer to EXEC comes once. A caller who gives up waiting for it gets it by the next call.
TEST(RedisRanges, APieceThatIsAskedToEndIsAskedForAgain) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        server.pause = 3ms;
        for (auto const patience : {1ms, 2ms, 5ms, 7ms}) {
            auto beginning = redis::read_in_ranges(s.db, "film", ranges);
            auto film = co_await std::move(beginning);
            std::string all;
            std::vector<char> memory(600);
            int given_up = 0;
            while (film->left() != 0) {
                steady_timer limit(s.context, patience);
                auto both = when_any(film->read_some(memory), limit.async_wait());
                auto ended = co_await std::move(both);
                if (ended.get<0>().has_value())
                    all.append(memory.data(), ended.get<0>().value());
                else
                    ++given_up;
            }
            EXPECT_EQ(all, server.film);
            EXPECT_GT(given_up, 0);
        }
        EXPECT_EQ(server.count("EXEC"), 4);
    });
}

TEST(RedisRanges, AReaderThatIsLeftAtAnyMomentMixesUpNothing) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        server.pause = 1ms;
        for (int moment = 0; moment != 30; ++moment) {
            steady_timer limit(s.context, moment * 700us);
            auto both = when_any(read_all(s.db, 400), limit.async_wait());
            auto ended = co_await std::move(both);
            auto other = s.db.get("other");
            auto const value = co_await std::move(other);
            EXPECT_EQ(value, "other");
        }
        auto last = read_all(s.db, 400);
        auto const film = co_await std::move(last);
        EXPECT_EQ(film.text, server.film);
        EXPECT_EQ(s.db.counters().lost, 0U);
    });
}

TEST(RedisRanges, ASlowReaderIsNoSilence) {
    film_server server;
    play_film(server,
              [&](typed_scene& s) -> awaitable<void> {
                  auto beginning = redis::read_in_ranges(s.db, "film", ranges);
                  auto film = co_await std::move(beginning);
                  std::string all;
                  while (film->left() != 0) {
                      auto resting = s.rest(12s);
                      co_await std::move(resting);
                      auto reading = film->next();
                      auto const piece = co_await std::move(reading);
                      all.append(piece);
                  }
                  EXPECT_EQ(all, server.film);
              },
              {.address = "10.0.0.1", .health_check_interval = 2s, .request_timeout = 3s});
}

TEST(RedisRanges, ARefusedEndCostsTheConnectionAndNobodyElse) {
    film_server server;
    play_film(server,
              [&](typed_scene& s) -> awaitable<void> {
                  server.refuses_exec = true;
                  error_code ec;
                  try {
                      auto reading = redis::get_in_ranges(s.db, "film", ranges);
                      co_await std::move(reading);
                  } catch (system_error const& e) {
                      ec = e.code();
                  }
                  EXPECT_EQ(ec, redis::condition::refused_by_server);
                  auto acquiring = s.db.acquire(); // There is one connection.
                  auto own = co_await std::move(acquiring);
                  auto asking = own.get("k");
                  EXPECT_EQ(co_await std::move(asking), "k");
              },
              {.address = "10.0.0.1"}, {.pause_min = 5ms, .pause_max = 20ms, .leases_max = 1});
}

TEST(RedisRanges, EachRequestHasTheLimit) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        auto const limited = redis::reading_options{.range = 1'000, .timeout = 3s};
        auto beginning = redis::read_in_ranges(s.db, "film", limited);
        auto film = co_await std::move(beginning);
        server.pause = 1200ms;
        for (int i = 0; i != 3; ++i) { // 3.6 s by now
            auto reading = film->next();
            auto const piece = co_await std::move(reading);
            EXPECT_EQ(piece.size(), 1'000U);
        }
        server.pause = 20s;
        auto reading = rest_of(*film, 1'000);
        auto const end = co_await std::move(reading);
        EXPECT_EQ(end.ec, redis::error::no_answer_in_time);
        EXPECT_EQ(end.text, "");
        server.pause = 0ms;
        film.reset();
        auto last = read_all(s.db, 400);
        auto const all = co_await std::move(last);
        EXPECT_EQ(all.text, server.film);
    });
}

TEST(RedisRanges, ALeaseOfTheCallerForgetsTheKey) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        auto taking = s.db.acquire();
        auto own = co_await std::move(taking);
        for (std::size_t const bytes : {std::size_t{10}, film_bytes}) {
            server.film = film_text(bytes);
            server.heard.clear();
            {
                auto beginning = redis::read_in_ranges(own, "film", ranges);
                auto film = co_await std::move(beginning);
                EXPECT_EQ(film->size(), bytes);
            }
            auto other = own.get("other");
            auto const value = co_await std::move(other);
            EXPECT_EQ(value, "other");
            EXPECT_EQ(server.count("UNWATCH"), 1) << bytes;
        }
        server.heard.clear();
        auto beginning = redis::read_in_ranges(own, "film", ranges);
        auto film = co_await std::move(beginning);
        auto reading = rest_of(*film, 2'000);
        auto const all = co_await std::move(reading);
        EXPECT_EQ(all.text, server.film);
        film.reset();
        auto other = own.get("other");
        co_await std::move(other);
        EXPECT_EQ(server.count("UNWATCH"), 0) << "EXEC has forgotten it";
    });
}

TEST(RedisRanges, ARangeOfNothingIsRefused) {
    film_server server;
    play_film(server, [&](typed_scene& s) -> awaitable<void> {
        EXPECT_THROW((void)redis::read_in_ranges(s.db, "film", {.range = 0}), std::invalid_argument);
        EXPECT_THROW((void)redis::get_in_ranges(s.db, "film", {.range = 0}), std::invalid_argument);
        auto getting = redis::get_in_ranges(s.db, "film", {.range = SIZE_MAX});
        auto const text = co_await std::move(getting);
        EXPECT_EQ(text, server.film);
    });
}

} // namespace
} // namespace fairlead::test
