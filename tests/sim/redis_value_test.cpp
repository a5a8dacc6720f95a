// Values in pieces: replies that are read and arguments that are written, beside calls of others.
#include <gtest/gtest.h>

#include <sim/redis_typed_scene.hpp>

#include <fairlead/coro/when_any.hpp>
#include <fairlead/redis/value_stream.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::test {
namespace {

using namespace redis::options;

std::string pattern(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i != bytes; ++i)
        text[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
    return text;
}

constexpr std::size_t value_bytes = 300'000;

/// Its keys have the values of their own names, but for "film", which is large, and "none". It takes values, too.
struct value_server {
    std::vector<std::string> heard;
    std::string film = pattern(value_bytes);
    bool cuts_films = false;
    int connections = 0;

    script play() {
        return [this](hand& h, int) -> awaitable<void> {
            ++connections;
            auto greeting = h.greet();
            co_await std::move(greeting);
            for (;;) {
                auto reading = h.next();
                auto const words = co_await std::move(reading);
                heard.push_back(words[0] + ' ' + (words.size() > 1 ? words[1] : ""));
                std::string reply = bulk(words.size() > 1 ? words[1] : words[0]);
                bool const is_film = words.size() > 1 && words[1] == "film";
                if (words[0] == "GET" && is_film)
                    reply = bulk(film);
                else if (words[0] == "GET" && words[1] == "none")
                    reply = "_\r\n";
                else if (words[0] == "GET" && words[1] == "list")
                    reply = "-WRONGTYPE no text\r\n";
                else if (words[0] == "SET")
                    reply = words[2] == film ? "+OK\r\n" : "-ERR another value\r\n";
                if (cuts_films && is_film && words[0] == "GET") {
                    auto cut = h.send(reply.substr(0, reply.size() / 2));
                    co_await std::move(cut);
                    co_return;
                }
                auto answering = h.send(std::move(reply));
                co_await std::move(answering);
            }
        };
    }
};

awaitable<std::string> all_of(redis::value_reader& from, std::size_t piece_bytes) {
    std::string all;
    std::vector<char> memory(piece_bytes);
    for (;;) {
        auto reading = from.read_some(memory);
        auto const n = co_await std::move(reading);
        if (n == 0)
            break;
        all.append(memory.data(), n);
    }
    co_return all;
}

/// The error that `call` throws, or none.
template <class T> awaitable<error_code> error_of(awaitable<T> call) {
    try {
        co_await std::move(call);
    } catch (system_error const& e) {
        co_return e.code();
    }
    co_return error_code();
}

TEST(RedisValues, ALargeReplyIsReadInPiecesBesideOtherCalls) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const get = redis::cmd::get("film");
            auto beginning = redis::read_in_pieces(s.db, get);
            auto film = co_await std::move(beginning);
            EXPECT_TRUE(film.has_value());
            EXPECT_EQ(film->size(), value_bytes);
            std::string all;
            for (bool is_over = false; !is_over;) {
                auto reading = film->next();
                auto const piece = co_await std::move(reading);
                EXPECT_LE(piece.size(), 64U * 1024);
                is_over = piece.empty();
                all.append(piece);
                EXPECT_EQ(film->left(), value_bytes - all.size());
                auto other = s.db.get("other");
                auto const value = co_await std::move(other);
                EXPECT_EQ(value, "other");
            }
            EXPECT_EQ(all, server.film);
            server.connections = 0;
            auto again = redis::read_in_pieces(s.db, get); // The connection was given back, and is fit for it.
            auto second = co_await std::move(again);
            auto reading = all_of(*second, 1'000);
            auto const text = co_await std::move(reading);
            EXPECT_EQ(text, server.film);
            EXPECT_EQ(server.connections, 0);
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisValues, SmallOnesMissingOnesAndRefusalsComeAsElsewhere) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const small = redis::cmd::get("small"), none = redis::cmd::get("none"), list = redis::cmd::get("list");
            auto beginning = redis::read_in_pieces(s.db, small);
            auto reader = co_await std::move(beginning);
            EXPECT_TRUE(reader.has_value());
            EXPECT_EQ(reader->size(), 5U);
            auto reading = all_of(*reader, 2);
            auto const text = co_await std::move(reading);
            EXPECT_EQ(text, "small");
            auto looking = redis::read_in_pieces(s.db, none);
            auto const missing = co_await std::move(looking);
            EXPECT_FALSE(missing.has_value());
            auto refused = error_of(redis::read_in_pieces(s.db, list));
            auto const ec = co_await std::move(refused);
            EXPECT_EQ(ec, redis::error::wrong_type);
            auto last = s.db.get("after");
            auto const value = co_await std::move(last);
            EXPECT_EQ(value, "after");
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisValues, ALeaseReadsOneAndGoesOn) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto taking = s.db.acquire();
            auto own = co_await std::move(taking);
            auto const get = redis::cmd::get("film");
            auto beginning = redis::read_in_pieces(own, get);
            auto film = co_await std::move(beginning);
            auto reading = all_of(*film, 10'000);
            auto const text = co_await std::move(reading);
            EXPECT_EQ(text, server.film);
            auto other = own.get("other");
            auto const value = co_await std::move(other);
            EXPECT_EQ(value, "other");
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisValues, AReaderThatIsLeftHalfWayCostsItsConnectionAndNobodyElse) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const get = redis::cmd::get("film");
            {
                auto beginning = redis::read_in_pieces(s.db, get);
                auto film = co_await std::move(beginning);
                auto reading = film->next();
                auto const piece = co_await std::move(reading);
                EXPECT_EQ(piece, std::string_view(server.film).substr(0, piece.size()));
            }
            for (int i = 0; i != 3; ++i) {
                auto beginning = redis::read_in_pieces(s.db, redis::cmd::get("next"));
                auto next = co_await std::move(beginning);
                auto reading = all_of(*next, 100);
                auto const text = co_await std::move(reading);
                EXPECT_EQ(text, "next") << "and nothing of the film";
            }
            auto other = s.db.get("other");
            auto const value = co_await std::move(other);
            EXPECT_EQ(value, "other");
            EXPECT_EQ(s.db.counters().lost, 0U);
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisValues, APieceThatIsAskedToEndIsAskedForAgain) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const get = redis::cmd::get("film");
            auto beginning = redis::read_in_pieces(s.db, get);
            auto film = co_await std::move(beginning);
            std::string all;
            std::vector<char> memory(40'000);
            while (film->left() != 0) {
                steady_timer patience(s.context, 2ms);
                auto both = when_any(film->read_some(memory), patience.async_wait());
                auto ended = co_await std::move(both);
                if (ended.get<0>().has_value())
                    all.append(memory.data(), ended.get<0>().value());
            }
            EXPECT_EQ(all, server.film);
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisValues, AValueThatIsCutSaysSo) {
    value_server server;
    server.cuts_films = true;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const get = redis::cmd::get("film");
            auto beginning = redis::read_in_pieces(s.db, get);
            auto film = co_await std::move(beginning);
            auto reading = all_of(*film, 10'000);
            auto failing = error_of(std::move(reading));
            auto const ec = co_await std::move(failing);
            EXPECT_EQ(ec, redis::error::value_incomplete);
            auto again = film->read_some({});
            co_await std::move(again);
        },
        {.address = "10.0.0.1"}, true);
}

/// Nobody asks for the next piece for a while: neither side takes that for silence.
TEST(RedisValues, ASlowReaderAndASlowSourceAreNoSilence) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const get = redis::cmd::get("film");
            auto beginning = redis::read_in_pieces(s.db, get);
            auto film = co_await std::move(beginning);
            auto resting = s.rest(20s);
            co_await std::move(resting);
            auto reading = all_of(*film, 50'000);
            auto const text = co_await std::move(reading);
            EXPECT_EQ(text, server.film);
            std::size_t sent = 0;
            auto slow = [&]() -> awaitable<std::string_view> {
                auto pausing = s.rest(5s);
                co_await std::move(pausing);
                auto const piece = std::string_view(server.film).substr(sent, 100'000);
                sent += piece.size();
                co_return piece;
            };
            auto const set = redis::cmd::set("film", redis::in_pieces);
            auto writing = redis::write_in_pieces(s.db, set, value_bytes, slow);
            auto const is_set = co_await std::move(writing);
            EXPECT_TRUE(is_set);
        },
        {.address = "10.0.0.1", .health_check_interval = 2s, .request_timeout = 3s}, true);
}

TEST(RedisValues, ALargeArgumentIsWrittenFromARangeAGeneratorOrAFunction) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const set = redis::cmd::set("film", redis::in_pieces, ex(10s));
            std::vector<std::string> pieces;
            for (std::size_t at = 0; at < value_bytes; at += 70'000)
                pieces.push_back(server.film.substr(at, 70'000));
            auto writing = redis::write_in_pieces(s.db, set, value_bytes, pieces);
            auto const of_range = co_await std::move(writing);
            EXPECT_TRUE(of_range);
            auto generate = [](std::string const& film) -> generator<std::string> {
                for (std::size_t at = 0; at < film.size(); at += 999)
                    co_yield film.substr(at, 999);
            };
            auto from_generator = redis::write_in_pieces(s.db, set, value_bytes, generate(server.film));
            auto const of_generator = co_await std::move(from_generator);
            EXPECT_TRUE(of_generator);
            auto taking = s.db.acquire();
            auto own = co_await std::move(taking);
            auto from_range = redis::write_in_pieces(own, set, value_bytes, pieces);
            auto const of_lease = co_await std::move(from_range);
            EXPECT_TRUE(of_lease);
            auto getting = own.get("other");
            auto const other = co_await std::move(getting);
            EXPECT_EQ(other, "other");
            std::vector<std::string> const nothing;
            server.film.clear();
            auto empty = redis::write_in_pieces(own, set, 0, nothing);
            auto const of_nothing = co_await std::move(empty);
            EXPECT_TRUE(of_nothing);
            server.film = pattern(value_bytes);
        },
        {.address = "10.0.0.1"}, true);
}

TEST(RedisValues, AnArgumentThatIsNotCompletedIsNotExecuted) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto const set = redis::cmd::set("film", redis::in_pieces);
            std::vector<std::string> const half{server.film.substr(0, value_bytes / 2)};
            auto few = error_of(redis::write_in_pieces(s.db, set, value_bytes, half));
            auto const too_few = co_await std::move(few);
            EXPECT_EQ(too_few, redis::error::value_incomplete);

            auto throws = []() -> awaitable<std::string_view> {
                throw system_error(make_error_code(fairlead::error::eof), "source");
                co_return std::string_view();
            };
            auto broken = error_of(redis::write_in_pieces(s.db, set, value_bytes, throws));
            auto const of_source = co_await std::move(broken);
            EXPECT_EQ(of_source, fairlead::error::eof);

            auto waits = [&]() -> awaitable<std::string_view> {
                auto resting = s.rest(1h);
                co_await std::move(resting);
                co_return std::string_view();
            };
            steady_timer patience(s.context, 300ms);
            auto both =
                when_any(error_of(redis::write_in_pieces(s.db, set, value_bytes, waits)), patience.async_wait());
            auto ended = co_await std::move(both);
            EXPECT_EQ(ended.index(), 1U);

            bool is_too_long = false;
            std::vector<std::string> const more{server.film + "!"};
            try {
                auto long_one = redis::write_in_pieces(s.db, set, value_bytes, more);
                co_await std::move(long_one);
            } catch (std::length_error const&) {
                is_too_long = true;
            } catch (system_error const&) {
            }
            EXPECT_TRUE(is_too_long);
            bool is_wrong = false;
            try {
                auto const nowhere = redis::cmd::set("film", "value");
                auto wrong = redis::write_in_pieces(s.db, nowhere, value_bytes, half);
                co_await std::move(wrong);
            } catch (std::invalid_argument const&) {
                is_wrong = true;
            }
            EXPECT_TRUE(is_wrong);

            auto other = s.db.get("other");
            auto const value = co_await std::move(other);
            EXPECT_EQ(value, "other");
            EXPECT_EQ(std::ranges::count(server.heard, "SET film"), 0);
            server.heard.clear();
        },
        {.address = "10.0.0.1"}, true);
}

/// Its last bytes may be with the server already.
TEST(RedisValues, AnArgumentThatIsGivenUpAtItsEndIsPerhapsExecuted) {
    value_server server;
    server.film = pattern(200);
    int executed_unseen = 0;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            std::vector<std::string> const pieces{server.film.substr(0, 120), server.film.substr(120)};
            for (auto patience = 10us; patience != 1'000us; patience += 10us) {
                auto const key = "film" + std::to_string(patience.count()); // An earlier one may arrive late.
                auto const set = redis::cmd::set(key, redis::in_pieces);
                steady_timer timer(s.context, patience);
                auto both = when_any(error_of(redis::write_in_pieces(s.db, set, server.film.size(), pieces)),
                                     timer.async_wait());
                auto ended = co_await std::move(both);
                error_code ec = fairlead::error::operation_aborted;
                if (ended.get<0>().has_value())
                    ec = ended.get<0>().value();
                auto resting = s.rest(20ms); // until the server has what is on the way
                co_await std::move(resting);
                if (std::ranges::count(server.heard, "SET " + key) == 0)
                    continue;
                EXPECT_TRUE(!ec || ec == redis::error::maybe_executed) << ec.message();
                executed_unseen += ec == redis::error::maybe_executed;
            }
            server.heard.clear();
        },
        {.address = "10.0.0.1", .check_order = true}, true);
    EXPECT_GT(executed_unseen, 0);
}

/// There is one connection, and the next caller has it at once.
TEST(RedisValues, AnArgumentThatIsNotCompletedCostsItsConnectionAndNobodyElse) {
    value_server server;
    play_typed(server.play(),
               [&](typed_scene& s) -> awaitable<void> {
                   auto const set = redis::cmd::set("film", redis::in_pieces);
                   for (std::size_t const sent : {std::size_t{0}, value_bytes / 2}) {
                       std::vector<std::string> const some{server.film.substr(0, sent)};
                       auto writing = error_of(redis::write_in_pieces(s.db, set, value_bytes, some));
                       auto const ec = co_await std::move(writing);
                       EXPECT_EQ(ec, redis::error::value_incomplete);
                       auto acquiring = s.db.acquire();
                       auto own = co_await std::move(acquiring);
                       auto asking = own.get("other");
                       auto const value = co_await std::move(asking);
                       EXPECT_EQ(value, "other");
                   }
                   server.heard.clear();
               },
               {.address = "10.0.0.1"}, true, {.pause_min = 5ms, .pause_max = 20ms, .leases_max = 1});
}

/// Calls of the same lease meanwhile would get into the middle of the value.
TEST(RedisValues, NothingComesBetweenThePiecesOfAnArgument) {
    value_server server;
    play_typed(
        server.play(),
        [&](typed_scene& s) -> awaitable<void> {
            auto taking = s.db.acquire();
            auto own = co_await std::move(taking);
            std::size_t sent = 0;
            std::optional<error_code> between;
            auto source = [&]() -> awaitable<std::string_view> {
                if (sent != 0 && !between)
                    own.async_exec(redis::cmd::get("between"), [&](error_code ec, auto&&) { between = ec; });
                auto resting = s.rest(1ms);
                co_await std::move(resting);
                auto const piece = std::string_view(server.film).substr(sent, 100'000);
                sent += piece.size();
                co_return piece;
            };
            auto const set = redis::cmd::set("film", redis::in_pieces);
            auto writing = redis::write_in_pieces(own, set, value_bytes, source);
            auto const is_set = co_await std::move(writing);
            EXPECT_TRUE(is_set);
            EXPECT_EQ(between, redis::error::too_many_requests);
        },
        {.address = "10.0.0.1", .check_order = true}, true);
}

} // namespace
} // namespace fairlead::test
