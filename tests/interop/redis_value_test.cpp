// Values in pieces with a real server.
#include "real_redis.hpp"

#include <fairlead/redis/value_stream.hpp>
#include <support/scale.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

class RealRedisValues : public RealRedisWithClient {};

/// Byte number n of the value.
char byte_of(std::uint64_t n) { return static_cast<char>(n * 31 + n / 4096); }

class numbered_pieces {
public:
    numbered_pieces(std::uint64_t bytes, std::size_t at_once) : left_(bytes), at_once_(at_once) {}
    awaitable<std::string_view> operator()() {
        auto const n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, at_once_));
        piece_.resize(n);
        for (auto& each : piece_)
            each = byte_of(at_++);
        left_ -= n;
        co_return piece_;
    }

private:
    std::uint64_t left_, at_ = 0;
    std::size_t at_once_;
    std::string piece_;
};

awaitable<void> there_and_back(redis::client& db, std::uint64_t bytes) {
    auto const set = redis::cmd::set("film", redis::in_pieces, redis::options::ex(100s));
    auto writing = redis::write_in_pieces(db, set, bytes, numbered_pieces(bytes, 100'000));
    auto const is_set = co_await std::move(writing);
    EXPECT_TRUE(is_set);
    auto const append = redis::cmd::append("film", redis::in_pieces);
    std::vector<std::string> const end{"the ", "end"};
    auto appending = redis::write_in_pieces(db, append, 7, end);
    auto const length = co_await std::move(appending);
    EXPECT_EQ(length, static_cast<std::int64_t>(bytes) + 7);
    auto const get = redis::cmd::get("film");
    auto beginning = redis::read_in_pieces(db, get);
    auto film = co_await std::move(beginning);
    EXPECT_EQ(film->size(), bytes + 7);
    std::uint64_t at = 0, wrong = 0;
    std::string last;
    while (film->left() != 0) {
        auto reading = film->next();
        auto const piece = co_await std::move(reading);
        for (char const c : piece) {
            if (at >= bytes)
                last.push_back(c);
            else
                wrong += c != byte_of(at);
            ++at;
        }
        auto other = db.incr("calls");
        co_await std::move(other);
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(last, "the end");
}

TEST_F(RealRedisValues, ALargeValueGoesThereAndComesBackInPieces) { use(there_and_back(*db, scaled(64, 4) << 20)); }

awaitable<void> leave_half_way(redis::client& db) {
    auto setting = db.set("film", std::string(3'000'000, 'x'));
    co_await std::move(setting);
    for (int i = 0; i != 20; ++i) {
        {
            auto beginning = redis::read_in_pieces(db, redis::cmd::get("film"));
            auto film = co_await std::move(beginning);
            auto reading = film->next();
            auto const piece = co_await std::move(reading);
            EXPECT_FALSE(piece.empty());
        }
        std::vector<std::string> const half{"half"};
        bool is_incomplete = false;
        try {
            auto const set = redis::cmd::set("never", redis::in_pieces);
            auto writing = redis::write_in_pieces(db, set, 1'000'000, half);
            co_await std::move(writing);
        } catch (system_error const& e) {
            is_incomplete = e.code() == redis::error::value_incomplete;
        }
        EXPECT_TRUE(is_incomplete);
        auto asking = db.call(redis::make_command<std::string>("ECHO", std::to_string(i)));
        auto const echo = co_await std::move(asking);
        EXPECT_EQ(echo, std::to_string(i));
        auto looking = db.exists("never");
        auto const count = co_await std::move(looking);
        EXPECT_EQ(count, 0);
        auto const again = redis::cmd::getrange("film", 0, 9);
        auto beginning = redis::read_in_pieces(db, again);
        auto ten = co_await std::move(beginning);
        auto reading = ten->next();
        auto const piece = co_await std::move(reading);
        EXPECT_EQ(piece, "xxxxxxxxxx");
    }
}

TEST_F(RealRedisValues, ValuesThatAreLeftHalfWayMixUpNothing) { use(leave_half_way(*db)); }

} // namespace
} // namespace fairlead::test
