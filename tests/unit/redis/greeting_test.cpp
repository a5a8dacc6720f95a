#include <redis/greeting.hpp>

#include <fairlead/resp3/parser.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {

using redis::impl::greeting;
using action = redis::impl::greeting::action;
using R = redis::error;

namespace {

constexpr std::string_view resp3_hello = "%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n";

/// Answers the commands under way, and returns what is next.
action answer(greeting& s, std::initializer_list<std::string_view> replies) {
    EXPECT_EQ(s.replies(), replies.size());
    std::size_t index = 0;
    for (auto const wire : replies) {
        std::vector<resp3::node> nodes;
        resp3::parser parser;
        parser.parse(wire, [&](resp3::node const& n) { nodes.push_back(n); });
        s.on_reply(index++, {nodes, nullptr});
    }
    return s.next();
}

std::string readable(std::string_view payload) {
    std::string text;
    resp3::parser parser;
    parser.parse(payload, [&](resp3::node const& n) {
        if (n.depth == 0)
            text += text.empty() ? "" : "; ";
        else
            text.append(text.empty() || text.ends_with("; ") ? "" : " ").append(n.value);
    });
    return text;
}

} // namespace

TEST(RedisGreeting, AsksForResp3WithEverythingInOneRoundTrip) {
    redis::config cfg;
    cfg.password = "secret";
    cfg.client_name = "me";
    cfg.database = 3;
    greeting s;
    EXPECT_EQ(s.start(cfg), action::send);
    EXPECT_EQ(readable(s.payload()), "HELLO 3 AUTH default secret SETNAME me; SELECT 3");
    EXPECT_EQ(answer(s, {resp3_hello, "+OK\r\n"}), action::ready);
    EXPECT_EQ(s.protocol(), resp3::version::resp3);
}

TEST(RedisGreeting, FallsBackToResp2WhenHelloIsUnknown) {
    for (std::string_view refusal : {"-ERR unknown command `HELLO`, with args beginning with: `3`\r\n",
                                     "-NOPROTO unsupported protocol version\r\n"}) {
        redis::config cfg;
        cfg.username = "user";
        cfg.password = "secret";
        cfg.client_name = "me";
        cfg.database = 3;
        greeting s;
        s.start(cfg);
        EXPECT_EQ(answer(s, {refusal, "-NOAUTH Authentication required.\r\n"}), action::send);
        EXPECT_EQ(readable(s.payload()), "AUTH user secret; CLIENT SETNAME me; SELECT 3");
        EXPECT_EQ(answer(s, {"+OK\r\n", "+OK\r\n", "+OK\r\n"}), action::ready);
        EXPECT_EQ(s.protocol(), resp3::version::resp2);
    }
}

TEST(RedisGreeting, FallsBackWithoutASecondRoundTripWhenNothingIsConfigured) {
    redis::config cfg;
    greeting s;
    s.start(cfg);
    EXPECT_EQ(answer(s, {"-ERR unknown command 'HELLO'\r\n"}), action::ready);
    EXPECT_EQ(s.protocol(), resp3::version::resp2);
}

TEST(RedisGreeting, Resp2CanBeRefused) {
    redis::config cfg;
    cfg.allow_resp2 = false;
    greeting s;
    s.start(cfg);
    EXPECT_EQ(answer(s, {"-ERR unknown command 'HELLO'\r\n"}), action::failed);
    EXPECT_EQ(s.failure(), R::resp3_required);
}

TEST(Catalogue, P18_RefusedCredentialsEndTheSessionWithTheServersWords) {
    redis::config cfg;
    cfg.password = "wrong";
    cfg.database = 1;
    greeting s;
    s.start(cfg);
    EXPECT_EQ(answer(s, {"-WRONGPASS invalid username-password pair\r\n", "-NOAUTH Authentication required.\r\n"}),
              action::failed);
    EXPECT_EQ(s.failure(), R::auth_refused);
    EXPECT_EQ(s.server_text(), "WRONGPASS invalid username-password pair");

    redis::config none;
    s.start(none);
    EXPECT_EQ(answer(s, {"-NOAUTH HELLO must be called with the client already authenticated\r\n"}), action::failed);
    EXPECT_EQ(s.failure(), R::auth_refused);
}

TEST(Catalogue, P18_RefusedCredentialsOfAnOldServerToo) {
    redis::config cfg;
    cfg.password = "wrong";
    greeting s;
    s.start(cfg);
    ASSERT_EQ(answer(s, {"-ERR unknown command 'HELLO'\r\n"}), action::send);
    EXPECT_EQ(answer(s, {"-ERR invalid password\r\n"}), action::failed);
    EXPECT_EQ(s.failure(), R::auth_refused);
}

TEST(RedisGreeting, OtherRefusalsKeepTheServersWords) {
    redis::config cfg;
    cfg.database = 99;
    greeting s;
    s.start(cfg);
    EXPECT_EQ(answer(s, {"-ERR max number of clients reached\r\n", "+OK\r\n"}), action::failed);
    EXPECT_EQ(s.failure(), R::hello_refused);
    EXPECT_EQ(s.server_text(), "ERR max number of clients reached");
    s.start(cfg);
    EXPECT_EQ(answer(s, {resp3_hello, "-ERR DB index is out of range\r\n"}), action::failed);
    EXPECT_EQ(s.server_text(), "ERR DB index is out of range");
    redis::config plain;
    s.start(plain);
    EXPECT_EQ(answer(s, {"+OK\r\n"}), action::failed) << "no server answers HELLO like that";
}

TEST(RedisErrors, EveryErrorHasASentenceThatSaysWhatToDo) {
    for (int i = 1; i <= static_cast<int>(R::no_reply); ++i) {
        auto const text = make_error_code(static_cast<R>(i)).message();
        EXPECT_EQ(text.find("fairlead.redis error"), text.npos) << i;
        EXPECT_GT(text.size(), 40U) << text;
    }
    EXPECT_EQ(error_code(999, redis::get_error_category()).message(), "fairlead.redis error 999");
}

TEST(RedisErrors, ConditionsGatherThem) {
    EXPECT_TRUE(make_error_code(R::not_sent) == redis::condition::not_executed);
    EXPECT_TRUE(make_error_code(fairlead::error::operation_aborted) == redis::condition::not_executed);
    EXPECT_FALSE(make_error_code(R::maybe_executed) == redis::condition::not_executed);
    EXPECT_FALSE(error_code() == redis::condition::not_executed);
    EXPECT_TRUE(make_error_code(resp3::error::bad_length) == redis::condition::protocol_error);
    EXPECT_TRUE(make_error_code(R::unexpected_reply) == redis::condition::protocol_error);
    EXPECT_FALSE(make_error_code(resp3::error::not_an_integer) == redis::condition::protocol_error);
}

TEST(RedisErrors, NoErrorIsAConditionBecauseItHasItsNumber) {
    // A request that was executed must never count as not executed: a program would send it again.
    std::vector<R> const not_executed = {R::not_sent, R::not_connected, R::too_many_requests, R::refused_command,
                                         R::response_mismatch};
    for (int i = 1; i <= static_cast<int>(R::server_silent); ++i) {
        auto const e = static_cast<R>(i);
        error_code const ec = e;
        EXPECT_EQ(ec == redis::condition::not_executed, std::ranges::count(not_executed, e) != 0) << ec.message();
        EXPECT_EQ(ec == redis::condition::protocol_error, e == R::unexpected_reply) << ec.message();
    }
    for (auto const c : {redis::condition::not_executed, redis::condition::protocol_error})
        EXPECT_GT(redis::make_error_condition(c).message().size(), 40U);
}

} // namespace fairlead::test
