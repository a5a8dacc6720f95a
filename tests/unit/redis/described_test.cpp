#include <fairlead/redis/cmd/hashes.hpp>
#include <fairlead/redis/cmd/streams.hpp>
#include <fairlead/redis/described.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {
namespace described_types {

enum class color : unsigned char { red, blue };
inline std::string_view to_argument(color c) { return c == color::red ? "red" : "blue"; }
inline error_code from_reply(redis::reply_reader& in, color& c) {
    std::string name;
    if (auto ec = in.read(name))
        return ec;
    c = name == "red" ? color::red : color::blue;
    return name == "red" || name == "blue" ? error_code() : redis::error::incompatible_type;
}

struct item {
    std::string name;
    int count = -1;
    double price = 0;
    bool on_sale = false;
    std::chrono::milliseconds delay{};
    std::optional<long> rank;
    color paint = color::red;
    std::optional<color> lining;
    std::array<std::byte, 2> code{};
    std::vector<std::byte> picture;
    int not_described = 5;
};

struct point {
    int x = 0, y = 0;
    friend bool operator==(point const&, point const&) = default;
};

} // namespace described_types
} // namespace fairlead::test

template <> struct fairlead::redis::described<fairlead::test::described_types::item> {
    using item = fairlead::test::described_types::item;
    static constexpr auto members =
        std::tuple(field("name", &item::name), field("count", &item::count, 1), field("price", &item::price),
                   field("on_sale", &item::on_sale), field("delay", &item::delay), field("rank", &item::rank),
                   field("paint", &item::paint), field("lining", &item::lining), field("code", &item::code),
                   field("picture", &item::picture));
};
template <> struct fairlead::redis::described<fairlead::test::described_types::point> {
    using point = fairlead::test::described_types::point;
    static constexpr auto members = std::tuple(field("x", &point::x), field("y", &point::y));
};

namespace fairlead::test {

namespace cmd = redis::cmd;
using described_types::color;
using described_types::item;
using described_types::point;

namespace {

std::string bulk_of(std::string_view text) {
    return '$' + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
/// A map of RESP3, or the flat array of RESP2.
std::string hash_reply(std::vector<std::string_view> const& words, bool is_map) {
    std::string wire = is_map ? '%' + std::to_string(words.size() / 2) : '*' + std::to_string(words.size());
    wire += "\r\n";
    for (auto const each : words)
        wire += bulk_of(each);
    return wire;
}

} // namespace

TEST(RedisDescribed, AStructIsWrittenAsAFieldForEachMember) {
    item i;
    i.name = "lamp";
    i.count = 3;
    i.price = 0.5;
    i.on_sale = true;
    i.delay = std::chrono::seconds(2);
    i.paint = color::blue;
    i.code = {std::byte{'A'}, std::byte{'B'}};
    i.picture = {std::byte{'x'}};
    EXPECT_EQ(words_of(cmd::hset("k", i)),
              "HSET k name lamp count 3 price 0.5 on_sale 1 delay 2000 paint blue code AB picture x");
    i.rank = 7;
    i.lining = color::red;
    i.on_sale = false;
    EXPECT_EQ(words_of(cmd::hset("k", i)), "HSET k name lamp count 3 price 0.5 on_sale 0 delay 2000 rank 7 paint blue "
                                           "lining red code AB picture x");
    EXPECT_EQ(words_of(cmd::xadd("s", "*", point{1, 2})), "XADD s * x 1 y 2");
}

TEST(RedisDescribed, AHashIsReadByTheNamesOfItsFields) {
    for (bool const is_map : {true, false}) {
        auto const wire = hash_reply({"delay", "1500", "unknown", "7",    "paint", "blue", "picture", "xyz",
                                      "name",  "lamp", "price",   "2.5",  "rank",  "3",    "on_sale", "1",
                                      "code",  "AB",   "lining",  "blue", "count", "4"},
                                     is_map);
        auto const i = result_of(cmd::hgetall<item>("k"), wire);
        EXPECT_EQ(i.name, "lamp");
        EXPECT_EQ(i.count, 4);
        EXPECT_EQ(i.price, 2.5);
        EXPECT_TRUE(i.on_sale);
        EXPECT_EQ(i.delay, std::chrono::milliseconds(1500));
        EXPECT_EQ(i.rank, 3);
        EXPECT_EQ(i.paint, color::blue);
        EXPECT_EQ(i.lining, color::blue);
        EXPECT_EQ(i.code[1], std::byte{'B'});
        EXPECT_EQ(i.picture.size(), 3U);
        EXPECT_EQ(i.not_described, 5);
    }
}

TEST(RedisDescribed, AMissingFieldIsADefaultNothingOrAnError) {
    std::vector<std::string_view> const least{"name", "a",     "price", "1",    "on_sale", "0",       "delay",
                                              "1",    "paint", "red",   "code", "AB",      "picture", ""};
    auto const i = result_of(cmd::hgetall<item>("k"), hash_reply(least, true));
    EXPECT_EQ(i.count, 1) << "the default of the description";
    EXPECT_EQ(i.rank, std::nullopt);
    EXPECT_EQ(error_of_result(cmd::hgetall<point>("k"), hash_reply({"x", "1"}, true)), redis::error::missing_field);
    EXPECT_EQ(error_of_result(cmd::hgetall<point>("k"), "%0\r\n"), redis::error::missing_field);
    auto const none = result_of(cmd::hgetall<std::optional<point>>("k"), "%0\r\n");
    EXPECT_EQ(none, std::nullopt);
    auto const none2 = result_of(cmd::hgetall<std::optional<point>>("k"), "*0\r\n");
    EXPECT_EQ(none2, std::nullopt);
    auto const some = result_of(cmd::hgetall<std::optional<point>>("k"), hash_reply({"x", "1", "y", "2"}, true));
    EXPECT_EQ(some, (point{1, 2}));
    EXPECT_EQ(error_of_result(cmd::hgetall<std::optional<point>>("k"), hash_reply({"x", "1"}, true)),
              redis::error::missing_field);
}

TEST(RedisDescribed, FieldsOfTheStructAloneCanBeAskedFor) {
    auto const get = cmd::hmget<point>("k");
    EXPECT_EQ(words_of(get), "HMGET k x y");
    EXPECT_EQ(result_of(get, "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"), (point{1, 2}));
    EXPECT_EQ(result_of(get, "*2\r\n_\r\n_\r\n"), std::nullopt);
    EXPECT_EQ(result_of(get, "*2\r\n$-1\r\n$-1\r\n"), std::nullopt);
    EXPECT_EQ(error_of_result(get, "*2\r\n$1\r\n1\r\n_\r\n"), redis::error::missing_field);
    EXPECT_EQ(error_of_result(get, "*1\r\n$1\r\n1\r\n"), redis::error::incompatible_type);
}

TEST(RedisDescribed, AValueThatDoesNotFitItsMemberIsAnError) {
    EXPECT_TRUE(error_of_result(cmd::hgetall<point>("k"), hash_reply({"x", "one", "y", "2"}, true)));
    EXPECT_EQ(error_of_result(cmd::hgetall<point>("k"), ":7\r\n"), redis::error::incompatible_type);
    EXPECT_EQ(error_of_result(cmd::hgetall<item>("k"), hash_reply({"paint", "green"}, true)),
              redis::error::incompatible_type);
    EXPECT_EQ(error_of_result(cmd::hgetall<item>("k"), hash_reply({"code", "ABC"}, true)),
              redis::error::incompatible_type);
    EXPECT_EQ(error_of_result(cmd::hgetall<point>("k"), "-WRONGTYPE no\r\n"), redis::error::wrong_type);
}

TEST(RedisDescribed, StructsStandInContainers) {
    auto const two = hash_reply({"x", "1", "y", "2"}, true) + hash_reply({"x", "3", "y", "4"}, true);
    EXPECT_EQ(result_of(redis::make_command<std::vector<point>>("M", "k"), "*2\r\n" + two),
              (std::vector<point>{{1, 2}, {3, 4}}));
}

} // namespace fairlead::test
