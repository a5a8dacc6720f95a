#include <fairlead/redis/request.hpp>

#include <gtest/gtest.h>

#include <redis/commands.hpp>

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
        EXPECT_EQ(r.refused(), "CLIENT REPLY");
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
    for (std::string_view name :
         {"BLPOP", "brpop", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZMPOP", "BZPOPMIN", "BZPOPMAX"}) {
        request r;
        r.push(name, 0);
        EXPECT_EQ(r.fit(), fitness::alone) << name;
        EXPECT_FALSE(r.changes_session()) << name;
    }
    for (std::string_view name : {"WAIT", "WAITAOF", "SELECT", "watch", "AUTH", "ASKING", "READONLY", "READWRITE"}) {
        request r;
        r.push(name, 0);
        EXPECT_EQ(r.fit(), fitness::dedicated) << name;
        EXPECT_EQ(r.changes_session(), name != "watch") << name;
    }
    for (std::string_view name : {"SCRIPT", "function"}) {
        request r;
        r.push(name, "KILL");
        EXPECT_EQ(r.fit(), fitness::alone) << "it would wait for what it is to end";
        EXPECT_FALSE(r.changes_session());
    }
    for (std::string_view name : {"SETNAME", "setinfo", "NO-EVICT"}) {
        request r;
        r.push("CLIENT", name, "x");
        EXPECT_EQ(r.fit(), fitness::shared) << name;
        EXPECT_TRUE(r.changes_session()) << "the next one to have the connection would have the mark";
    }
    request blocks;
    blocks.push("XREAD", "COUNT", 2, "block", 0, "STREAMS", "s", "$");
    EXPECT_EQ(blocks.fit(), fitness::alone);
    request does_not;
    does_not.push("XREADGROUP", "GROUP", "g", "c", "STREAMS", "BLOCK", ">");
    EXPECT_EQ(does_not.fit(), fitness::shared) << "a key may have that name";
}

/// It answers for the writes of its connection: where there are none of the caller's, the answer means nothing.
TEST(RedisRequest, WaitBelongsBehindTheWritesThatItAwaits) {
    request r;
    r.push("WAIT", 1, 0);
    EXPECT_EQ(r.fit(), fitness::dedicated);
    EXPECT_EQ(r.instead(), "put it into one request, behind the commands whose writes it awaits");
    r.clear();
    r.push("SET", "k", "v");
    r.push("WAIT", 1, 1000);
    EXPECT_EQ(r.fit(), fitness::alone);
    EXPECT_EQ(r.late_ms(), 1001U);
}

TEST(RedisRequest, ARequestMayBeSetApart) {
    request r;
    r.push("GET", "k");
    r.set_apart();
    EXPECT_EQ(r.fit(), fitness::alone);
    EXPECT_EQ(r.refused(), "GET");
    EXPECT_NE(r.instead(), "");
    r.clear();
    EXPECT_EQ(r.fit(), fitness::alone);
    EXPECT_EQ(r.refused(), "");
    r.push("BLPOP", "k", 0);
    r.set_apart(false);
    EXPECT_EQ(r.fit(), fitness::alone) << "it blocks";
    EXPECT_EQ(r.refused(), "BLPOP");
    r.clear();
    EXPECT_EQ(r.fit(), fitness::shared);
    r.push("SELECT", 1);
    r.set_apart();
    EXPECT_EQ(r.fit(), fitness::dedicated);
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

TEST(RedisRequest, TransactionIsEndedByNothingThatServersRefuse) {
    for (std::string_view name : {"EXEC", "DISCARD", "discard", "MULTI"}) {
        request r;
        r.push("MULTI");
        r.push("INCR", "n");
        r.push(name, "junk");
        EXPECT_EQ(r.fit(), fitness::never) << name << " with an argument";
        EXPECT_EQ(r.transaction(), redis::impl::transaction::left_open) << name;
        EXPECT_EQ(r.instead(), "leave its arguments out");
    }
    request watches;
    watches.push("MULTI");
    watches.push("UNWATCH");
    watches.push("WATCH");
    EXPECT_EQ(watches.transaction(), redis::impl::transaction::left_open);
}

TEST(RedisRequest, KnowsWhetherATransactionIsOpenBehindIt) {
    using redis::impl::transaction;
    request r;
    EXPECT_EQ(r.transaction(), transaction::as_it_was);
    r.push("SET", "k", 1);
    EXPECT_EQ(r.transaction(), transaction::as_it_was);
    r.push("Multi");
    EXPECT_EQ(r.transaction(), transaction::left_open);
    r.push("SET", "k", 1);
    r.push("exec");
    EXPECT_EQ(r.transaction(), transaction::closed);
    r.push("MULTI");
    EXPECT_EQ(r.transaction(), transaction::left_open);
    r.clear();
    EXPECT_EQ(r.transaction(), transaction::as_it_was);
    r.push("DISCARD");
    EXPECT_EQ(r.transaction(), transaction::closed) << "of an earlier request";
    EXPECT_EQ(r.fit(), fitness::shared);
}

TEST(RedisRequest, KnowsWhetherTheServerMayAnswerAsLateAsItLikes) {
    for (std::string_view name : {"BLPOP", "bzpopmin", "WAIT", "WAITAOF", "SHUTDOWN"}) {
        request r;
        r.push("SET", "k", 1);
        EXPECT_FALSE(r.may_block());
        r.push(name, 0);
        EXPECT_TRUE(r.may_block()) << name;
        r.clear();
        EXPECT_FALSE(r.may_block());
        r.push("MULTI");
        r.push(name, 0);
        EXPECT_FALSE(r.may_block()) << "inside a transaction nothing waits";
    }
    request r;
    r.push("XREAD", "STREAMS", "s", "0");
    EXPECT_FALSE(r.may_block());
    r.push("XREAD", "BLOCK", 0, "STREAMS", "s", "0");
    EXPECT_TRUE(r.may_block());
}

TEST(RedisRequest, X2_KnowsForHowLongItsCommandsWait) {
    struct row {
        std::vector<std::string> words;
        std::uint32_t ms;
    };
    // A timeout is over a little later than it says, hence one more.
    for (auto const& [words, ms] :
         {row{{"BLPOP", "a", "b", "2"}, 2'001}, row{{"brpop", "a", "0.25"}, 251},
          row{{"BLMPOP", "3", "1", "a", "LEFT"}, 3'001}, row{{"WAIT", "1", "400"}, 401},
          row{{"WAITAOF", "1", "0", "400"}, 401}, row{{"XREAD", "COUNT", "1", "block", "90", "STREAMS", "s", "$"}, 91},
          row{{"XREADGROUP", "GROUP", "g", "c", "STREAMS", "BLOCK", "90"}, 0},
          row{{"XREADGROUP", "GROUP", "streams", "c", "BLOCK", "90", "STREAMS", "s", ">"}, 91},
          row{{"XREADGROUP", "group", "g", "STREAMS", "COUNT", "1", "BLOCK", "90", "STREAMS", "s", ">"}, 91},
          row{{"XREADGROUP", "GROUP", "BLOCK", "90", "STREAMS", "s", ">"}, 0}, row{{"XREADGROUP", "GROUP", "g"}, 0},
          row{{"BLPOP", "a", "0"}, request::for_ever_ms}, row{{"BLPOP", "a", "-1"}, request::for_ever_ms},
          row{{"BLPOP", "a", "1e30"}, request::for_ever_ms}, row{{"BLPOP"}, request::for_ever_ms},
          row{{"SHUTDOWN"}, request::for_ever_ms}, row{{"CLIENT", "PAUSE", "70", "WRITE"}, 71},
          row{{"CLIENT", "LIST"}, 0}, row{{"LPOP", "a"}, 0}}) {
        request r;
        r.push_range(words[0], std::vector<std::string>(words.begin() + 1, words.end()));
        EXPECT_EQ(r.late_ms(), ms) << r.payload();
        EXPECT_EQ(r.pauses(), words.size() > 1 && words[1] == "PAUSE");
    }
    request several;
    several.push("BLPOP", "a", 1);
    several.push("BLPOP", "a", 2);
    EXPECT_EQ(several.late_ms(), 3'002U);
    several.push("BLPOP", "a", 0);
    several.push("BLPOP", "a", 5);
    EXPECT_EQ(several.late_ms(), request::for_ever_ms);
    several.clear();
    EXPECT_EQ(several.late_ms(), 0U);
}

TEST(RedisRequest, X1_KnowsWhetherItConcernsTheNextCommand) {
    request r;
    EXPECT_FALSE(r.precedes());
    r.push("ASKING");
    EXPECT_TRUE(r.precedes());
    r.push("GET", "k");
    EXPECT_FALSE(r.precedes());
    r.push("client", "caching", "yes");
    EXPECT_TRUE(r.precedes());
    EXPECT_TRUE(r.has_effects());
    r.clear();
    EXPECT_FALSE(r.precedes());
    EXPECT_FALSE(r.has_effects());
}

TEST(RedisRequest, TheDebuggerOfScriptsIsRefusedOnAnyConnection) {
    for (std::string_view name : {"SCRIPT", "script"})
        for (std::string_view mode : {"YES", "SYNC", "no"}) {
            request r;
            r.push(name, "dEBUG", mode);
            EXPECT_EQ(r.fit(), fitness::never);
            EXPECT_EQ(r.refused(), "SCRIPT DEBUG");
            request of_range;
            of_range.push_range(name, std::vector<std::string>{"debug", std::string(mode)});
            EXPECT_EQ(of_range.fit(), fitness::never);
        }
    request harmless;
    harmless.push("SCRIPT", "LOAD", "return 1");
    harmless.push("SCRIPT");
    harmless.push("SCRIPT", "");
    harmless.push("SCRIPT", std::string(100, 'D'));
    harmless.push("SCRIPT DEBUG", "YES");
    EXPECT_EQ(harmless.fit(), fitness::shared) << "the last is one word, which is no command";
}

TEST(RedisRequest, SubcommandsThatConcernTheCommandsOfOthersNeedADedicatedConnection) {
    for (std::string_view name : {"CACHING", "CAPA", "IMPORT-SOURCE", "no-touch"}) {
        request r;
        r.push("CLIENT", name, "ON");
        EXPECT_EQ(r.fit(), fitness::dedicated) << name;
    }
    request r;
    r.push("CLUSTER", "SLOTS");
    EXPECT_EQ(r.fit(), fitness::shared);
    r.push("CLUSTER", "SYNCSLOTS", "CAPA");
    EXPECT_EQ(r.fit(), fitness::never);
}

TEST(RedisRequest, SaysWhatToDoInsteadOfEachCommandThatItRefuses) {
    for (auto const& command : redis::impl::commands) {
        if (command.fit == fitness::shared) {
            EXPECT_EQ(command.instead, "") << command.name;
            continue;
        }
        request r;
        std::string_view const name = command.name.substr(0, command.name.find(' '));
        if (name == command.name)
            r.push(name, "BLOCK", 0);
        else
            r.push(name, command.name.substr(name.size() + 1));
        EXPECT_EQ(r.refused(), command.name);
        EXPECT_EQ(r.fit(), command.fit) << command.name;
        EXPECT_EQ(r.instead(), command.instead);
        EXPECT_NE(r.instead(), "") << command.name;
        r.clear();
        EXPECT_EQ(r.instead(), "");
    }
    request open;
    open.push("MULTI");
    EXPECT_EQ(open.refused(), "MULTI");
    EXPECT_EQ(open.instead(), "put MULTI and its EXEC into one request, or use redis::client::acquire()");
}

TEST(RedisRequest, SaysWhatToUseInsteadOfWhatOnlyAClientRefuses) {
    for (std::string_view name :
         {"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"}) {
        request r;
        r.push("GET", "k");
        r.push(name, "news");
        r.push("PING");
        EXPECT_EQ(r.refused(), name);
        EXPECT_EQ(r.instead(), "use redis::client::subscribe()");
        EXPECT_EQ(r.fit(), fitness::shared) << "a connection takes it";
        r.push("BLPOP", "k", 0);
        EXPECT_EQ(r.refused(), name) << "a client would take the other one";
        r.push("SELECT", 1);
        EXPECT_EQ(r.refused(), "SELECT") << "that is refused anywhere";
        r.clear();
        EXPECT_EQ(r.refused(), "");
        EXPECT_EQ(r.instead(), "");
    }
    request tracking;
    tracking.push("client", "tracking", "on");
    EXPECT_EQ(tracking.refused(), "CLIENT TRACKING");
    EXPECT_TRUE(tracking.instead().starts_with("use a redis::connection: ")) << tracking.instead();
    EXPECT_EQ(tracking.fit(), fitness::shared);
    tracking.push("HELLO", 3);
    EXPECT_EQ(tracking.refused(), "HELLO");
    tracking.clear();
    EXPECT_EQ(tracking.instead(), "");
    request queued; // in a transaction
    queued.push("MULTI");
    queued.push("SUBSCRIBE", "news");
    EXPECT_EQ(queued.instead(), "send it outside of the transaction");
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

/// Ordinary ones are taken in by a shorter way (connection_core::begin_ordinary).
TEST(RedisRequest, OnlyOneOfWhichNothingIsToBeKnownIsOrdinary) {
    request r;
    r.push("GET", "k");
    r.push("SET", "k", 1);
    r.set_timeout(std::chrono::seconds(1));
    EXPECT_TRUE(r.is_ordinary());
    for (std::string_view const name :
         {"SUBSCRIBE", "MULTI", "BLPOP", "WATCH", "SELECT", "CLIENT", "QUIT", "monitor"}) {
        r.push(name, "PAUSE", 1);
        EXPECT_FALSE(r.is_ordinary()) << name;
        r.push("GET", "k");
        EXPECT_FALSE(r.is_ordinary()) << name;
        request copy;
        copy.append(r);
        EXPECT_FALSE(copy.is_ordinary()) << name;
        r.clear();
        EXPECT_TRUE(r.is_ordinary()) << name;
        EXPECT_FALSE(r.has_subscriptions());
    }
    r.set_apart();
    r.clear();
    r.push("GET", "k");
    EXPECT_FALSE(r.is_ordinary()) << "clear() keeps it";
    request of_subscription;
    of_subscription.serve_subscription();
    EXPECT_FALSE(of_subscription.is_ordinary());
}

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
