#include <fairlead/redis/response.hpp>
#include <fairlead/resp3/parser.hpp>

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fairlead::test {

using redis::result;
using R = redis::error;

namespace {

/// Reads one complete reply into `value`.
template <class T> error_code read(std::string_view wire, T& value) {
    std::vector<resp3::node> nodes;
    resp3::parser parser;
    parser.parse(wire, [&](resp3::node const& n) { nodes.push_back(n); });
    redis::reply_reader in(redis::reply_view{nodes, nullptr});
    return in.read(value);
}
template <class T> T get(std::string_view wire) {
    T value{};
    EXPECT_EQ(read(wire, value), error_code()) << wire;
    return value;
}
template <class T> error_code error_of(std::string_view wire) {
    T value{};
    return read(wire, value);
}

struct user {
    std::string name;
    int age = 0;
};
error_code from_reply(redis::reply_reader& in, user& u) {
    std::map<std::string, std::string> fields;
    if (auto ec = in.read(fields))
        return ec;
    u.name = fields.at("name");
    u.age = std::stoi(fields.at("age"));
    return {};
}

} // namespace

TEST(RedisResponse, ScalarsBecomeWhatIsAskedFor) {
    EXPECT_EQ(get<std::string>("+OK\r\n"), "OK");
    EXPECT_EQ(get<std::string>("$2\r\nhi\r\n"), "hi");
    EXPECT_EQ(get<std::string>(":7\r\n"), "7");
    EXPECT_EQ(get<std::string>("=6\r\ntxt:hi\r\n"), "hi");
    EXPECT_EQ(get<int>(":-7\r\n"), -7);
    EXPECT_EQ(get<unsigned char>("$3\r\n255\r\n"), 255);
    EXPECT_EQ(get<long long>("$2\r\n42\r\n"), 42);
    EXPECT_EQ(get<double>(",2.5\r\n"), 2.5);
    EXPECT_EQ(get<float>("$3\r\n2.5\r\n"), 2.5F);
    EXPECT_TRUE(get<bool>("#t\r\n"));
    EXPECT_FALSE(get<bool>(":0\r\n"));
    EXPECT_EQ(get<std::optional<std::string>>("_\r\n"), std::nullopt);
    EXPECT_EQ(get<std::optional<int>>(":1\r\n"), 1);
}

TEST(RedisResponse, AggregatesBecomeContainers) {
    using text = std::string;
    EXPECT_EQ(get<std::vector<int>>("*2\r\n:1\r\n$1\r\n2\r\n"), (std::vector<int>{1, 2}));
    EXPECT_EQ(get<std::vector<bool>>("*2\r\n:1\r\n:0\r\n"), (std::vector<bool>{true, false}));
    EXPECT_EQ(get<std::deque<text>>("~1\r\n+a\r\n"), std::deque<text>{"a"});
    EXPECT_EQ(get<std::list<text>>("*0\r\n"), std::list<text>{});
    EXPECT_EQ(get<std::set<text>>("~2\r\n+b\r\n+a\r\n"), (std::set<text>{"a", "b"}));
    EXPECT_EQ((get<std::map<text, int>>("%1\r\n+a\r\n:1\r\n")), (std::map<text, int>{{"a", 1}}));
    EXPECT_EQ((get<std::unordered_map<text, int>>("*2\r\n+a\r\n:1\r\n")), (std::unordered_map<text, int>{{"a", 1}}))
        << "RESP2 has no maps";
    EXPECT_EQ((get<std::vector<std::pair<text, int>>>("%1\r\n+a\r\n:1\r\n")),
              (std::vector<std::pair<text, int>>{{"a", 1}}));
    EXPECT_EQ((get<std::vector<std::pair<text, int>>>("*1\r\n*2\r\n+a\r\n:1\r\n")),
              (std::vector<std::pair<text, int>>{{"a", 1}}));
    EXPECT_EQ((get<std::tuple<int, text, std::optional<int>>>("*3\r\n:1\r\n+b\r\n_\r\n")),
              (std::tuple<int, text, std::optional<int>>{1, "b", {}}));
    EXPECT_EQ((get<std::array<int, 2>>("*2\r\n:1\r\n:2\r\n")), (std::array<int, 2>{1, 2}));
    EXPECT_EQ((get<std::map<text, std::vector<std::optional<text>>>>("%1\r\n+k\r\n*2\r\n_\r\n+v\r\n")),
              (std::map<text, std::vector<std::optional<text>>>{{"k", {std::nullopt, "v"}}}));
}

TEST(RedisResponse, WhatDoesNotFitIsAnErrorOfItsOwn) {
    EXPECT_EQ(error_of<std::string>("*0\r\n"), R::incompatible_type);
    EXPECT_EQ(error_of<std::string>("_\r\n"), R::incompatible_type);
    EXPECT_EQ(error_of<int>("+x\r\n"), resp3::error::not_an_integer);
    EXPECT_EQ(error_of<unsigned char>(":256\r\n"), resp3::error::out_of_range);
    EXPECT_EQ(error_of<int>("*1\r\n:1\r\n"), R::incompatible_type);
    EXPECT_EQ(error_of<bool>("+maybe\r\n"), resp3::error::not_a_boolean);
    EXPECT_EQ(error_of<std::vector<int>>(":1\r\n"), R::incompatible_type);
    EXPECT_EQ(error_of<std::vector<int>>("*1\r\n*1\r\n:1\r\n"), R::incompatible_type);
    EXPECT_EQ((error_of<std::map<std::string, int>>("*1\r\n+a\r\n")), R::incompatible_type);
    EXPECT_EQ((error_of<std::tuple<int, int>>("*3\r\n:1\r\n:2\r\n:3\r\n")), R::incompatible_type);
    EXPECT_EQ((error_of<std::tuple<int, int>>("*1\r\n:1\r\n")), R::incompatible_type);
    EXPECT_EQ(error_of<std::string>("-ERR no\r\n"), R::server_error);
    EXPECT_EQ(error_of<std::vector<int>>("-ERR no\r\n"), R::server_error);
    EXPECT_EQ(error_of<redis::ignore_t>("-ERR no\r\n"), R::server_error);
    EXPECT_EQ(error_of<redis::ignore_t>("*1\r\n*1\r\n:1\r\n"), error_code());
}

TEST(RedisResponse, AResultTellsARefusalFromAValue) {
    result<std::string> r;
    EXPECT_FALSE(r);
    EXPECT_THROW(r.value(), system_error);
    ASSERT_EQ(read("-WRONGTYPE it is a list\r\n", r), error_code());
    EXPECT_TRUE(r.has_error());
    EXPECT_EQ(r.error_text(), "WRONGTYPE it is a list");
    try {
        r.value();
        FAIL();
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), R::wrong_type);
        EXPECT_TRUE(std::string_view(e.what()).starts_with("WRONGTYPE it is a list: ")) << e.what();
    }
    ASSERT_EQ(read("+OK\r\n", r), error_code());
    EXPECT_EQ(*r, "OK");
    EXPECT_EQ(r->size(), 2U);
    EXPECT_EQ(r.value_or("none"), "OK");
    EXPECT_EQ(read("*0\r\n", r), R::incompatible_type);
    EXPECT_FALSE(r.has_value());
    EXPECT_FALSE(r.has_error());
}

namespace {

std::string what_value_throws(result<std::string>& r, R expected) {
    try {
        r.value();
    } catch (system_error const& e) {
        EXPECT_EQ(e.code(), expected);
        return e.what();
    }
    return "nothing";
}

} // namespace

TEST(RedisResponse, Y5_ValueOfARefusalAdvisesNothingThatTheProgramDoesAlready) {
    result<std::string> r;
    ASSERT_EQ(read("-ERR no\r\n", r), error_code());
    EXPECT_EQ(what_value_throws(r, R::server_error).find("read its reply as result"), std::string::npos);
    EXPECT_NE(make_error_code(R::server_error).message().find("result<T>"), std::string::npos)
        << "who has no result learns that there is one";
    ASSERT_EQ(read("!8\r\nERR \x1b[2J\r\n", r), error_code());
    EXPECT_TRUE(what_value_throws(r, R::server_error).starts_with("ERR \\x1b[2J: ")) << "fit for a log";
}

TEST(RedisResponse, Y5_ValueOfNoReplyPointsToTheErrorOfTheRequest) {
    result<std::string> r;
    EXPECT_NE(what_value_throws(r, R::no_reply).find("its own error says why"), std::string::npos);
    ASSERT_EQ(read("*0\r\n", r), R::incompatible_type);
    EXPECT_NE(what_value_throws(r, R::incompatible_type).find("another type"), std::string::npos);
    r.reset();
    what_value_throws(r, R::no_reply);
}

TEST(RedisResponse, TypesOfTheProgramAreReadByTheirFunction) {
    auto const u = get<user>("%2\r\n+name\r\n+Ada\r\n+age\r\n$2\r\n36\r\n");
    EXPECT_EQ(u.name, "Ada");
    EXPECT_EQ(u.age, 36);
    EXPECT_EQ(get<std::vector<user>>("*1\r\n*4\r\n+name\r\n+Ada\r\n+age\r\n$2\r\n36\r\n")[0].age, 36);
    user broken;
    EXPECT_THROW((void)read("%1\r\n+name\r\n+Ada\r\n", broken), std::out_of_range);
    EXPECT_EQ(read(":1\r\n", broken), R::incompatible_type);
}

TEST(GenericResponse, KeepsEverythingAndDropsTheOlderHalf) {
    redis::generic_response r;
    std::vector<resp3::node> nodes;
    resp3::parser parser;
    for (int i = 0; i != 5; ++i) {
        nodes.clear();
        std::string const wire = "*2\r\n+m\r\n:" + std::to_string(i) + "\r\n";
        parser.parse(wire, [&](resp3::node const& n) { nodes.push_back(n); });
        r.append(nodes);
    }
    EXPECT_EQ(r.messages(), 5U);
    EXPECT_EQ(r.size(), 15U);
    EXPECT_EQ(r[2].value, "0");
    EXPECT_TRUE(r[2].last);
    EXPECT_EQ(r.drop_older_half(), 3U);
    EXPECT_EQ(r.messages(), 2U);
    std::string numbers;
    for (auto const n : r)
        if (n.kind == resp3::type::number)
            numbers += n.value;
    EXPECT_EQ(numbers, "34");
    EXPECT_EQ(r.drop_older_half(), 1U);
    EXPECT_EQ(r.drop_older_half(), 1U);
    EXPECT_TRUE(r.empty());
    EXPECT_EQ(r.drop_older_half(), 0U);
}

} // namespace fairlead::test
