#include <fairlead/resp3/writer.hpp>

#include <gtest/gtest.h>

#include <unit/resp3/parse_in_pieces.hpp>

#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::string_literals;
using namespace fairlead::resp3;
using fairlead::test::event;
using fairlead::test::parse_in_pieces;
using fairlead::test::whole;

/// The arguments of the only command in `wire`.
std::vector<std::string> read_command(std::string const& wire) {
    auto const result = parse_in_pieces(wire, whole(wire));
    EXPECT_FALSE(result.ec) << printable(wire);
    EXPECT_TRUE(result.is_idle) << printable(wire);
    std::vector<std::string> arguments;
    for (auto const& e : result.events)
        if (e.kind == type::blob_string)
            arguments.push_back(e.value);
    EXPECT_EQ(result.events.size(), arguments.size() + 1) << printable(wire);
    EXPECT_EQ(result.events.front().size, arguments.size()) << printable(wire);
    return arguments;
}

template <typename... Arguments> std::vector<std::string> written(Arguments const&... arguments) {
    std::string wire;
    append_command(wire, arguments...);
    return read_command(wire);
}

using texts = std::vector<std::string>;

TEST(Resp3Writer, ACommandIsAnArrayOfBulks) {
    std::string wire = "before";
    append_command(wire, "SET", "key", "value");
    EXPECT_EQ(wire, "before*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
}

TEST(Resp3Writer, TakesEveryKindOfTextAndNumber) {
    std::string_view const view = "view";
    std::string const owned = "owned";
    char const* const pointer = "pointer";
    EXPECT_EQ(written("X", view, owned, pointer, "", 0, -1, 42u, std::int64_t{-7}, static_cast<signed char>(5)),
              (texts{"X", "view", "owned", "pointer", "", "0", "-1", "42", "-7", "5"}));
    EXPECT_EQ(written("X", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max()),
              (texts{"X", "-9223372036854775808", "18446744073709551615"}));
    EXPECT_EQ(written("X", 1.5, 0.1f, -2e300, 0.1), (texts{"X", "1.5", "0.1", "-2e+300", "0.1"}));
    EXPECT_EQ(written("X", std::numeric_limits<double>::infinity()), (texts{"X", "inf"}));
}

template <typename T> constexpr bool accepted = argument<T>;
static_assert(accepted<std::string> && accepted<char const*> && accepted<char[4]> && accepted<long> && accepted<float>);
static_assert(!accepted<bool> && !accepted<char> && !accepted<char32_t> && !accepted<std::nullptr_t> &&
              !accepted<void*>);

TEST(Resp3Writer, LengthsOfEveryNumberOfDigitsAreRight) {
    for (std::size_t n : {0u, 1u, 9u, 10u, 11u, 99u, 100u, 101u, 999u, 1000u, 1023u, 1024u, 4096u, 99999u, 100000u}) {
        std::string const text(n, 'a');
        EXPECT_EQ(written("SET", text), (texts{"SET", text})) << n;
        EXPECT_EQ(written("SET", text, text), (texts{"SET", text, text})) << n;
    }
}

TEST(Resp3Writer, ManyArgumentsFollowEachOther) {
    texts keys;
    for (int i = 0; i != 1000; ++i)
        keys.push_back("key:" + std::to_string(i));
    std::string wire;
    append_command_range(wire, keys, "DEL");
    keys.insert(keys.begin(), "DEL");
    EXPECT_EQ(read_command(wire), keys);
}

TEST(Resp3Writer, RangesOfNumbersPairsAndNothing) {
    std::string wire;
    append_command_range(wire, std::list<int>{1, -2, 3}, "X", "y");
    EXPECT_EQ(read_command(wire), (texts{"X", "y", "1", "-2", "3"}));
    wire.clear();
    append_command_range(wire, std::map<std::string, int>{{"a", 1}, {"b", 2}}, "HSET", "h");
    EXPECT_EQ(read_command(wire), (texts{"HSET", "h", "a", "1", "b", "2"}));
    wire.clear();
    append_command_range(wire, std::vector<std::pair<int, double>>{{1, 0.5}}, "X");
    EXPECT_EQ(read_command(wire), (texts{"X", "1", "0.5"}));
    wire.clear();
    append_command_range(wire, texts{}, "PING");
    EXPECT_EQ(read_command(wire), (texts{"PING"}));
}

TEST(Catalogue, P15_ArgumentsWithCrlfOrNulCannotInjectACommand) {
    std::string const evil = "x\r\n*1\r\n$8\r\nFLUSHALL\r\n\0\r\n"s;
    EXPECT_EQ(written(evil, evil, evil), (texts{evil, evil, evil}));
    std::string wire;
    append_command_range(wire, texts{evil, "\0"s, "\r", "\n", ""}, "DEL");
    EXPECT_EQ(read_command(wire), (texts{"DEL", evil, "\0"s, "\r", "\n", ""}));
}

TEST(Catalogue, P15_CrlfInASimpleReplyCannotEndItEarly) {
    std::string wire;
    append_simple_error(wire, "ERR unknown command 'a\r\n+OK\r\n'");
    EXPECT_EQ(wire, "-ERR unknown command 'a  +OK  '\r\n");
    wire.clear();
    append_simple_string(wire, "a\nb\r");
    EXPECT_EQ(wire, "+a b \r\n");
}

TEST(Resp3Writer, RandomCommandsAreReadBack) {
    std::uint64_t state = 7;
    auto const below = [&state](std::size_t n) {
        state = state * 6364136223846793005 + 1442695040888963407;
        return static_cast<std::size_t>(state >> 33) % n;
    };
    for (int round = 0; round != 300; ++round) {
        texts arguments(1 + below(20));
        for (auto& text : arguments) {
            text.resize(below(4) == 0 ? below(2000) : below(20));
            for (char& c : text)
                c = static_cast<char>(below(256));
        }
        std::string wire;
        append_command_range(wire, std::vector<std::string>(arguments.begin() + 1, arguments.end()), arguments[0]);
        std::string direct;
        std::vector<std::string_view> const views(arguments.begin(), arguments.end());
        impl::append_command_texts(direct, views.data(), views.size());
        ASSERT_EQ(wire, direct);
        ASSERT_EQ(read_command(wire), arguments);
    }
}

void append_one_of_each(std::string& out, version to) {
    append_simple_string(out, "OK");
    append_simple_error(out, "ERR no");
    append_number(out, -5);
    append_number(out, 123456);
    append_blob_string(out, "a\r\nb");
    append_blob_error(out, "SYNTAX bad", to);
    append_null(out, to);
    append_null_array(out, to);
    append_boolean(out, true, to);
    append_boolean(out, false, to);
    append_real(out, 0.1, to);
    append_big_number(out, "-12345678901234567890", to);
    append_verbatim_string(out, "txt", "hi", to);
    append_array_header(out, 1);
    append_map_header(out, 1, to);
    append_number(out, 1);
    append_set_header(out, 1, to);
    append_number(out, 2);
    append_push_header(out, 1, to);
    append_simple_string(out, "p");
}

TEST(Resp3Writer, RepliesToResp3ClientsKeepTheirKind) {
    std::string wire;
    append_one_of_each(wire, version::resp3);
    EXPECT_EQ(wire,
              "+OK\r\n-ERR no\r\n:-5\r\n:123456\r\n$4\r\na\r\nb\r\n!10\r\nSYNTAX bad\r\n_\r\n_\r\n#t\r\n#f\r\n,0.1\r\n"
              "(-12345678901234567890\r\n=6\r\ntxt:hi\r\n*1\r\n%1\r\n:1\r\n~1\r\n:2\r\n>1\r\n+p\r\n");
    EXPECT_FALSE(parse_in_pieces(wire, whole(wire)).ec);
}

TEST(Resp3Writer, RepliesToResp2ClientsHaveOnlyItsKinds) {
    std::string wire;
    append_one_of_each(wire, version::resp2);
    EXPECT_EQ(
        wire,
        "+OK\r\n-ERR no\r\n:-5\r\n:123456\r\n$4\r\na\r\nb\r\n-SYNTAX bad\r\n$-1\r\n*-1\r\n:1\r\n:0\r\n$3\r\n0.1\r\n"
        "$21\r\n-12345678901234567890\r\n$2\r\nhi\r\n*1\r\n*2\r\n:1\r\n*1\r\n:2\r\n*1\r\n+p\r\n");
    EXPECT_FALSE(parse_in_pieces(wire, whole(wire)).ec);
}

TEST(Resp3Writer, RepliesReachTheEndsOfTheirRange) {
    std::string wire;
    append_number(wire, std::numeric_limits<std::int64_t>::min());
    append_number(wire, std::numeric_limits<std::int64_t>::max());
    append_real(wire, std::numeric_limits<double>::lowest(), version::resp3);
    append_real(wire, std::numeric_limits<double>::denorm_min(), version::resp3);
    append_real(wire, -std::numeric_limits<double>::infinity(), version::resp3);
    append_real(wire, -std::numeric_limits<double>::quiet_NaN(), version::resp3);
    EXPECT_EQ(
        wire,
        ":-9223372036854775808\r\n:9223372036854775807\r\n,-1.7976931348623157e+308\r\n,5e-324\r\n,-inf\r\n,nan\r\n");
    EXPECT_FALSE(parse_in_pieces(wire, whole(wire)).ec);
}

TEST(Resp3Writer, AnAttributeDescribesTheValueBehindIt) {
    std::string wire;
    append_attribute_header(wire, 1);
    append_simple_string(wire, "ttl");
    append_number(wire, 5);
    append_simple_string(wire, "OK");
    auto const events = parse_in_pieces(wire, whole(wire)).events;
    ASSERT_EQ(events.size(), 4u);
    EXPECT_TRUE(events[2].in_attribute);
    EXPECT_FALSE(events[3].in_attribute);
    EXPECT_TRUE(events[3].last);
}

} // namespace
