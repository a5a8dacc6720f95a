// Replies of a real server that are too large for a program: they come in pieces, or end at a limit.
#include "real_redis.hpp"

#include <fairlead/redis/client.hpp>
#include <fairlead/redis/value_stream.hpp>
#include <support/scale.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fairlead::test {

using R = redis::error;

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t mib = 1024 * 1024;

/// The memory of this process that is there.
std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// A client with limits, and one without.
class RealRedisLargeReplies : public RealRedisWithClient {
public:
    void SetUp() override {
        RealRedisWithClient::SetUp();
        if (IsSkipped())
            return;
        redis::config_view cfg = cfg_;
        cfg.limits.bulk_bytes_max = mib;
        cfg.limits.elements_max = 1'000'000;
        limited.emplace(ctx_, cfg,
                        redis::client_options{
                            .pause_min = 5ms, .pause_max = 50ms, .repeats_max = 0, .on_event = [this](auto const& e) {
                                if (e.kind == redis::event_kind::lost)
                                    why_lost = e.why;
                            }});
    }
    /// The limited client asks for what is too large. It ends, little of it is read, and the client goes on.
    void expect_limit(redis::request const& large, std::function<awaitable<void>(redis::client&)> const& prepare) {
        limited->async_run(detached);
        use([](RealRedisLargeReplies& self, redis::request const& req,
               std::function<awaitable<void>(redis::client&)> const& first) -> awaitable<void> {
            auto preparing = first(*self.db);
            co_await std::move(preparing);
            auto const before = resident_bytes();
            redis::generic_response into;
            error_code ec;
            auto asking = self.limited->async_exec(req, into, redirect_error(ec));
            co_await std::move(asking);
            EXPECT_EQ(ec, R::maybe_executed);
            EXPECT_LT(self.limited->traffic().bytes_read, 2 * mib);
            EXPECT_LT(resident_bytes(), before + 16 * mib);
            auto going_on = self.limited->echo("x");
            auto const x = co_await std::move(going_on);
            EXPECT_EQ(x, "x");
            EXPECT_EQ(self.why_lost, redis::condition::protocol_error) << self.why_lost.message();
            self.limited->cancel();
        }(*this, large, prepare));
    }

    std::optional<redis::client> limited;
    error_code why_lost;
};

/// `bytes` of them, as the server makes them.
awaitable<void> make_large(redis::client& db, std::uint64_t bytes) {
    auto making = db.setrange("large", static_cast<std::int64_t>(bytes) - 1, "x");
    auto const size = co_await std::move(making);
    EXPECT_EQ(static_cast<std::uint64_t>(size), bytes);
}

} // namespace

TEST_F(RealRedisLargeReplies, P22_HalfAGigabyteComesInPiecesInLittleMemory) {
    use([](redis::client& c) -> awaitable<void> {
        std::uint64_t const bytes = scaled(512, 64) * mib;
        auto making = make_large(c, bytes);
        co_await std::move(making);
        auto const before = resident_bytes();
        auto most = before;
        auto const get = redis::cmd::get("large");
        auto beginning = redis::read_in_pieces(c, get);
        auto reader = co_await std::move(beginning);
        EXPECT_EQ(reader->size(), bytes);
        std::uint64_t read = 0;
        char last = 0;
        bool are_others_zero = true;
        for (std::uint64_t looked_at = 0; reader->left() != 0;) {
            auto going_on = reader->next();
            auto const piece = co_await std::move(going_on);
            read += piece.size();
            auto const others = piece.substr(0, piece.size() - (read == bytes));
            are_others_zero = are_others_zero && others.find_first_not_of('\0') == others.npos;
            last = piece.back();
            if (read >= looked_at + 16 * mib) {
                looked_at = read;
                most = std::max(most, resident_bytes());
            }
        }
        EXPECT_EQ(read, bytes);
        EXPECT_TRUE(are_others_zero);
        EXPECT_EQ(last, 'x');
        EXPECT_LT(most, before + 16 * mib);
        auto going_on = c.unlink("large");
        co_await std::move(going_on);
    }(*db));
}

TEST_F(RealRedisLargeReplies, P22_HalfAGigabyteAboveTheLimitIsNotRead) {
    redis::request get;
    get.push("GET", "large");
    expect_limit(get, [](redis::client& c) { return make_large(c, scaled(512, 64) * mib); });
}

TEST_F(RealRedisLargeReplies, P22_TenMillionElementsAboveTheLimitAreNotRead) {
    redis::request range;
    range.push("LRANGE", "list", 0, -1);
    expect_limit(range, [](redis::client& c) -> awaitable<void> {
        constexpr char const* fill = "local t = {} for i = 1, 1000 do t[i] = i end "
                                     "for i = 1, ARGV[1] do redis.call('RPUSH', KEYS[1], unpack(t)) end "
                                     "return redis.call('LLEN', KEYS[1])";
        auto const thousands = scaled(10'000, 2'000);
        auto filling = c.eval<std::uint64_t>(fill, "list", {thousands});
        auto const n = co_await std::move(filling);
        EXPECT_EQ(n, thousands * 1'000);
    });
}

} // namespace fairlead::test
