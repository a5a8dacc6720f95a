#include <redis/command_table.hpp>
#include <redis/commands.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {

namespace {

namespace flag = redis::impl::flag;
namespace key = redis::impl::key;
namespace tip = redis::impl::tip;
using redis::impl::command_facts;
using redis::impl::facts_of;
using redis::impl::key_places;
using redis::impl::key_spec;
using redis::impl::known_keys;

/// The words of a command. Two quotes stand for an empty one.
std::vector<std::string_view> words_of(std::string_view command) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < command.size();) {
        auto const end = std::min(command.find(' ', at), command.size());
        auto const word = command.substr(at, end - at);
        words.push_back(word == "\"\"" ? std::string_view() : word);
        at = end + 1;
    }
    return words;
}

/// The keys of a command, and "..." if there may be others, or "malformed".
std::string keys_by(command_facts const& facts, std::string_view command, key_places places = key_places::keys) {
    auto const words = words_of(command);
    std::string found;
    auto const known = redis::impl::for_each_key(
        facts, words, [&](std::size_t index, key_spec const&) { found.append(words.at(index)).append(" "); }, places);
    if (known == known_keys::malformed)
        return found.append("malformed");
    if (known == known_keys::some)
        return found.append("...");
    return found.substr(0, found.empty() ? 0 : found.size() - 1);
}

std::string keys_of(std::string_view command, key_places places = key_places::keys) {
    auto const* const facts = redis::impl::facts_of_words(words_of(command));
    return facts ? keys_by(*facts, command, places) : "unknown";
}

/// A command of one specification.
command_facts made_up(key_spec const& spec, int arity = -1) {
    return {.name = "MADE UP", .arity = static_cast<std::int8_t>(arity), .key_count = 1, .key_specs = {spec}};
}

} // namespace

TEST(RedisCommandTable, CommandsAreFoundInAnySpelling) {
    for (std::string_view const name : {"GET", "get", "gEt"}) {
        auto const* const facts = facts_of(name);
        ASSERT_NE(facts, nullptr) << name;
        EXPECT_EQ(facts->name, "GET");
        EXPECT_EQ(facts->arity, 2);
        EXPECT_EQ(facts->group, redis::impl::command_group::string);
        EXPECT_EQ(facts->since, (redis::impl::command_version{1, 0, 0}));
        EXPECT_EQ(facts->servers, redis::impl::servers::each);
    }
    EXPECT_EQ(facts_of("sort_ro"), facts_of("SORT_RO"));
    EXPECT_NE(facts_of("sort_ro"), facts_of("SORT"));
}

TEST(RedisCommandTable, EveryCommandIsFoundByItsName) {
    auto const all = redis::impl::all_command_facts();
    EXPECT_GT(all.size(), 400U);
    for (auto const& each : all) {
        auto const space = each.name.find(' ');
        auto const* const found = space == each.name.npos
                                      ? facts_of(each.name)
                                      : facts_of(each.name.substr(0, space), each.name.substr(space + 1));
        EXPECT_EQ(found, &each) << each.name;
        EXPECT_NE(each.servers, 0) << each.name;
        EXPECT_NE(each.arity, 0) << each.name;
    }
}

TEST(RedisCommandTable, UnknownNamesAreNotFound) {
    for (std::string_view const name : {"", "A", "GE", "GETT", "ZZZ", "G\xC3\x89T", "GET ", " GET", "CONFIG GET"})
        EXPECT_EQ(facts_of(name), nullptr) << name;
    EXPECT_EQ(facts_of(std::string(1000, 'x')), nullptr);
    EXPECT_EQ(facts_of(std::string_view("GET\0", 4)), nullptr);
    EXPECT_EQ(facts_of("GET", "key"), nullptr) << "it is no container";
    EXPECT_EQ(facts_of("CONFIG", "GETS"), nullptr);
    EXPECT_EQ(facts_of("", "GET"), nullptr);
    EXPECT_EQ(facts_of("CONFIG ", "GET"), nullptr);
}

TEST(RedisCommandTable, SubcommandsAreFoundWithTheirContainers) {
    ASSERT_NE(facts_of("CONFIG"), nullptr);
    EXPECT_TRUE(is_container(*facts_of("CONFIG")));
    ASSERT_NE(facts_of("config", "get"), nullptr);
    EXPECT_EQ(facts_of("config", "get")->name, "CONFIG GET");
    EXPECT_FALSE(is_container(*facts_of("CONFIG", "GET")));
    EXPECT_EQ(facts_of("CONFIG", ""), facts_of("CONFIG"));

    using redis::impl::facts_of_words;
    EXPECT_EQ(facts_of_words({}), nullptr);
    EXPECT_EQ(facts_of_words(words_of("get key")), facts_of("GET"));
    EXPECT_EQ(facts_of_words(words_of("object encoding key")), facts_of("OBJECT", "ENCODING"));
    EXPECT_EQ(facts_of_words(words_of("OBJECT \"\" key")), nullptr);
    EXPECT_EQ(facts_of_words(words_of("COMMAND")), facts_of("COMMAND"));
}

TEST(RedisCommandTable, ACommandSaysWhatItDoes) {
    EXPECT_TRUE(is_read_only(*facts_of("GET")));
    EXPECT_FALSE(is_write(*facts_of("GET")));
    EXPECT_TRUE(is_write(*facts_of("SET")));
    EXPECT_FALSE(is_read_only(*facts_of("SET")));
    EXPECT_FALSE(is_read_only(*facts_of("EVAL")) || is_write(*facts_of("EVAL")));
    EXPECT_TRUE(is_read_only(*facts_of("EVAL_RO")));
    EXPECT_FALSE(is_read_only(*facts_of("GETEX"))) << "it may change when a key expires";
    EXPECT_TRUE(may_block(*facts_of("BLPOP")));
    EXPECT_TRUE(may_block(*facts_of("XREAD")));
    EXPECT_TRUE(may_block(*facts_of("WAIT"))) << "an old server says something else";
    EXPECT_FALSE(may_block(*facts_of("LPOP")));
    for (auto const& each : redis::impl::all_command_facts())
        EXPECT_FALSE(is_read_only(each) && is_write(each)) << each.name;
}

TEST(RedisCommandTable, TipsSayWhichNodesAnswer) {
    EXPECT_TRUE(facts_of("DBSIZE")->advises(tip::request_all_shards | tip::response_agg_sum));
    EXPECT_TRUE(facts_of("MSET")->advises(tip::request_multi_shard | tip::response_all_succeeded));
    EXPECT_TRUE(facts_of("KEYS")->advises(tip::request_all_shards | tip::nondeterministic_output_order));
    EXPECT_TRUE(facts_of("RANDOMKEY")->advises(tip::nondeterministic_output));
    EXPECT_EQ(facts_of("MSETNX")->tips, 0) << "only an old server would divide it among shards";
    EXPECT_EQ(facts_of("GET")->tips, 0);
}

TEST(RedisCommandTable, OneKindOfEachPolicyIsSaid) {
    for (auto const& each : redis::impl::all_command_facts()) {
        EXPECT_LE(std::popcount(each.tips & 0x000FU), 1) << each.name << " has request policies";
        EXPECT_LE(std::popcount(each.tips & 0x0FF0U), 1) << each.name << " has response policies";
        for (auto const& spec : each.keys())
            EXPECT_LE(std::popcount(spec.flags & 0x000FU), 1) << each.name << " has a key with several kinds of access";
    }
}

TEST(RedisCommandTable, KeysAtAnIndex) {
    EXPECT_EQ(keys_of("GET k"), "k");
    EXPECT_EQ(keys_of("PING"), "");
    EXPECT_EQ(keys_of("OBJECT ENCODING k"), "k");
    EXPECT_EQ(keys_of("BITOP AND to a b"), "to a b");
    EXPECT_EQ(keys_of("SET k v PX 100"), "k");
}

TEST(RedisCommandTable, KeysInARange) {
    EXPECT_EQ(keys_of("DEL a"), "a");
    EXPECT_EQ(keys_of("DEL a b c"), "a b c");
    EXPECT_EQ(keys_of("RENAME a b"), "a b");
    EXPECT_EQ(keys_of("MSET a 1 b 2 c 3"), "a b c");
    EXPECT_EQ(keys_of("BLPOP a b 0"), "a b");
}

TEST(RedisCommandTable, KeysByTheirNumber) {
    EXPECT_EQ(keys_of("EVAL script 2 a b c"), "a b");
    EXPECT_EQ(keys_of("EVAL script 0 a"), "");
    EXPECT_EQ(keys_of("EVAL script 0"), "");
    EXPECT_EQ(keys_of("ZUNIONSTORE to 2 a b WEIGHTS 1 2"), "to a b");
    EXPECT_EQ(keys_of("LMPOP 1 a LEFT"), "a");
    EXPECT_EQ(keys_of("BLMPOP 0 2 a b LEFT"), "a b");
    EXPECT_EQ(keys_of("ZINTERCARD 2 a b LIMIT 1"), "a b");
}

TEST(RedisCommandTable, KeysBehindAKeyword) {
    EXPECT_EQ(keys_of("XREAD COUNT 2 streams a b 0 0"), "a b ...");
    EXPECT_EQ(keys_of("XREADGROUP GROUP g c STREAMS a b c > > >"), "a b c ...");
    EXPECT_EQ(keys_of("GEORADIUS g 0 0 1 m STORE to"), "g to ...");
    EXPECT_EQ(keys_of("GEORADIUS g 0 0 1 m STORE"), "g ...") << "nothing stands behind the last word";
    EXPECT_EQ(keys_of("GEORADIUS g 0 0 1 m ASC"), "g ...");
    EXPECT_EQ(keys_of("GEORADIUS g STORE 0 1 m ASC"), "g ...") << "the search begins behind the radius";
}

TEST(RedisCommandTable, AKeywordMayBeSearchedFromTheEnd) {
    EXPECT_EQ(keys_of("MIGRATE host 1 \"\" 0 10 KEYS a b"), " a b ...");
    EXPECT_EQ(keys_of("MIGRATE host 1 k 0 10 COPY"), "k ...");
    EXPECT_EQ(keys_of("MIGRATE host 1 \"\" 0 10 KEYS KEYS a"), " a ...") << "the last one counts";
    auto const last_two = made_up({.begin_search = key_spec::begin::keyword,
                                   .find_keys = key_spec::find::range,
                                   .word = redis::impl::keyword::KEYS,
                                   .position = -3,
                                   .last_key = -1});
    EXPECT_EQ(keys_by(last_two, "X KEYS a b"), "a b");
    EXPECT_EQ(keys_by(last_two, "X a KEYS b"), "") << "the search begins before it";
    EXPECT_EQ(keys_by(last_two, "KEYS a b"), "") << "the name is no keyword";
    EXPECT_EQ(keys_by(last_two, "KEYS"), "");
}

TEST(RedisCommandTable, AnIncompleteListOfKeysSaysSo) {
    EXPECT_EQ(keys_of("SORT k"), "k ...");
    EXPECT_EQ(keys_of("SORT k BY w_* STORE to"), "k ...");
    EXPECT_EQ(keys_of("SORT_RO k GET o_*"), "k ...");
    command_facts unsaid{.name = "X", .arity = -1};
    EXPECT_EQ(keys_by(unsaid, "X a"), "");
    unsaid.flags = flag::movablekeys;
    EXPECT_EQ(keys_by(unsaid, "X a"), "...");
    EXPECT_EQ(keys_by(made_up({.begin_search = key_spec::begin::index, .position = 1}), "X a"), "...")
        << "nothing is said of where the keys end";
}

TEST(RedisCommandTable, WordsThatAreNoKeysLeadToNodesOnly) {
    EXPECT_EQ(keys_of("SPUBLISH channel message"), "");
    EXPECT_EQ(keys_of("SPUBLISH channel message", key_places::routed), "channel");
    EXPECT_EQ(keys_of("SSUBSCRIBE a b", key_places::routed), "a b");
    EXPECT_EQ(keys_of("SUNSUBSCRIBE", key_places::routed), "");
    EXPECT_EQ(keys_of("PUBLISH channel message", key_places::routed), "");
    EXPECT_EQ(keys_of("GET k", key_places::routed), "k");
}

TEST(RedisCommandTable, MalformedCommandsHaveNoFurtherKeys) {
    for (std::string_view const command :
         {"GET", "GET a b", "MSET a", "EVAL script", "EVAL script -1 a", "EVAL script 2 a", "EVAL script 02 a b",
          "EVAL script x a", "EVAL script 1x a", "EVAL script \"\" a", "EVAL script 18446744073709551616 a",
          "EVAL script 18446744073709551615 a", "EVAL script 1", "XREAD COUNT STREAMS a"})
        EXPECT_EQ(keys_of(command), "malformed") << command;
    EXPECT_EQ(keys_of("ZUNIONSTORE to 3 a b"), "to malformed");
    auto const second_of_two = made_up(
        {.begin_search = key_spec::begin::index, .find_keys = key_spec::find::range, .position = 1, .last_key = 1});
    EXPECT_EQ(keys_by(second_of_two, "X a"), "malformed");
    auto const number_behind = made_up({.begin_search = key_spec::begin::index,
                                        .find_keys = key_spec::find::keynum,
                                        .position = 1,
                                        .keynum_index = 2});
    EXPECT_EQ(keys_by(number_behind, "X a b"), "malformed");
}

TEST(RedisCommandTable, KeysHaveTheirSpecification) {
    std::vector<std::uint16_t> flags;
    redis::impl::for_each_key(*facts_of("ZUNIONSTORE"), words_of("ZUNIONSTORE to 2 a b"),
                              [&](std::size_t, key_spec const& spec) { flags.push_back(spec.flags); });
    EXPECT_EQ(flags, (std::vector<std::uint16_t>{key::ow | key::update, key::ro | key::access, key::ro | key::access}));
}

TEST(RedisCommandTable, EveryStepOfKeysIsTaken) {
    auto const counted = made_up({.begin_search = key_spec::begin::index,
                                  .find_keys = key_spec::find::keynum,
                                  .position = 1,
                                  .first_key = 2,
                                  .key_step = 3});
    EXPECT_EQ(keys_by(counted, "X 2 - a - - b"), "a b");
    EXPECT_EQ(keys_by(counted, "X 3 - a - - b - -"), "malformed");
    auto const halves = made_up({.begin_search = key_spec::begin::index,
                                 .find_keys = key_spec::find::range,
                                 .position = 1,
                                 .last_key = -1,
                                 .limit = 2});
    EXPECT_EQ(keys_by(halves, "X a 1"), "a");
    EXPECT_EQ(keys_by(halves, "X a b c 1 2 3"), "a b c");
    EXPECT_EQ(keys_by(halves, "X a b 1 2 3"), "a b");
}

TEST(RedisCommandTable, WordsOfTheClientAgreeWithThoseOfServers) {
    using redis::impl::role;
    using fitness = redis::request::fitness;
    std::set<std::string_view> const of_newer_servers = {"CLUSTER SYNCSLOTS"};
    // It waits for replicas, and servers do not call that blocking.
    std::set<std::string_view> const blocks_unsaid = {"SHUTDOWN"};
    for (auto const& special : redis::impl::commands) {
        auto const space = special.name.find(' ');
        auto const* const facts = space == special.name.npos
                                      ? facts_of(special.name)
                                      : facts_of(special.name.substr(0, space), special.name.substr(space + 1));
        ASSERT_EQ(facts == nullptr, of_newer_servers.contains(special.name)) << special.name;
        if (!facts)
            continue;
        bool const blocks = special.what == role::blocks || special.what == role::awaits_writes ||
                            special.what == role::reads_stream;
        EXPECT_EQ(blocks, may_block(*facts) || blocks_unsaid.contains(special.name)) << special.name;
        EXPECT_EQ(special.what == role::container, is_container(*facts)) << special.name;
        if (special.what == role::opens || special.what == role::closes) {
            EXPECT_EQ(facts->arity, 1) << special.name << " is refused by the client with arguments";
        }
    }
    for (auto const& facts : redis::impl::all_command_facts()) {
        auto const space = facts.name.find(' ');
        auto const* const special = space == facts.name.npos ? redis::impl::find_command(facts.name)
                                                             : redis::impl::find_command(facts.name.substr(0, space),
                                                                                         facts.name.substr(space + 1));
        auto const what = special ? special->what : role::plain;
        if (may_block(facts)) {
            ASSERT_NE(special, nullptr) << facts.name << " blocks";
            EXPECT_GE(special->fit, fitness::alone) << facts.name << " holds others up";
        }
        EXPECT_EQ(what == role::confirmed, facts.has(flag::pubsub | flag::noscript)) << facts.name;
        if (facts.has(flag::no_auth)) {
            EXPECT_TRUE(special && special->fit != fitness::shared) << facts.name << " comes before the login";
        }
    }
}

} // namespace fairlead::test
