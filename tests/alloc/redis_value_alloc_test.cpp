// Values of any size pass in bounded memory: what is allocated meanwhile does not depend on their size.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/redis/value_ranges.hpp>
#include <fairlead/redis/value_stream.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <alloc/failing_new.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::test {

namespace {

using namespace std::chrono_literals;

std::uint64_t film_bytes() { return scaled(1024, 16) << 20; }
std::uint64_t clip_bytes() { return film_bytes() / 16; }
constexpr std::uint64_t film_bytes_at_once = 48 * 1024;
// The buffers of the connection and of the reader, and its first frames. The system's own do not count.
constexpr std::size_t film_memory_max = std::size_t{2} << 20;

std::array<char, film_bytes_at_once> const& film_chunk() {
    static auto const chunk = [] {
        std::array<char, film_bytes_at_once> all{};
        std::ranges::fill(all, 'f');
        return all;
    }();
    return chunk;
}

/// Gives a film to whoever asks for one, and takes one. It holds no more than a chunk.
awaitable<void> answer_with_films(local::stream_protocol::socket s) {
    char some[4096];
    for (;;) {
        auto reading = s.async_read_some(buffer(some), as_tuple);
        auto const [ec, n] = co_await std::move(reading);
        if (ec)
            co_return;
        std::string_view const command(some, n);
        std::string reply = "%1\r\n+proto\r\n:3\r\n";
        std::uint64_t left = 0;
        if (command.find("\r\nGET\r\n") != command.npos) {
            left = command.find("\r\nclip\r\n") != command.npos ? clip_bytes() : film_bytes();
            reply = "$" + std::to_string(left) + "\r\n";
        } else if (auto const at = command.rfind("\r\n$"); command.find("\r\nSET\r\n") != command.npos) {
            auto const value_at = command.find("\r\n", at + 3) + 2;
            auto unread = film_bytes() + 2 - (n - value_at);
            while (unread != 0) {
                static char sink[256 * 1024];
                auto taking = s.async_read_some(buffer(sink), as_tuple);
                auto const [failed, taken] = co_await std::move(taking);
                if (failed)
                    co_return;
                unread -= taken;
            }
            reply = "+OK\r\n";
        }
        auto writing = async_write(s, buffer(reply), as_tuple);
        co_await std::move(writing);
        bool const is_film = left != 0;
        while (left != 0) {
            auto const bytes = static_cast<std::size_t>(std::min(left, film_bytes_at_once));
            auto going_on = async_write(s, buffer(film_chunk().data(), bytes), as_tuple);
            auto const [failed, written] = co_await std::move(going_on);
            if (failed)
                co_return;
            left -= written;
        }
        if (is_film) {
            auto ending = async_write(s, buffer(std::string_view("\r\n")), as_tuple);
            co_await std::move(ending);
        }
    }
}

awaitable<any_stream> connect_to_films(redis::address_parts) {
    auto const executor = co_await this_coro::executor;
    local::stream_protocol::socket here(executor), there(executor);
    connect_pair(here, there);
    co_spawn(executor, answer_with_films(std::move(there)), detached);
    co_return any_stream(std::move(here));
}

awaitable<void> read_film(redis::client& db, std::uint64_t& bytes) {
    auto const get = redis::cmd::get("film");
    auto beginning = redis::read_in_pieces(db, get);
    auto film = co_await std::move(beginning);
    for (;;) {
        auto reading = film->next();
        auto const piece = co_await std::move(reading);
        if (piece.empty())
            break;
        bytes += piece.size();
        EXPECT_EQ(piece.front(), 'f');
        EXPECT_EQ(piece.back(), 'f');
    }
    db.cancel();
}

awaitable<void> write_film(redis::client& db, std::uint64_t& bytes) {
    auto next = [&bytes]() -> awaitable<std::string_view> {
        auto const n = static_cast<std::size_t>(std::min(film_bytes() - bytes, film_bytes_at_once));
        bytes += n;
        co_return std::string_view(film_chunk().data(), n);
    };
    auto const set = redis::cmd::set("film", redis::in_pieces);
    auto writing = redis::write_in_pieces(db, set, film_bytes(), next);
    auto const is_set = co_await std::move(writing);
    EXPECT_TRUE(is_set);
    db.cancel();
}

constexpr std::uint64_t film_range_bytes = 32 * 1024;

/// Gives a film range by range to a reader that asks so. Each request comes by one read.
awaitable<void> answer_with_ranges(local::stream_protocol::socket s) {
    char some[4096];
    std::string reply;
    for (;;) {
        auto reading = s.async_read_some(buffer(some), as_tuple);
        auto const [ec, n] = co_await std::move(reading);
        if (ec)
            co_return;
        std::string_view const request(some, n);
        auto const has = [request](std::string_view name) { return request.find(name) != request.npos; };
        reply.clear();
        if (has("HELLO"))
            reply = "%1\r\n+proto\r\n:3\r\n";
        if (has("WATCH"))
            reply += "+OK\r\n";
        if (has("GETRANGE")) {
            reply += "$32768\r\n";
            reply.append(film_chunk().data(), film_range_bytes);
            reply += "\r\n";
        }
        if (has("STRLEN"))
            reply += ':' + std::to_string(film_bytes()) + "\r\n";
        if (has("EXEC"))
            reply += "+OK\r\n*0\r\n";
        auto writing = async_write(s, buffer(reply), as_tuple);
        co_await std::move(writing);
    }
}

awaitable<any_stream> connect_to_ranges(redis::address_parts) {
    auto const executor = co_await this_coro::executor;
    local::stream_protocol::socket here(executor), there(executor);
    connect_pair(here, there);
    co_spawn(executor, answer_with_ranges(std::move(there)), detached);
    co_return any_stream(std::move(here));
}

awaitable<void> read_film_in_ranges(redis::client& db, std::uint64_t& bytes) {
    auto beginning = redis::read_in_ranges(db, "film", {.range = film_range_bytes});
    auto film = co_await std::move(beginning);
    while (film->left() != 0) {
        auto reading = film->next();
        auto const piece = co_await std::move(reading);
        bytes += piece.size();
        EXPECT_EQ(piece.front(), 'f');
        EXPECT_EQ(piece.back(), 'f');
    }
    db.cancel();
}

template <class Body, class Connect> void expect_little_memory_for(Body body, Connect connect) {
    (void)film_chunk();
    io_context ctx(1);
    redis::connector const how(connect);
    redis::config cfg;
    cfg.limits.message_bytes_max = cfg.limits.bulk_bytes_max = std::uint64_t{2} << 30;
    redis::client db(ctx, cfg, how);
    db.async_run(detached);
    std::uint64_t bytes = 0;
    auto const before = allocated_bytes.load();
    co_spawn(ctx, body(db, bytes), rethrow);
    ctx.run_for(120s);
    EXPECT_EQ(bytes, film_bytes());
    if (!new_is_replaced())
        return;
    EXPECT_LE(allocated_bytes.load() - before, film_memory_max) << "of " << film_bytes() << " bytes";
}

} // namespace

TEST(RedisValueMemory, AReplyOfAGibibyteIsReadInLittleMemory) {
    expect_little_memory_for(&read_film, &connect_to_films);
}
TEST(RedisValueMemory, ATextIsReadIntoTheMemoryOfItsCaller) {
    std::string space(clip_bytes(), '.');
    auto const read_into_space = [&space](redis::client& db, std::uint64_t& bytes) -> awaitable<void> {
        auto reading = db.get_into("clip", space);
        auto const size = co_await std::move(reading);
        EXPECT_EQ(size, space.size());
        EXPECT_EQ(space.find_first_not_of('f'), space.npos);
        bytes = film_bytes();
        db.cancel();
    };
    expect_little_memory_for(read_into_space, &connect_to_films);
}
TEST(RedisValueMemory, AnArgumentOfAGibibyteIsWrittenInLittleMemory) {
    expect_little_memory_for(&write_film, &connect_to_films);
}
TEST(RedisValueMemory, ATextOfAGibibyteIsReadInRangesInLittleMemory) {
    expect_little_memory_for(&read_film_in_ranges, &connect_to_ranges);
}

} // namespace fairlead::test
