#include <fairlead/redis/request.hpp>

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {

using redis::request;
using fitness = redis::request::fitness;

TEST(RedisRequest, SerialisesCommandsInOrder) {
    request r;
    r.push("SET", "key", 42);
    r.push("PING");
    EXPECT_EQ(r.payload(), "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$2\r\n42\r\n*1\r\n$4\r\nPING\r\n");
    EXPECT_EQ(r.commands(), 2U);
    EXPECT_EQ(r.expected_replies(), 2U);
}

TEST(RedisRequest, TakesRangesAndPairs) {
    request r;
    std::vector<std::string> const keys{"a", "b"};
    std::map<std::string, int> const fields{{"x", 1}, {"y", 2}};
    r.push_range("DEL", keys);
    r.push_range("HSET", "h", fields);
    EXPECT_EQ(r.payload(), "*3\r\n$3\r\nDEL\r\n$1\r\na\r\n$1\r\nb\r\n"
                           "*6\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\nx\r\n$1\r\n1\r\n$1\r\ny\r\n$1\r\n2\r\n");
    EXPECT_EQ(r.expected_replies(), 2U);
}

TEST(RedisRequest, ClearKeepsTheMemory) {
    request r;
    r.push("SET", "k", std::string(1000, 'v'));
    auto const* const memory = r.payload().data();
    r.clear();
    EXPECT_TRUE(r.empty());
    r.push("GET", "k");
    EXPECT_EQ(r.payload().data(), memory);
    EXPECT_EQ(r.expected_replies(), 1U);
}

TEST(Catalogue, P15_ArgumentsCannotBecomeCommands) {
    request r;
    std::string const evil("x\r\n*1\r\n$8\r\nFLUSHALL\r\n\0y", 24);
    r.push("SET", "k", evil);
    EXPECT_EQ(r.payload(), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$24\r\n" + evil + "\r\n");
    EXPECT_EQ(r.commands(), 1U);
}

TEST(RedisRequest, CountsNoRepliesForTheSubscribeFamilyInAnySpelling) {
    for (std::string_view name : {"SUBSCRIBE", "subscribe", "PSUBSCRIBE", "pSubscribe", "SSUBSCRIBE", "UNSUBSCRIBE",
                                  "punsubscribe", "SUNSUBSCRIBE"}) {
        request r;
        r.push("PING");
        r.push(name, "a", "b", "c");
        r.push("PING");
        r.push("PING");
        EXPECT_EQ(r.commands(), 4U);
        EXPECT_EQ(r.expected_replies(), 3U);
        ASSERT_EQ(r.parts().size(), 3U);
        EXPECT_EQ(r.parts()[0].count, 1U);
        EXPECT_EQ(r.parts()[1].count, 3U);
        EXPECT_EQ(r.parts()[2].count, 2U);
        EXPECT_EQ(r.fit(), fitness::shared);
    }
}

TEST(Catalogue, P09_CommandsThatBreakTheOrderAreRefusedInAnySpelling) {
    for (std::string_view name :
         {"MONITOR", "monitor", "HELLO", "hello", "RESET", "Quit", "SYNC", "PSYNC", "REPLCONF"}) {
        request r;
        r.push("PING");
        r.push(name);
        EXPECT_EQ(r.fit(), fitness::never) << name;
        EXPECT_FALSE(r.refused().empty());
    }
    for (std::string_view mode : {"ON", "OFF", "skip"}) {
        request r;
        r.push("client", "rePLY", mode);
        EXPECT_EQ(r.fit(), fitness::never);
        EXPECT_EQ(r.refused(), "CLIENT");
    }
    request harmless;
    harmless.push("CLIENT", "LIST");
    harmless.push("CLIENT");
    harmless.push("");
    harmless.push("SETNX", "k", "v");
    harmless.push("WAITING_IS_NO_COMMAND_OF_SUCH_A_LENGTH");
    EXPECT_EQ(harmless.fit(), fitness::shared);
}

TEST(Catalogue, P10_BlockingAndStateChangingCommandsNeedADedicatedConnection) {
    for (std::string_view name : {"BLPOP", "brpop", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZMPOP", "BZPOPMIN", "BZPOPMAX",
                                  "WAIT", "WAITAOF", "SELECT", "watch", "AUTH", "ASKING", "READONLY", "READWRITE"}) {
        request r;
        r.push(name, 0);
        EXPECT_EQ(r.fit(), fitness::dedicated) << name;
    }
    request blocks;
    blocks.push("XREAD", "COUNT", 2, "block", 0, "STREAMS", "s", "$");
    EXPECT_EQ(blocks.fit(), fitness::dedicated);
    request does_not;
    does_not.push("XREADGROUP", "GROUP", "g", "c", "STREAMS", "BLOCK", ">");
    EXPECT_EQ(does_not.fit(), fitness::shared) << "a key may have that name";
}

TEST(RedisRequest, ATransactionIsFitWhenItEndsInTheSameRequest) {
    request r;
    r.push("MULTI");
    r.push("INCR", "n");
    EXPECT_EQ(r.fit(), fitness::dedicated);
    EXPECT_EQ(r.refused(), "MULTI");
    r.push("EXEC");
    EXPECT_EQ(r.fit(), fitness::shared);
    EXPECT_EQ(r.refused(), "");
    r.push("multi");
    r.push("discard");
    EXPECT_EQ(r.fit(), fitness::shared);
    r.push("MULTI");
    r.push("SUBSCRIBE", "a");
    EXPECT_EQ(r.fit(), fitness::never) << "its confirmation would stand among the results of EXEC";
}

TEST(RedisRequest, ClearForgetsWhatWasRefused) {
    request r;
    r.push("MONITOR");
    r.clear();
    r.push("PING");
    EXPECT_EQ(r.fit(), fitness::shared);
}

namespace {

struct throwing_argument {
    operator std::string_view() const { throw std::runtime_error("cannot"); }
};
/// A list whose second element cannot be converted.
struct throwing_range {
    struct iterator {
        using value_type = std::string;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::forward_iterator_tag;
        int i = 0;
        std::string operator*() const {
            if (i == 1)
                throw std::runtime_error("cannot");
            return "element";
        }
        iterator& operator++() {
            ++i;
            return *this;
        }
        iterator operator++(int) { return {i++}; }
        friend bool operator==(iterator, iterator) = default;
    };
    iterator begin() const { return {0}; }
    iterator end() const { return {3}; }
};

} // namespace

TEST(Catalogue, P04_AnArgumentThatThrowsLeavesTheRequestAsItWas) {
    request r;
    r.push("PING");
    std::string const before(r.payload());
    EXPECT_THROW(r.push("SET", "k", throwing_argument{}), std::runtime_error);
    EXPECT_THROW(r.push_range("DEL", throwing_range{}), std::runtime_error);
    EXPECT_EQ(r.payload(), before);
    EXPECT_EQ(r.commands(), 1U);
}

} // namespace fairlead::test
