#include <fairlead/resp3/parser.hpp>

#include <gtest/gtest.h>

#include <support/scale.hpp>
#include <unit/resp3/parse_in_pieces.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace fairlead::test;
using namespace std::string_literals;
using fairlead::error_code;
using fairlead::resp3::error;
using fairlead::resp3::limits;
using fairlead::resp3::node;
using fairlead::resp3::parser;
using fairlead::resp3::printable;
using fairlead::resp3::status;
using fairlead::resp3::type;
using fairlead::resp3::unknown_size;

limits with_streams() {
    limits l;
    l.streamed_types = true;
    return l;
}

parse_result parse(std::string_view input, limits const& bounds = {}) {
    return parse_in_pieces(input, whole(input), bounds);
}

/// Every type in every place that the parser distinguishes, each entry complete messages.
std::vector<std::string> corpus() {
    std::string const long_text(300, 'x');
    std::string const longer_text(1200, 'y');
    return {
        "+OK\r\n",
        "+\r\n",
        "+exactly15chars.\r\n+exactly 16 chars\r\n+and 17 characters\r\n",
        "+" + long_text + "\r\n",
        "-ERR unknown command\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        ":0\r\n:-1\r\n:+7\r\n:12345678\r\n:1234567890123456\r\n:12345678901234567\r\n",
        ":9223372036854775807\r\n:-9223372036854775808\r\n:007\r\n:-0\r\n",
        "$0\r\n\r\n$5\r\nhello\r\n$2\r\n\r\n\r\n",
        "$300\r\n" + long_text + "\r\n",
        "$1200\r\n" + longer_text + "\r\n$0003\r\nabc\r\n",
        "$16\r\n\0\r\n$5\r\nfake\r\n+OK\r\n"s,
        "$-1\r\n*-1\r\n_\r\n",
        "!21\r\nSYNTAX invalid syntax\r\n!0\r\n\r\n",
        "=15\r\ntxt:Some string\r\n=4\r\nmkd:\r\n",
        "#t\r\n#f\r\n",
        ",1.23\r\n,10\r\n,-0\r\n,+1e10\r\n,1.5E-300\r\n,inf\r\n,-inf\r\n,nan\r\n,-nan\r\n,3."
        "1415926535897932384626433\r\n",
        "(3492890328409238509324850943850943825024385\r\n(-1\r\n(+0\r\n",
        "*0\r\n%0\r\n~0\r\n>0\r\n",
        "*3\r\n:1\r\n:2\r\n:3\r\n",
        "*2\r\n*3\r\n:1\r\n$5\r\nhello\r\n:2\r\n#f\r\n",
        "%2\r\n+first\r\n:1\r\n+second\r\n:2\r\n",
        "~3\r\n+orange\r\n+apple\r\n#t\r\n",
        ">3\r\n+message\r\n+channel\r\n$7\r\npayload\r\n",
        ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$12\r\nhello\r\nworld\r\n>1\r\n$0\r\n\r\n>4\r\n$8\r\npmessage\r\n$2\r\nn*"
        "\r\n$4\r\n"
        "news\r\n$300\r\n" +
            long_text + "\r\n",
        ">2\r\n$4\r\nnews\r\n$1200\r\n" + longer_text +
            "\r\n>2\r\n$4\r\nnews\r\n:1\r\n>5\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n>01\r\n$"
            "1\r\na\r\n",
        "*2\r\n>2\r\n$1\r\na\r\n$1\r\nb\r\n:1\r\n|1\r\n+a\r\n+b\r\n>1\r\n$1\r\nx\r\n",
        ">3\r\n+message\r\n+somechannel\r\n+this is the message\r\n$9\r\nGet-Reply\r\n",
        "|1\r\n+key-popularity\r\n%2\r\n$1\r\na\r\n,0.1923\r\n$1\r\nb\r\n,0.0012\r\n*2\r\n:2039123\r\n:9543892\r\n",
        "*3\r\n:1\r\n:2\r\n|1\r\n+ttl\r\n:3600\r\n:3\r\n",
        "|0\r\n+OK\r\n*1\r\n|0\r\n:1\r\n",
        "|1\r\n+a\r\n|1\r\n+b\r\n+c\r\n+d\r\n+value\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n",
        "*2\r\n*0\r\n%1\r\n~0\r\n*-1\r\n+next\r\n",
        "*1\r\n>2\r\n+subscribe\r\n:1\r\n", // SUBSCRIBE inside of MULTI: its push is an element of EXEC's array
        "%1\r\n%1\r\n+a\r\n+b\r\n%1\r\n+c\r\n*2\r\n_\r\n,1\r\n",
        "=304\r\nmkd:" + long_text + "\r\n%1\r\n=10\r\ntxt:first\n\r\n=6\r\ntxt:\r\n\r\n",
        "!300\r\n" + long_text + "\r\n*2\r\n=1204\r\n...:" + longer_text + "\r\n$4\r\ntxt:\r\n",
        "|1\r\n=7\r\ntxt:key\r\n$300\r\n" + long_text + "\r\n=8\r\ntxt:mark\r\n",
        ">2\r\n=11\r\ntxt:message\r\n~2\r\n*-1\r\n$-1\r\n",
    };
}

std::vector<std::string> streamed_corpus() {
    return {
        "$?\r\n;4\r\nHell\r\n;6\r\no worl\r\n;1\r\nd\r\n;0\r\n",
        "$?\r\n;0\r\n+OK\r\n",
        "*?\r\n:1\r\n:2\r\n.\r\n",
        "*?\r\n.\r\n",
        "%?\r\n+a\r\n:1\r\n+b\r\n:2\r\n.\r\n",
        "~?\r\n*?\r\n%?\r\n.\r\n.\r\n.\r\n",
        "*2\r\n$?\r\n;2\r\nok\r\n;0\r\n*?\r\n_\r\n.\r\n",
        "%?\r\n|1\r\n+ttl\r\n:1\r\n*1\r\n+k\r\n%?\r\n.\r\n.\r\n",
        "*?\r\n=15\r\ntxt:Some string\r\n$?\r\n;15\r\ntxt:Some string\r\n;0\r\n!7\r\nERR bad\r\n.\r\n",
    };
}

void expect_same_however_cut(std::string const& input, limits const& bounds) {
    parse_result const reference = parse(input, bounds);
    ASSERT_EQ(reference.broken_promise, "");
    // A long input takes the square of its length: a small scale cuts it at some places, full scale at each.
    std::size_t const stride = scale() < 1 ? 1 + input.size() / 100 : 1;
    for (std::uint64_t const claim_min : {claim_none, std::uint64_t{1}, std::uint64_t{9}}) {
        for (std::size_t split = 0; split <= input.size(); split += stride)
            for (std::size_t const texts : {0U, claim_min == 1 ? 0U : 2U})
                ASSERT_EQ(parse_in_pieces(input, {split, input.size()}, bounds, 8, claim_min, texts), reference)
                    << printable(input) << " at " << split << ", claimed from " << claim_min << ", texts " << texts;
        for (std::size_t step = 1; step <= 7; ++step)
            for (std::size_t batch : {1u, 2u, 64u})
                ASSERT_EQ(parse_in_pieces(input, every(step, input), bounds, batch, claim_min, batch - 1), reference)
                    << printable(input) << step << ", claimed from " << claim_min;
    }
}

TEST(Resp3Parser, EverySplitPointOfEveryTypeGivesTheSameNodes) {
    std::string all;
    for (auto const& input : corpus()) {
        parse_result const reference = parse(input);
        EXPECT_FALSE(reference.ec) << printable(input) << ' ' << reference;
        EXPECT_TRUE(reference.is_idle) << printable(input);
        EXPECT_EQ(reference.consumed, input.size());
        EXPECT_TRUE(reference.events.back().last);
        expect_same_however_cut(input, {});
        expect_same_however_cut(input, {.pushes_stand_outside = true});
        all += input;
    }
    expect_same_however_cut(all, {});
}

TEST(Resp3Parser, X3_AVerbatimStringIsReadAlikeHoweverItIsCutAndWhoeverTakesItsBody) {
    for (std::string const& wire :
         {"=10\r\ntxt:a body\r\n"s, "=4\r\nmkd:\r\n"s, "=40004\r\ntxt:" + std::string(40'000, 'a') + "\r\n"}) {
        parse_result const whole_read = parse(wire);
        ASSERT_EQ(whole_read.events.size(), 1u);
        EXPECT_EQ(whole_read.events[0].format, wire.size() == 10 ? "mkd" : "txt");
        for (std::size_t at = 0; at != wire.size(); at += at == 20 && wire.size() > 40'000 ? wire.size() - 40 : 1)
            for (std::uint64_t const claim_min : {claim_none, std::uint64_t{1}, std::uint64_t{32 * 1024}})
                EXPECT_EQ(parse_in_pieces(wire, {at, wire.size()}, {}, 8, claim_min), whole_read) << at;
    }
}

TEST(Resp3Parser, X3_TheFormatOfAVerbatimStringComesBeforeItsBody) {
    parser p;
    auto const none = [](node const&) { FAIL(); };
    auto const header = p.parse("=100\r\ntx", none);
    EXPECT_EQ(header.consumed, 0u) << "the format is part of the header";
    EXPECT_EQ(header.missing, 100u) << "2 of 102 bytes are there";
    EXPECT_EQ(p.pending_body(), 0u);
    EXPECT_EQ(p.parse("=100\r\ntxt:ab", none).consumed, 10u);
    EXPECT_EQ(p.pending_body(), 96u);
    node const claimed = p.claim_body();
    EXPECT_EQ(std::string(claimed.format.data(), 3), "txt");
    EXPECT_EQ(parse("=3\r\n").ec, error::bad_verbatim) << "its body is not awaited";
    EXPECT_EQ(parse("=100\r\ntext").ec, error::bad_verbatim) << "nor what follows a wrong format";
}

TEST(Resp3Parser, MessagesNeedNoDistanceFromEachOther) {
    // Behind a long tail of bytes the fast loop takes what the careful path takes alone.
    for (auto const& input : corpus()) {
        parse_result const alone = parse(input);
        parse_result const followed = parse(input + "+" + std::string(40, 'z') + "\r\n");
        ASSERT_EQ(followed.events.size(), alone.events.size() + 1);
        EXPECT_TRUE(std::equal(alone.events.begin(), alone.events.end(), followed.events.begin())) << printable(input);
    }
}

TEST(Resp3Parser, TruncatedMessagesWaitAndKeepTheirPromises) {
    for (auto const& input : corpus())
        for (std::size_t n = 0; n < input.size(); ++n) {
            std::string const cut = input.substr(0, n);
            parse_result const result = parse(cut);
            EXPECT_FALSE(result.ec) << printable(cut);
            EXPECT_EQ(result.broken_promise, "");
            ASSERT_EQ(parse_in_pieces(cut, every(1, cut)), result) << printable(cut);
        }
}

TEST(Resp3Parser, ChangedBytesAreReadAlikeHoweverTheyAreCut) {
    std::uint64_t state = 1;
    for (auto const& good : corpus())
        for (int round = 0; round != 60; ++round) {
            std::string input = good;
            for (int change = 0; change != 2; ++change) {
                state = state * 6364136223846793005 + 1442695040888963407;
                input[(state >> 33) % input.size()] = "+-:$!=_#,(*%~>|?;.\r\n019tx\xff"[(state >> 20) % 26];
            }
            ASSERT_EQ(find_disagreement(input), "") << printable(input, 400);
        }
}

TEST(Resp3Parser, DeliversScalarsWithTheirText) {
    auto const events =
        parse("+OK\r\n:-42\r\n$4\r\n\r\n\r\n\r\n#t\r\n,1e5\r\n(12\r\n-ERR x\r\n!2\r\nab\r\n_\r\n").events;
    std::vector<event> const expected = {
        {.kind = type::simple_string, .value = "OK", .last = true, .format = {}},
        {.kind = type::number, .value = "-42", .last = true, .format = {}},
        {.kind = type::blob_string, .value = "\r\n\r\n", .last = true, .format = {}},
        {.kind = type::boolean, .value = "t", .last = true, .format = {}},
        {.kind = type::real, .value = "1e5", .last = true, .format = {}},
        {.kind = type::big_number, .value = "12", .last = true, .format = {}},
        {.kind = type::simple_error, .value = "ERR x", .last = true, .format = {}},
        {.kind = type::blob_error, .value = "ab", .last = true, .format = {}},
        {.kind = type::null, .value = "", .last = true, .format = {}},
    };
    EXPECT_EQ(events, expected);
}

TEST(Resp3Parser, AVerbatimStringIsDeliveredWithoutItsFormat) {
    auto const events = parse("=8\r\nmkd:# hi\r\n").events;
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].value, "# hi");
    EXPECT_EQ(events[0].format, "mkd");
}

TEST(Resp3Parser, ChildrenAreOneDeeperAndOnlyTheLastNodeEndsTheMessage) {
    auto const events = parse("%1\r\n+k\r\n*2\r\n:1\r\n:2\r\n").events;
    std::vector<event> const expected = {
        {.kind = type::map, .value = {}, .size = 2, .format = {}},
        {.kind = type::simple_string, .value = "k", .depth = 1, .format = {}},
        {.kind = type::array, .value = {}, .size = 2, .depth = 1, .format = {}},
        {.kind = type::number, .value = "1", .depth = 2, .format = {}},
        {.kind = type::number, .value = "2", .depth = 2, .last = true, .format = {}},
    };
    EXPECT_EQ(events, expected);
}

TEST(Resp3Parser, ParseCallsTheSinkForEveryNodeOfMoreThanOneBatch) {
    std::string input = "*1000\r\n";
    for (int i = 0; i != 1000; ++i)
        input.append(":").append(std::to_string(i)).append("\r\n");
    parser p;
    int next = 0;
    auto const result = p.parse(input + "$3\r\nab", [&next](node const& n) {
        if (n.kind == type::number) {
            EXPECT_EQ(n.value, std::to_string(next++));
        }
    });
    EXPECT_EQ(next, 1000);
    EXPECT_EQ(result.nodes, 1001u);
    EXPECT_EQ(result.consumed, input.size() + 4);
    EXPECT_EQ(result.what, status::need_more);
    EXPECT_EQ(result.missing, 3u);
    EXPECT_EQ(p.pending_body(), 3u);
}

TEST(Resp3Parser, TheHeaderOfABulkIsConsumedBeforeItsBodyAndTellsItsSize) {
    parser p;
    auto const none = [](node const&) { FAIL(); };
    auto const header = p.parse("$1000000\r\nabc", none);
    EXPECT_EQ(header.consumed, 10u);
    EXPECT_EQ(header.missing, 1000002u - 3);
    EXPECT_EQ(p.pending_body(), 1000000u);
    EXPECT_FALSE(p.is_idle());
    std::string const body = "abc" + std::string(999997, 'z');
    EXPECT_EQ(p.parse(body, none).missing, 2u);
    EXPECT_EQ(p.parse(body + "\r", none).missing, 1u);
    std::size_t delivered = 0;
    auto const result = p.parse(body + "\r\n", [&delivered](node const& n) { delivered = n.value.size(); });
    EXPECT_EQ(delivered, 1000000u);
    EXPECT_EQ(result.consumed, 1000002u);
    EXPECT_EQ(p.pending_body(), 0u);
    EXPECT_TRUE(p.is_idle());
}

TEST(Resp3Parser, AClaimedBodyIsSkippedAndItsNodeComesWithoutText) {
    parser p;
    auto const header = p.parse("*2\r\n$100\r\nabc", [](node const& n) { EXPECT_EQ(n.kind, type::array); });
    EXPECT_EQ(header.consumed, 10u);
    node const claimed = p.claim_body();
    EXPECT_EQ(claimed.kind, type::blob_string);
    EXPECT_EQ(claimed.depth, 1u);
    EXPECT_EQ(p.pending_body(), 0u);
    EXPECT_EQ(p.parse("", [](node const&) { FAIL(); }).missing, 2u);
    EXPECT_EQ(p.parse("\r", [](node const&) { FAIL(); }).missing, 1u);
    std::vector<event> events;
    EXPECT_EQ(p.parse("\r\n:1\r\n", [&](node const& n) { events.push_back(to_event(n)); }).consumed, 6u);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0], (event{.kind = type::blob_string, .value = {}, .depth = 1, .format = {}}));
    EXPECT_TRUE(events[1].last);
}

TEST(Resp3Parser, AClaimedBodyWithoutItsCrlfIsAnError) {
    parser p;
    p.parse("$100\r\nabc", [](node const&) { FAIL(); });
    p.claim_body();
    EXPECT_EQ(p.parse("xy", [](node const&) { FAIL(); }).ec, error::bad_body_end);
}

TEST(Resp3Parser, ResetForgetsEverythingButLimits) {
    limits tight;
    tight.line_bytes_max = 4;
    parser p(tight);
    auto const ignore = [](node const&) {};
    for (std::string_view const before : {"*2\r\n|1\r\n", "$100\r\nab", "+abc", "?", "$100\r\n", "+abcde"}) {
        p.parse(before, ignore);
        p.reset();
        EXPECT_TRUE(p.is_idle());
        EXPECT_EQ(p.pending_body(), 0u);
        event only;
        p.parse("+OK\r\n", [&only](node const& n) { only = to_event(n); });
        EXPECT_EQ(only, (event{.kind = type::simple_string, .value = "OK", .last = true, .format = {}})) << before;
    }
    EXPECT_EQ(p.parse("+abcde", ignore).ec, error::line_too_long);
}

TEST(Resp3Parser, NothingToReadMeansThreeBytesAreMissing) {
    parser p;
    auto const result = p.parse({}, [](node const&) { FAIL(); });
    EXPECT_EQ(result.what, status::need_more);
    EXPECT_EQ(result.missing, 3u);
    EXPECT_EQ(result.consumed, 0u);
}

TEST(Resp3Parser, AnErrorComesAfterTheGoodNodesInFrontOfIt) {
    auto const result = parse("+OK\r\n:1\r\n:x\r\n+never\r\n");
    EXPECT_EQ(result.events.size(), 2u);
    EXPECT_EQ(result.ec, error::bad_number);
    EXPECT_EQ(result.consumed, 9u); // so that the caller can quote what was wrong
}

struct refusal {
    std::string input;
    error why;
};

void PrintTo(refusal const& r, std::ostream* out) { *out << printable(r.input); }

class Resp3Refusal : public testing::TestWithParam<refusal> {};

TEST_P(Resp3Refusal, IsTheSameHoweverTheBytesAreCut) {
    auto const& [input, why] = GetParam();
    EXPECT_EQ(parse(input).ec, why);
    EXPECT_EQ(parse(input + std::string(64, 'x')).ec, why) << "more bytes behind it";
    std::string const warm_up = "*1\r\n*1\r\n_\r\n"; // Opening without allocating is the fast loop's.
    EXPECT_EQ(parse(warm_up + input + std::string(64, 'x')).ec, why) << "and a warm parser";
    expect_same_however_cut(input, {});
}

INSTANTIATE_TEST_SUITE_P(Bytes, Resp3Refusal,
                         testing::Values(refusal{"x", error::unknown_type}, refusal{"\r\n", error::unknown_type},
                                         refusal{"?\r\n", error::unknown_type}, refusal{"\0"s, error::unknown_type},
                                         refusal{"+a\n", error::bad_line_end}, refusal{"+a\rb", error::bad_line_end},
                                         refusal{"+a\nb\r\n", error::bad_line_end},
                                         refusal{"-a\r\r\n", error::bad_line_end},
                                         refusal{"$1\r\nab\r\n", error::bad_body_end},
                                         refusal{"$3\r\nab\r\n+OK\r\n", error::bad_body_end},
                                         refusal{"$1\r\na\n\r", error::bad_body_end}));

INSTANTIATE_TEST_SUITE_P(Lengths, Resp3Refusal,
                         testing::Values(refusal{"$\r\n", error::bad_length}, refusal{"$a\r\n", error::bad_length},
                                         refusal{"$1a\r\n", error::bad_length},
                                         refusal{"$+1\r\na\r\n", error::bad_length},
                                         refusal{"$ 1\r\n", error::bad_length}, refusal{"$--1\r\n", error::bad_length},
                                         refusal{"$-0\r\n", error::bad_length}, refusal{"$-12\r\n", error::bad_length},
                                         refusal{"*1a\r\n", error::bad_length}, refusal{"*12a\r\n", error::bad_length},
                                         refusal{"%a\r\n", error::bad_length}, refusal{"*123a\r\n", error::bad_length},
                                         refusal{"*1\r*", error::bad_line_end}, refusal{"*12\r*", error::bad_line_end},
                                         refusal{"*123\r*", error::bad_line_end}, refusal{"$1\n", error::bad_length},
                                         refusal{"$1\rx", error::bad_line_end}, refusal{"!-1\r\n", error::bad_length},
                                         refusal{"=-1\r\n", error::bad_length}, refusal{"%-1\r\n", error::bad_length},
                                         refusal{"~-1\r\n", error::bad_length}, refusal{">-1\r\n", error::bad_length},
                                         refusal{"|-1\r\n", error::bad_length}, refusal{"!?\r\n", error::bad_length},
                                         refusal{"|?\r\n", error::bad_length}, refusal{">?\r\n", error::bad_length},
                                         refusal{"*00000000000000000001\r\n", error::bad_length}));

INSTANTIATE_TEST_SUITE_P(
    Scalars, Resp3Refusal,
    testing::Values(refusal{":\r\n", error::bad_number}, refusal{":-\r\n", error::bad_number},
                    refusal{":+-1\r\n", error::bad_number}, refusal{":1 \r\n", error::bad_number},
                    refusal{":9223372036854775808\r\n", error::bad_number},
                    refusal{":-9223372036854775809\r\n", error::bad_number}, refusal{":1.5\r\n", error::bad_number},
                    refusal{",\r\n", error::bad_real}, refusal{",.5\r\n", error::bad_real},
                    refusal{",5.\r\n", error::bad_real}, refusal{",1e\r\n", error::bad_real},
                    refusal{",1,5\r\n", error::bad_real}, refusal{",infinity\r\n", error::bad_real},
                    refusal{",0x1p3\r\n", error::bad_real}, refusal{"(\r\n", error::bad_big_number},
                    refusal{"(-\r\n", error::bad_big_number}, refusal{"(1.0\r\n", error::bad_big_number},
                    refusal{"#\r\n", error::bad_boolean}, refusal{"#T\r\n", error::bad_boolean},
                    refusal{"#true\r\n", error::bad_boolean}, refusal{"_x\r\n", error::bad_null},
                    refusal{"=3\r\ntxt\r\n", error::bad_verbatim}, refusal{"=4\r\ntext\r\n", error::bad_verbatim},
                    refusal{"=0\r\n\r\n", error::bad_verbatim}));

// Limits: the value itself is accepted, one more is not.

TEST(Resp3Parser, PushBetweenTheElementsOfAnAggregateCountsOnlyWhereItIsOne) {
    // "*2", an element, a push (an empty one, too), the other element; then another message.
    for (std::string const push : {">0\r\n", ">2\r\n$1\r\na\r\n*1\r\n:7\r\n"}) {
        std::string const wire = "*2\r\n:1\r\n" + push + ":2\r\n+next\r\n" + std::string(40, ' ');
        for (bool const outside : {false, true})
            for (std::size_t cut = 0; cut <= wire.size() - 40; ++cut) {
                limits l;
                l.pushes_stand_outside = outside;
                parser p(l);
                std::vector<std::string> messages;
                auto const keep = [&](node const& n) {
                    if (n.last)
                        messages.emplace_back(n.value);
                };
                auto const first = p.parse(std::string_view(wire).substr(0, cut), keep);
                p.parse(std::string_view(wire).substr(first.consumed, wire.size() - 40 - first.consumed), keep);
                EXPECT_EQ(messages, outside ? (std::vector<std::string>{"2", "next"})
                                            : (std::vector<std::string>{push == ">0\r\n" ? "" : "7", "2", "next"}));
            }
    }
}

// ---- pushes of texts

std::vector<std::vector<std::string>> texts_of(parser const& p, std::string const& bytes, std::size_t at_once,
                                               std::size_t& consumed) {
    std::vector<fairlead::resp3::text_push> pushes(at_once);
    std::vector<char> const exact(bytes.begin(), bytes.end());
    auto const taken = p.take_text_pushes({exact.data(), exact.size()}, pushes);
    consumed = taken.consumed;
    std::vector<std::vector<std::string>> all(taken.pushes);
    for (std::size_t i = 0; i != taken.pushes; ++i)
        for (std::size_t n = 0; n != pushes[i].size; ++n)
            all[i].emplace_back(pushes[i].texts[n]);
    return all;
}

TEST(Resp3TextPushes, AreTakenWhileTheyAreWholeAndInARow) {
    parser const p;
    std::string const first = ">3\r\n$7\r\nmessage\r\n$0\r\n\r\n$10\r\n0123456789\r\n";
    std::string const second = ">4\r\n$1\r\na\r\n$2\r\n\r\n\r\n$0\r\n\r\n$999\r\n" + std::string(999, 'x') + "\r\n";
    std::string const shortest = ">1\r\n$0\r\n\r\n";
    std::string const all = first + second + shortest;
    std::vector<std::vector<std::string>> const expected{
        {"message", "", "0123456789"}, {"a", "\r\n", "", std::string(999, 'x')}, {""}};
    std::size_t consumed = 0;
    EXPECT_EQ(texts_of(p, all, 8, consumed), expected);
    EXPECT_EQ(consumed, all.size());
    EXPECT_EQ(texts_of(p, all, 2, consumed).size(), 2U);
    EXPECT_EQ(consumed, first.size() + second.size());
    EXPECT_EQ(texts_of(p, all + "+OK\r\n" + first, 8, consumed), expected);
    EXPECT_EQ(consumed, all.size());
    for (std::size_t n = 0; n != all.size(); ++n) {
        auto const whole = n < first.size() ? 0U : n < first.size() + second.size() ? 1U : 2U;
        ASSERT_EQ(texts_of(p, all.substr(0, n), 8, consumed).size(), whole) << n;
        ASSERT_EQ(consumed, whole == 0 ? 0 : whole == 1 ? first.size() : first.size() + second.size()) << n;
    }
}

// Any byte of theirs may be another one: nodes and errors stay those of the parser alone.
TEST(Resp3TextPushes, ReadAsTheParserDoesWhateverIsWrongWithThem) {
    std::string const input = ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$12\r\nhello\r\nworld\r\n>4\r\n$2\r\npm\r\n$2\r\nn*"
                              "\r\n$1\r\nc\r\n$0\r\n\r\n";
    for (std::size_t at = 0; at != input.size(); ++at)
        for (int byte = 0; byte != 256; ++byte) {
            std::string changed = input;
            changed[at] = static_cast<char>(byte);
            auto const reference = parse(changed);
            ASSERT_EQ(parse_in_pieces(changed, whole(changed), {}, 8, claim_none, 2), reference) << printable(changed);
            if (byte % 16 == 3) {
                ASSERT_EQ(parse_in_pieces(changed, every(7, changed), {}, 8, claim_none, 2), reference)
                    << printable(changed);
            }
        }
}

TEST(Resp3TextPushes, AreLeftToTheParserNearItsLimits) {
    std::string const push = ">2\r\n$1\r\na\r\n$41\r\n" + std::string(41, 'x') + "\r\n";
    for (auto const& bounds : {limits{.depth_max = 0}, limits{.bulk_bytes_max = 40}, limits{.elements_max = 1},
                               limits{.message_bytes_max = 50}, limits{.bulk_bytes_max = 998},
                               limits{.elements_max = 3}, limits{.message_bytes_max = push.size() - 1}}) {
        parser const p(bounds);
        std::size_t consumed = 1;
        EXPECT_TRUE(texts_of(p, push, 4, consumed).empty());
        EXPECT_EQ(consumed, 0U);
        EXPECT_EQ(parse_in_pieces(push, whole(push), bounds, 8, claim_none, 4), parse(push, bounds));
    }
    std::size_t consumed = 0;
    EXPECT_EQ(texts_of(parser(limits{
                           .depth_max = 1, .bulk_bytes_max = 999, .elements_max = 4, .message_bytes_max = push.size()}),
                       push, 4, consumed)
                  .size(),
              1U);
    EXPECT_EQ(consumed, push.size());
}

TEST(Resp3TextPushes, AreNoneInsideOfAMessageAndNoneAfterAnError) {
    std::string const push = ">1\r\n$1\r\na\r\n";
    std::size_t consumed = 0;
    for (auto const& before : {"*2\r\n"s, "|1\r\n+a\r\n+b\r\n"s, "$13\r\n"s, "!x"s}) {
        parser p;
        p.parse(before, [](node const&) {});
        EXPECT_TRUE(texts_of(p, push, 4, consumed).empty()) << printable(before);
        p.reset();
        EXPECT_EQ(texts_of(p, push, 4, consumed).size(), 1U);
    }
}

TEST(Resp3Limits, LineBytes) {
    for (std::size_t const bound : {0u, 3u, 15u, 16u, 17u, 100u}) {
        limits l;
        l.line_bytes_max = bound;
        std::string const good = "+" + std::string(bound, 'a') + "\r\n";
        std::string const bad = "+a" + std::string(bound, 'a') + "\r\n";
        for (std::string const& rest : {""s, "+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n"s}) {
            EXPECT_FALSE(parse(good + rest, l).ec) << bound;
            EXPECT_EQ(parse(bad + rest, l).ec, error::line_too_long) << bound;
        }
        expect_same_however_cut(good + bad, l);
        EXPECT_EQ(parse(bad.substr(0, bound + 2), l).ec, error::line_too_long) << "without waiting for its end";
    }
    limits l;
    l.line_bytes_max = 4;
    std::string const rest = "_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n";
    EXPECT_FALSE(parse(":1234\r\n" + rest, l).ec);
    EXPECT_EQ(parse(":12345\r\n" + rest, l).ec, error::line_too_long);
}

TEST(Resp3Limits, BulkBytes) {
    for (std::uint64_t const bound : {0u, 5u, 998u, 999u, 5000u}) {
        limits l;
        l.bulk_bytes_max = bound;
        auto const bulk = [](std::uint64_t n) {
            return "$" + std::to_string(n) + "\r\n" + std::string(n, 'a') + "\r\n";
        };
        EXPECT_FALSE(parse(bulk(bound) + bulk(0) + bulk(0) + bulk(0) + bulk(0), l).ec) << bound;
        EXPECT_EQ(parse(bulk(bound + 1), l).ec, error::bulk_too_long) << bound;
        EXPECT_EQ(parse("$" + std::to_string(bound + 1) + "\r\n", l).ec, error::bulk_too_long)
            << "its body is not awaited";
    }
}

TEST(Resp3Limits, Elements) {
    limits l;
    l.elements_max = 10;
    EXPECT_FALSE(parse("*10\r\n", l).ec);
    EXPECT_EQ(parse("*11\r\n", l).ec, error::too_many_elements);
    EXPECT_FALSE(parse("%5\r\n", l).ec);
    EXPECT_EQ(parse("%6\r\n", l).ec, error::too_many_elements);
    EXPECT_FALSE(parse("|5\r\n", l).ec);
    EXPECT_EQ(parse("|6\r\n", l).ec, error::too_many_elements);
    l.elements_max = 11;
    EXPECT_EQ(parse("%6\r\n", l).ec, error::too_many_elements);
    l.elements_max = UINT64_MAX;
    EXPECT_FALSE(parse("*9999999999999999999\r\n", l).ec);
    EXPECT_EQ(parse("%9999999999999999999\r\n", l).ec, error::too_many_elements) << "2n would not fit";
}

TEST(Resp3Limits, Depth) {
    limits l;
    for (std::uint32_t const bound : {0u, 1u, 3u, 40u}) {
        l.depth_max = bound;
        std::string nested;
        for (std::uint32_t i = 0; i != bound; ++i)
            nested += "*1\r\n";
        EXPECT_FALSE(parse(nested + ":1\r\n", l).ec) << bound;
        EXPECT_FALSE(parse(nested + "*0\r\n", l).ec) << "nothing is inside of an empty array";
        EXPECT_EQ(parse(nested + "*1\r\n", l).ec, error::too_deep) << bound;
        EXPECT_EQ(parse(nested + "*1\r\n" + std::string(40, '_'), l).ec, error::too_deep) << bound;
        EXPECT_EQ(parse(nested + "|1\r\n", l).ec, error::too_deep) << bound;
        expect_same_however_cut(nested + "*1\r\n", l);
    }
}

std::string repeated(std::size_t n, std::string_view text) {
    std::string all;
    while (n-- != 0)
        all += text;
    return all;
}
template <char Kind, char Fill = '7'> std::string line_of(std::size_t n) {
    return Kind + std::string(n, Fill) + "\r\n";
}
template <char Kind> std::string bulk_of(std::size_t n) {
    std::string const format = Kind == '=' ? "txt:" : "";
    return Kind + std::to_string(n) + "\r\n" + format + std::string(n - format.size(), 'b') + "\r\n";
}
std::string chunk_of(std::size_t n) { return "$?\r\n;1\r\na\r\n" + bulk_of<';'>(n) + ";0\r\n"; }
template <char Kind> std::string aggregate_of(std::size_t n) {
    bool const in_pairs = Kind == '%' || Kind == '|';
    return Kind + std::to_string(in_pairs ? n / 2 : n) + "\r\n" + repeated(n, "_\r\n") + (Kind == '|' ? "_\r\n" : "");
}
template <char Kind> std::string nested(std::size_t n) {
    bool const in_pairs = Kind == '%' || Kind == '|';
    std::string const open = Kind + std::string("1\r\n") + (in_pairs ? "_\r\n" : "");
    return repeated(n, open) + "_\r\n" + (Kind == '|' ? repeated(n, "_\r\n") : "");
}
template <char Kind> std::string nested_streams(std::size_t n) {
    std::string const open = Kind + std::string("?\r\n") + (Kind == '%' ? "_\r\n" : "");
    return repeated(n, open) + "_\r\n" + repeated(n, ".\r\n");
}
std::string nested_string(std::size_t n) { return repeated(n - 1, "*1\r\n") + "$?\r\n;1\r\na\r\n;0\r\n"; }

/// Something that a limit bounds: a message in which there is as much as n of it.
struct bounded {
    char const* what;
    std::string (*message)(std::size_t n);
    bool is_streamed = false;
    std::size_t step = 1; ///< from one n to the next
};

/// Each of `all` passes at its limit, and one more fails: alone, among others and with bytes behind it, where the fast
/// loop takes it. That holds with streamed types and without, however it is cut, and whoever takes the bodies.
template <class Limit> void expect_exact(Limit limits::* which, error why, std::vector<std::size_t> const& bounds,
                                         std::vector<bounded> const& all) {
    std::string const others = "*4\r\n#t\r\n:1\r\n";
    std::string const rest = "_\r\n" + repeated(8, "_\r\n");
    for (auto const& each : all)
        for (std::size_t const n : bounds)
            for (bool const streamed : {false, true}) {
                if (each.is_streamed && !streamed)
                    continue;
                limits l;
                l.streamed_types = streamed;
                for (bool const alone : {true, false}) {
                    bool const is_deeper = why == error::too_deep && !alone;
                    l.*which = static_cast<Limit>(n + is_deeper);
                    auto const wrapped = [&](std::size_t size) {
                        return alone ? each.message(size) : others + each.message(size) + rest;
                    };
                    EXPECT_EQ(parse(wrapped(n), l).ec, error_code()) << each.what << ' ' << n;
                    EXPECT_EQ(parse(wrapped(n + each.step), l).ec, why) << each.what << ' ' << n << " and one more";
                    expect_same_however_cut(wrapped(n), l);
                    expect_same_however_cut(wrapped(n + each.step), l);
                    if (testing::Test::HasFailure())
                        return;
                }
            }
}

TEST(Resp3Limits, Z8_LinePassesAtItsLimitAndFailsAboveIt) {
    expect_exact(&limits::line_bytes_max, error::line_too_long, {4, 15, 16, 17, 18},
                 {{"+", line_of<'+', 'a'>},
                  {"-", line_of<'-', 'a'>},
                  {":", line_of<':'>},
                  {",", line_of<','>},
                  {"(", line_of<'('>}});
    expect_exact(&limits::line_bytes_max, error::line_too_long, {100},
                 {{"+", line_of<'+', 'a'>}, {"-", line_of<'-', 'a'>}, {"(", line_of<'('>}, {",", line_of<','>}});
}

TEST(Resp3Limits, Z8_BodyPassesAtItsLimitAndFailsAboveItAlsoAsAChunk) {
    expect_exact(&limits::bulk_bytes_max, error::bulk_too_long, {4, 5, 9, 10, 100},
                 {{"$", bulk_of<'$'>}, {"!", bulk_of<'!'>}, {"=", bulk_of<'='>}, {"chunk", chunk_of, true}});
}

TEST(Resp3Limits, Z8_ElementsPassAtTheirLimitAndFailAboveIt) {
    expect_exact(&limits::elements_max, error::too_many_elements, {4, 10, 11, 40},
                 {{"*", aggregate_of<'*'>}, {"~", aggregate_of<'~'>}, {">", aggregate_of<'>'>}});
    expect_exact(&limits::elements_max, error::too_many_elements, {4, 10, 40},
                 {{"%", aggregate_of<'%'>, false, 2}, {"|", aggregate_of<'|'>, false, 2}});
}

TEST(Resp3Limits, Z8_DepthPassesAtItsLimitAndFailsAboveItAlsoWithStreams) {
    expect_exact(&limits::depth_max, error::too_deep, {1, 2, 3, 40},
                 {{"*", nested<'*'>},
                  {"%", nested<'%'>},
                  {"~", nested<'~'>},
                  {">", nested<'>'>},
                  {"|", nested<'|'>},
                  {"*?", nested_streams<'*'>, true},
                  {"%?", nested_streams<'%'>, true},
                  {"~?", nested_streams<'~'>, true},
                  {"$?", nested_string, true}});
}

TEST(Resp3Limits, Z8_MessagePassesAtItsLimitAndFailsAboveIt) {
    auto all = corpus();
    auto const streams = streamed_corpus();
    all.insert(all.end(), streams.begin(), streams.end());
    for (auto const& input : all) {
        // Where each of its messages ends.
        std::vector<std::size_t> ends{0};
        parser p(with_streams());
        for (std::size_t taken = 0; taken != input.size();) {
            node one;
            auto const part = p.parse_some(std::string_view(input).substr(taken), {&one, 1});
            ASSERT_EQ(part.nodes, 1u);
            taken += part.consumed;
            if (one.last)
                ends.push_back(taken);
        }
        for (std::size_t i = 1; i != ends.size(); ++i) {
            std::string const message = input.substr(ends[i - 1], ends[i] - ends[i - 1]);
            for (std::string const& rest : {""s, repeated(8, "_\r\n")}) {
                limits l = with_streams();
                l.message_bytes_max = message.size();
                EXPECT_EQ(parse(message + rest, l).ec, error_code()) << printable(message);
                expect_same_however_cut(message + rest, l);
                --l.message_bytes_max;
                EXPECT_EQ(parse(message + rest, l).ec, error::message_too_long) << printable(message);
                expect_same_however_cut(message + rest, l);
            }
        }
    }
}

TEST(Resp3Limits, MessageBytes) {
    limits l;
    std::string const message = "*3\r\n$5\r\nhello\r\n:12\r\n+OK\r\n"; // 4 + 11 + 5 + 5
    ASSERT_EQ(message.size(), 25u);
    l.message_bytes_max = 25;
    EXPECT_FALSE(parse(message + message + message, l).ec) << "it counts each message anew";
    for (l.message_bytes_max = 0; l.message_bytes_max != 25; ++l.message_bytes_max) {
        EXPECT_EQ(parse(message, l).ec, error::message_too_long) << l.message_bytes_max;
        expect_same_however_cut(message, l);
    }
    l.message_bytes_max = 10;
    EXPECT_EQ(parse("$5\r\n", l).ec, error::message_too_long) << "its body is not awaited";
    EXPECT_FALSE(parse("$4\r\n", l).ec);
}

// Streamed types.

TEST(Resp3Streams, AreDeliveredInPartsWhenAllowed) {
    auto const events = parse("*?\r\n$?\r\n;2\r\nab\r\n;1\r\nc\r\n;0\r\n:1\r\n.\r\n", with_streams()).events;
    std::vector<event> const expected = {
        {.kind = type::array, .value = {}, .size = unknown_size, .format = {}},
        {.kind = type::streamed_string, .value = {}, .size = unknown_size, .depth = 1, .format = {}},
        {.kind = type::chunk, .value = "ab", .depth = 2, .format = {}},
        {.kind = type::chunk, .value = "c", .depth = 2, .format = {}},
        {.kind = type::stream_end, .value = {}, .depth = 2, .format = {}},
        {.kind = type::number, .value = "1", .depth = 1, .format = {}},
        {.kind = type::stream_end, .value = {}, .depth = 1, .last = true, .format = {}},
    };
    EXPECT_EQ(events, expected);
}

TEST(Resp3Streams, EverySplitPointGivesTheSameNodes) {
    for (auto const& input : streamed_corpus()) {
        parse_result const reference = parse(input, with_streams());
        EXPECT_FALSE(reference.ec) << printable(input) << ' ' << reference.ec.message();
        EXPECT_TRUE(reference.is_idle) << printable(input);
        expect_same_however_cut(input, with_streams());
    }
}

TEST(Resp3Streams, PartsOutOfPlaceAreRefused) {
    for (std::string const& input :
         std::vector<std::string>{".\r\n", "*1\r\n.\r\n", ";1\r\na\r\n", "*?\r\n;1\r\na\r\n", "$?\r\n+a\r\n",
                                  "$?\r\n.\r\n", "%?\r\n+a\r\n.\r\n", "*?\r\n.x\r\n", "*?\r\n*1\r\n.\r\n"}) {
        EXPECT_EQ(parse(input, with_streams()).ec, error::bad_stream) << printable(input);
        expect_same_however_cut(input, with_streams());
    }
    EXPECT_EQ(parse("$?\r\n;-1\r\n", with_streams()).ec, error::bad_length);
    EXPECT_EQ(parse("$?\r\n;?\r\n", with_streams()).ec, error::bad_length);
}

TEST(Resp3Streams, AChunkCanBeClaimedLikeABulk) {
    parser p(with_streams());
    std::vector<event> events;
    auto const keep = [&events](node const& n) { events.push_back(to_event(n)); };
    p.parse("$?\r\n;5\r\n", keep);
    EXPECT_EQ(p.pending_body(), 5u);
    EXPECT_EQ(p.claim_body().kind, type::chunk);
    p.parse("\r\n;1\r\nx\r\n;0\r\n", keep);
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(events[2].value, "x");
    EXPECT_TRUE(events[3].last);
}

// Rows of the catalogue of failures.

TEST(Catalogue, D05_ParserNestingOfAMillionLevelsUsesNoRecursion) {
    constexpr int levels = 1'000'000;
    std::string input;
    for (int i = 0; i != levels; ++i)
        input += "*1\r\n";
    input += ":1\r\n";
    limits l;
    l.depth_max = levels;
    parser p(l);
    std::uint64_t nodes = 0;
    bool last = false;
    auto const result = p.parse(input, [&](node const& n) {
        EXPECT_EQ(n.depth, nodes++);
        last = n.last;
    });
    EXPECT_FALSE(result.ec);
    EXPECT_EQ(nodes, levels + 1u);
    EXPECT_TRUE(last);
    EXPECT_TRUE(p.is_idle());
}

TEST(Catalogue, P05_PushesBetweenRepliesAreMessagesOfTheirOwn) {
    auto const events = parse(">1\r\n+early\r\n+OK\r\n>2\r\n+invalidate\r\n_\r\n:1\r\n").events;
    std::vector<type> tops;
    int messages = 0;
    for (auto const& e : events) {
        if (e.depth == 0)
            tops.push_back(e.kind);
        messages += e.last;
    }
    EXPECT_EQ(tops, (std::vector<type>{type::push, type::simple_string, type::push, type::number}));
    EXPECT_EQ(messages, 4);
}

TEST(Catalogue, P06_AttributesAnywhereNeverCountAndNeverEndAMessage) {
    std::string const bare = "*2\r\n:1\r\n%1\r\n+k\r\n+v\r\n";
    std::string const attribute = "|2\r\n+a\r\n*2\r\n:8\r\n|1\r\n+inner\r\n_\r\n:9\r\n+b\r\n%1\r\n+x\r\n~0\r\n";
    std::string decorated;
    for (std::string_view const part : {"*2\r\n", ":1\r\n", "%1\r\n", "+k\r\n", "+v\r\n"})
        decorated.append(attribute).append("|0\r\n").append(attribute).append(part);
    auto all = parse(decorated).events;
    EXPECT_FALSE(all.front().last);
    std::erase_if(all, [](event const& e) { return e.in_attribute; });
    EXPECT_EQ(all, parse(bare).events);
    expect_same_however_cut(decorated, {});
}

TEST(Catalogue, P11_HostileLengthsAreRefusedAtTheirHeader) {
    struct {
        char const* input;
        error why;
    } const rows[] = {
        {"$9223372036854775807\r\n", error::bulk_too_long},
        {"$18446744073709551615\r\n", error::bad_length},
        {"$9999999999999999999\r\n", error::bulk_too_long},
        {"$536870913\r\n", error::bulk_too_long},
        {"$-2\r\n", error::bad_length},
        {"$-9223372036854775808\r\n", error::bad_length},
        {"*1000000000\r\n", error::too_many_elements},
        {"*9223372036854775807\r\n", error::too_many_elements},
        {"*-2\r\n", error::bad_length},
        {"%4611686018427387904\r\n", error::too_many_elements},
        {"%9223372036854775808\r\n", error::too_many_elements},
        {"|9223372036854775807\r\n", error::too_many_elements},
        {"=9223372036854775807\r\n", error::bulk_too_long},
        {"*99999999999999999999999999\r\n", error::bad_length},
    };
    for (auto const& row : rows) {
        EXPECT_EQ(parse(row.input).ec, row.why) << printable(row.input);
        expect_same_however_cut(row.input, {});
    }
}

TEST(Catalogue, P11_LimitsRaisedToTheirMaximumDoNotOverflow) {
    limits const l{.depth_max = UINT32_MAX,
                   .streamed_types = true,
                   .line_bytes_max = SIZE_MAX,
                   .bulk_bytes_max = UINT64_MAX,
                   .elements_max = UINT64_MAX,
                   .message_bytes_max = UINT64_MAX};
    parser p(l);
    auto const result = p.parse("$9999999999999999999\r\nabc", [](node const&) { FAIL(); });
    EXPECT_EQ(result.what, status::need_more);
    EXPECT_EQ(result.missing, 9999999999999999999u - 1);
    for (auto const& input : corpus())
        expect_same_however_cut(input, l);
}

TEST(Catalogue, P12_NestingOfAMillionStopsAtTheLimit) {
    std::string input;
    for (int i = 0; i != 1'000'000; ++i)
        input += "*1\r\n";
    auto const result = parse(input);
    EXPECT_EQ(result.ec, error::too_deep);
    EXPECT_EQ(result.events.size(), 1024u);
    EXPECT_EQ(result.consumed, 4u * 1024);
}

TEST(Catalogue, P13_StreamedTypesAreACleanErrorUnlessAllowed) {
    for (auto const& input : streamed_corpus()) {
        EXPECT_EQ(parse(input).ec, error::streamed_type) << printable(input);
        expect_same_however_cut(input, {});
    }
    EXPECT_EQ(parse(".\r\n").ec, error::streamed_type);
    EXPECT_EQ(parse(";1\r\na\r\n").ec, error::streamed_type);
}

TEST(Catalogue, P14_OtherProtocolsAndGarbageAreRefusedAtTheirFirstByte) {
    for (std::string const& input :
         {"HTTP/1.1 400 Bad Request\r\n"s, "\x15\x03\x01\0\x02\x02\x46"s, "SSH-2.0-OpenSSH\r\n"s,
          "220 mail.example ESMTP\r\n"s, "\0\0\0"s, "\xff\xfe"s, " +OK\r\n"s}) {
        auto const result = parse(input);
        EXPECT_EQ(result.ec, error::unknown_type) << printable(input);
        EXPECT_EQ(result.consumed, 0u);
        expect_same_however_cut(input, {});
    }
}

TEST(Resp3Corpus, EveryKeptFuzzInputIsReadAlikeHoweverItIsCut) {
    std::filesystem::path const folder = FAIRLEAD_SOURCE_DIR "/tests/seeds/corpus/resp3_parser";
    int files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(entry.path(), std::ios::binary);
        std::string const input(std::istreambuf_iterator<char>(in), {});
        EXPECT_EQ(find_disagreement(input), "") << entry.path();
        ++files;
    }
    EXPECT_GE(files, 30);
}

} // namespace
