#include "multiplexer_bench.hpp"

#include <redis/call_observer.hpp>

#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/cmd/strings.hpp>
#include <fairlead/redis/reply_memory.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace fairlead::test {

namespace cmd = redis::cmd;

namespace {

constexpr std::size_t large_bytes = 100'000;

/// A response with memory of its own.
struct space_for_text {
    std::string bytes = std::string(large_bytes, '.');
    redis::reply_memory memory{std::span<char>(bytes)};

    redis::impl::response_ref refer() noexcept { return memory.refer(); }
};

std::string text_of(std::size_t bytes) {
    std::string text(bytes, ' ');
    for (std::size_t i = 0; i != bytes; ++i)
        text[i] = static_cast<char>('a' + i % 23);
    return text;
}

std::string reply_with(std::string const& text) {
    std::string reply;
    resp3::append_blob_string(reply, text);
    return reply;
}

} // namespace

TEST(RedisReplyMemory, HoldsATextThatFitsExactlyAndNoLongerOne) {
    char space[5] = {};
    redis::reply_memory value(space);
    EXPECT_FALSE(value.has_value());
    EXPECT_EQ(deliver_replies(value, "$5\r\nhello\r\n"), error_code());
    EXPECT_TRUE(value.has_value());
    EXPECT_EQ(value.text(), "hello");
    EXPECT_EQ(value.text().data(), space);

    EXPECT_EQ(deliver_replies(value, "$6\r\nhello!\r\n"), redis::error::memory_too_small);
    EXPECT_FALSE(value.has_value());
    EXPECT_EQ(value.size(), 6U);
    EXPECT_EQ(value.text(), "");
    EXPECT_EQ(std::string(space, 5), "hello") << "nothing was written";

    EXPECT_EQ(deliver_replies(value, "$0\r\n\r\n"), error_code());
    EXPECT_TRUE(value.has_value());
    EXPECT_EQ(deliver_replies(value, "_\r\n"), error_code());
    EXPECT_FALSE(value.has_value());
    EXPECT_EQ(value.size(), 0U);
    EXPECT_EQ(deliver_replies(value, "*0\r\n"), redis::error::incompatible_type);
    EXPECT_EQ(deliver_replies(value, "-WRONGTYPE no\r\n"), redis::error::wrong_type);
}

TEST(RedisReplyMemory, TakesBytes) {
    std::array<std::byte, 2> space{};
    redis::reply_memory value(std::span<std::byte>{space});
    EXPECT_EQ(deliver_replies(value, "$2\r\nAB\r\n"), error_code());
    EXPECT_EQ(space[1], std::byte{'B'});
}

TEST(RedisReplyMemory, GetIntoGivesTheSizeOfTheValue) {
    char space[5];
    auto const get = cmd::get_into("k", space);
    EXPECT_EQ(words_of(get), "GET k");
    EXPECT_EQ(result_of(get, "$2\r\nhi\r\n"), 2U);
    EXPECT_EQ(std::string_view(space, 2), "hi");
    EXPECT_EQ(result_of(get, "$-1\r\n"), std::nullopt);
    EXPECT_EQ(error_of_result(get, "$6\r\nhello!\r\n"), redis::error::memory_too_small);
}

TEST(RedisReplyMemory, HasALargeTextAsItComes) {
    auto const text = text_of(large_bytes);
    auto const reply = reply_with(text);
    for (std::size_t const cut : {20UL, 40'000UL, large_bytes, reply.size() - 1}) {
        multiplexer_bench bench;
        call<space_for_text> get("GET", "a");
        call<std::string> next("GET", "b");
        bench.add(get);
        bench.add(next);
        bench.flush();
        ASSERT_EQ(bench.feed(reply.substr(0, cut)), error_code());
        auto const header = reply.size() - 2 - large_bytes;
        auto const arrived = std::min(cut - header, large_bytes);
        EXPECT_EQ(get.resp.bytes.substr(0, arrived), text.substr(0, arrived));
        EXPECT_EQ(get.completions, 0);
        ASSERT_EQ(bench.feed(reply.substr(cut) + "$3\r\nend\r\n"), error_code());
        EXPECT_TRUE(get.done());
        EXPECT_EQ(get.error(), error_code());
        EXPECT_EQ(get.resp.memory.text(), text);
        EXPECT_EQ(get.op.count, large_bytes);
        EXPECT_EQ(next.resp, "end");
    }
}

TEST(RedisReplyMemory, OfACallThatWasGivenUpIsLeftAlone) {
    auto const reply = reply_with(text_of(large_bytes));
    for (std::size_t const cut : {10UL, 50'000UL, reply.size() - 1}) {
        multiplexer_bench bench;
        call<space_for_text> get("GET", "a");
        call<std::string> next("GET", "b");
        bench.add(get);
        bench.add(next);
        bench.flush();
        ASSERT_EQ(bench.feed(reply.substr(0, cut)), error_code());
        EXPECT_TRUE(bench.cancel(get));
        get.resp.bytes.assign(large_bytes, '-');
        ASSERT_EQ(bench.feed(reply.substr(cut) + "$3\r\nend\r\n"), error_code());
        EXPECT_EQ(get.resp.bytes, std::string(large_bytes, '-')) << "cut at " << cut;
        EXPECT_EQ(next.resp, "end");
    }
}

TEST(RedisReplyMemory, ThatIsTooSmallForALargeTextTellsItsSize) {
    multiplexer_bench bench;
    call<space_for_text> get("GET", "a");
    call<std::string> next("GET", "b");
    bench.add(get);
    bench.add(next);
    bench.flush();
    auto const wire = reply_with(text_of(large_bytes + 1)) + "$3\r\nend\r\n";
    ASSERT_EQ(bench.feed_in_pieces(wire, 30'000), error_code());
    EXPECT_EQ(get.error(), redis::error::memory_too_small);
    EXPECT_EQ(get.resp.memory.size(), large_bytes + 1);
    EXPECT_EQ(get.resp.bytes, std::string(large_bytes, '.')) << "nothing was written";
    EXPECT_EQ(next.resp, "end");
}

TEST(RedisReplyMemory, HoldsNeitherALargeRefusalNorALargeAttribute) {
    multiplexer_bench bench;
    call<space_for_text> refused("GET", "a");
    call<space_for_text> get("GET", "b");
    bench.add(refused);
    bench.add(get);
    bench.flush();
    auto const other = text_of(40'000);
    auto const wire = "!40000\r\n" + other + "\r\n|1\r\n+a\r\n" + reply_with(other) + "$2\r\nhi\r\n";
    ASSERT_EQ(bench.feed_in_pieces(wire, 30'000), error_code());
    EXPECT_EQ(refused.error(), redis::error::server_error);
    EXPECT_EQ(refused.resp.bytes, std::string(large_bytes, '.'));
    EXPECT_EQ(get.error(), error_code());
    EXPECT_EQ(get.resp.bytes, "hi" + std::string(large_bytes - 2, '.'));
}

TEST(RedisReplyMemory, OfACallThatIsWatchedHasALargeTextAsItComes) {
    io_context context{1};
    auto const statistics = std::make_shared<redis::call_statistics>();
    redis::impl::call_observer const observer(statistics, {}, {});
    multiplexer_bench bench;
    call<space_for_text> get("GET", "a");
    bench.add(get);
    observer.begin(get.op, context.as_loop());
    bench.flush();
    auto const text = text_of(large_bytes);
    auto const reply = reply_with(text);
    ASSERT_EQ(bench.feed(reply.substr(0, 50'000)), error_code());
    EXPECT_EQ(get.resp.bytes.substr(0, 40'000), text.substr(0, 40'000));
    ASSERT_EQ(bench.feed(reply.substr(50'000)), error_code());
    observer.end(get.op);
    EXPECT_EQ(get.resp.memory.text(), text);
    ASSERT_EQ(statistics->commands().size(), 1U);
    EXPECT_EQ(statistics->commands()[0].bytes_received, large_bytes);
}

TEST(RedisReplyMemory, IsNotTakenForALargeReplyThatNobodyWaitsFor) {
    multiplexer_bench bench;
    call<std::string> given_up("GET", "a");
    call<std::string> next("GET", "b");
    bench.add(given_up);
    bench.add(next);
    bench.flush();
    EXPECT_TRUE(bench.cancel(given_up));
    ASSERT_EQ(bench.feed_in_pieces(reply_with(text_of(large_bytes)) + reply_with(text_of(70'000)), 9'999),
              error_code());
    EXPECT_EQ(next.resp, text_of(70'000));
}

} // namespace fairlead::test
