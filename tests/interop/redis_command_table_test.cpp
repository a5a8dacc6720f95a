// The table of all commands (src/redis/command_table.inc) beside the answers of the real server that is installed.

#include "real_redis.hpp"

#include <redis/command_entry.hpp>
#include <redis/command_table.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis::impl::said {

/// The facts of servers that say something else than all of them together.
constexpr command_facts differences[] = {
#define FAIRLEAD_COMMAND(...)
#define FAIRLEAD_COMMAND_OF(...) command(__VA_ARGS__),
#include <redis/command_table.inc>
#undef FAIRLEAD_COMMAND
#undef FAIRLEAD_COMMAND_OF
};

} // namespace fairlead::redis::impl::said

namespace fairlead::test {

namespace {

namespace table = redis::impl;

/// A reply, or a part of one. Those of a map alternate with their keys.
struct reply_tree {
    std::string text;
    bool is_error = false;
    std::vector<reply_tree> items;

    reply_tree const* find(std::string_view name) const {
        for (std::size_t i = 0; i + 1 < items.size(); i += 2)
            if (items[i].text == name)
                return &items[i + 1];
        return nullptr;
    }
    reply_tree const& at(std::string_view name) const {
        static reply_tree const nothing;
        auto const* const found = find(name);
        return found ? *found : nothing;
    }
};

/// Reads the node at `i` with all that is in it, and moves `i` behind it.
reply_tree read_tree(redis::generic_response const& all, std::size_t& i) {
    auto const n = all[i++];
    reply_tree tree{std::string(n.value), resp3::is_error(n.kind), {}};
    while (i != all.size() && all[i].depth > n.depth)
        tree.items.push_back(read_tree(all, i));
    return tree;
}

awaitable<void> ask_for_trees(redis::connection& conn, redis::request const& req, std::vector<reply_tree>& into) {
    redis::generic_response all;
    co_await conn.async_exec(req, all);
    for (std::size_t i = 0; i < all.size();)
        into.push_back(read_tree(all, i));
}

struct named_bit {
    std::uint32_t bit;
    std::string_view name;
};

constexpr named_bit command_flags[] = {
    {table::flag::write, "write"},
    {table::flag::readonly, "readonly"},
    {table::flag::denyoom, "denyoom"},
    {table::flag::admin, "admin"},
    {table::flag::pubsub, "pubsub"},
    {table::flag::noscript, "noscript"},
    {table::flag::blocking, "blocking"},
    {table::flag::loading, "loading"},
    {table::flag::stale, "stale"},
    {table::flag::skip_monitor, "skip_monitor"},
    {table::flag::skip_slowlog, "skip_slowlog"},
    {table::flag::skip_commandlog, "skip_commandlog"},
    {table::flag::asking, "asking"},
    {table::flag::fast, "fast"},
    {table::flag::no_auth, "no_auth"},
    {table::flag::may_replicate, "may_replicate"},
    {table::flag::no_mandatory_keys, "no_mandatory_keys"},
    {table::flag::no_async_loading, "no_async_loading"},
    {table::flag::no_multi, "no_multi"},
    {table::flag::movablekeys, "movablekeys"},
    {table::flag::allow_busy, "allow_busy"},
    {table::flag::module, "module"},
    {table::flag::container, "container"},
};
constexpr named_bit command_tips[] = {
    {table::tip::request_all_nodes, "request_policy:all_nodes"},
    {table::tip::request_all_shards, "request_policy:all_shards"},
    {table::tip::request_multi_shard, "request_policy:multi_shard"},
    {table::tip::request_special, "request_policy:special"},
    {table::tip::response_one_succeeded, "response_policy:one_succeeded"},
    {table::tip::response_all_succeeded, "response_policy:all_succeeded"},
    {table::tip::response_agg_logical_and, "response_policy:agg_logical_and"},
    {table::tip::response_agg_logical_or, "response_policy:agg_logical_or"},
    {table::tip::response_agg_min, "response_policy:agg_min"},
    {table::tip::response_agg_max, "response_policy:agg_max"},
    {table::tip::response_agg_sum, "response_policy:agg_sum"},
    {table::tip::response_special, "response_policy:special"},
    {table::tip::nondeterministic_output, "nondeterministic_output"},
    {table::tip::nondeterministic_output_order, "nondeterministic_output_order"},
};
constexpr named_bit flags_of_keys[] = {
    {table::key::ro, "RO"},
    {table::key::rw, "RW"},
    {table::key::ow, "OW"},
    {table::key::rm, "RM"},
    {table::key::access, "access"},
    {table::key::update, "update"},
    {table::key::insert, "insert"},
    {table::key::deletes, "delete"},
    {table::key::not_key, "not_key"},
    {table::key::incomplete, "incomplete"},
    {table::key::variable_flags, "variable_flags"},
};

template <std::size_t N> std::set<std::string> names_of(std::uint32_t bits, named_bit const (&all)[N]) {
    std::set<std::string> names;
    for (auto const& each : all)
        if (bits & each.bit)
            names.emplace(each.name);
    return names;
}

std::string joined(std::set<std::string> const& words) {
    std::string text;
    for (auto const& word : words)
        text.append(text.empty() ? "" : " ").append(word);
    return text;
}

std::set<std::string> words_in(reply_tree const& list) {
    std::set<std::string> words;
    for (auto const& each : list.items)
        words.insert(each.text);
    return words;
}

/// One command in one form, whoever says it. A mismatch is read in this form, too.
struct described {
    std::string name; // "CONFIG GET"
    std::string facts;
};

std::string facts_text(std::string const& arity, std::string_view group, std::string const& since,
                       std::set<std::string> const& flags, std::set<std::string> const& tips, std::string const& keys) {
    std::string text = "arity " + arity + ", " + std::string(group) + ", since " + since + ", flags " + joined(flags);
    return text.append(", tips ").append(joined(tips)).append(keys);
}

std::string key_text(table::key_spec const& k) {
    using spec = table::key_spec;
    static constexpr std::string_view keywords[] = {"", "KEYS", "STORE", "STOREDIST", "STREAMS"};
    std::string text = "\n    key: " + joined(names_of(k.flags, flags_of_keys)) + "; ";
    if (k.begin_search == spec::begin::unknown)
        return text.append("unknown");
    auto const position = std::to_string(k.position);
    text.append(k.begin_search == spec::begin::index
                    ? "index " + position
                    : std::string(keywords[static_cast<std::size_t>(k.word)]) + " from " + position);
    return text.append(k.find_keys == spec::find::range
                           ? "; range " + std::to_string(k.last_key) + ' ' + std::to_string(k.key_step) + ' ' +
                                 std::to_string(k.limit)
                           : "; keynum " + std::to_string(k.keynum_index) + ' ' + std::to_string(k.first_key) + ' ' +
                                 std::to_string(k.key_step));
}

std::string key_text(reply_tree const& k) {
    std::string text = "\n    key: " + joined(words_in(k.at("flags"))) + "; ";
    auto const& begin = k.at("begin_search");
    auto const& find = k.at("find_keys");
    if (begin.at("type").text == "unknown" || find.at("type").text == "unknown")
        return text.append("unknown");
    auto const& from = begin.at("spec");
    auto const& to = find.at("spec");
    text.append(begin.at("type").text == "index" ? "index " + from.at("index").text
                                                 : from.at("keyword").text + " from " + from.at("startfrom").text);
    return text.append(
        find.at("type").text == "range"
            ? "; range " + to.at("lastkey").text + ' ' + to.at("keystep").text + ' ' + to.at("limit").text
            : "; keynum " + to.at("keynumidx").text + ' ' + to.at("firstkey").text + ' ' + to.at("keystep").text);
}

constexpr std::string_view group_names[] = {
    "bitmap", "cluster",   "connection", "generic", "geo",        "hash",   "hyperloglog", "list",        "module",
    "pubsub", "scripting", "server",     "set",     "sorted-set", "stream", "string",      "transactions"};

std::string described_by_table(table::command_facts const& c) {
    auto const& v = c.since;
    auto const since = v == table::command_version{}
                           ? std::string("?")
                           : std::to_string(v.major) + '.' + std::to_string(v.minor) + '.' + std::to_string(v.patch);
    std::string keys;
    for (auto const& each : c.keys())
        keys.append(key_text(each));
    return facts_text(std::to_string(c.arity), group_names[static_cast<std::size_t>(c.group)], since,
                      names_of(c.flags, command_flags), names_of(c.tips, command_tips), keys);
}

using docs_by_name = std::map<std::string, reply_tree const*>;

void collect_docs(reply_tree const& docs, docs_by_name& into) {
    for (std::size_t i = 0; i + 1 < docs.items.size(); i += 2) {
        into[docs.items[i].text] = &docs.items[i + 1];
        collect_docs(docs.items[i + 1].at("subcommands"), into);
    }
}

void describe_by_server(reply_tree const& c, docs_by_name const& docs, std::map<std::string, std::string>& into) {
    ASSERT_EQ(c.items.size(), 10U);
    auto name = c.items[0].text;
    auto flags = words_in(c.items[2]);
    if (!c.items[9].items.empty())
        flags.insert("container");
    std::string keys;
    for (auto const& each : c.items[8].items)
        keys.append(key_text(each));
    auto const found = docs.find(name);
    reply_tree const& doc = found == docs.end() ? c : *found->second;
    auto const& since = doc.at("since").text;
    std::ranges::transform(name, name.begin(), [](char x) { return x >= 'a' && x <= 'z' ? char(x - 32) : x; });
    std::ranges::replace(name, '|', ' ');
    into[name] = facts_text(c.items[1].text, doc.at("group").text, since.empty() ? "?" : since, flags,
                            words_in(c.items[7]), keys);
    for (auto const& each : c.items[9].items)
        describe_by_server(each, docs, into);
}

class RealRedisTable : public RealRedis {
protected:
    void SetUp() override {
        RealRedis::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        redis::request req;
        req.push("INFO", "server");
        auto const info = ask(req).at(0).text;
        which_ = server_of(info);
        if (which_ == 0)
            GTEST_SKIP() << "the table does not have a server of this version: " << info;
    }
    std::vector<reply_tree> ask(redis::request const& req) {
        std::vector<reply_tree> replies;
        with_connection(cfg_, [&](redis::connection& conn) { return ask_for_trees(conn, req, replies); });
        EXPECT_EQ(replies.size(), req.commands());
        return replies;
    }
    static std::uint8_t server_of(std::string_view info) {
        if (info.find("valkey_version:") != info.npos)
            return info.find("valkey_version:8.1.") != info.npos ? table::servers::valkey_8_1 : 0;
        return info.find("redis_version:7.0.") != info.npos   ? table::servers::redis_7_0
               : info.find("redis_version:8.0.") != info.npos ? table::servers::redis_8_0
                                                              : 0;
    }

    std::uint8_t which_ = 0;
};

} // namespace

TEST_F(RealRedisTable, EveryCommandIsThereWithTheFactsOfTheServer) {
    redis::request req;
    req.push("COMMAND");
    req.push("COMMAND", "DOCS");
    auto const replies = ask(req);
    docs_by_name docs;
    collect_docs(replies.at(1), docs);
    std::map<std::string, std::string> by_server;
    for (auto const& each : replies[0].items)
        describe_by_server(each, docs, by_server);
    EXPECT_GT(by_server.size(), 300U);

    std::map<std::string, std::string> by_table;
    for (auto const& each : table::all_command_facts())
        if (each.servers & which_)
            by_table[std::string(each.name)] = described_by_table(each);
    for (auto const& each : table::said::differences)
        if (each.servers & which_)
            by_table[std::string(each.name)] = described_by_table(each);
    for (auto const& [name, facts] : by_server)
        EXPECT_EQ(by_table[name], facts) << name << " is told otherwise by the server: tools/redis_commands.py --check";
    for (auto const& [name, facts] : by_table)
        EXPECT_TRUE(by_server.contains(name)) << name << " is no command of the server";
}

namespace {

struct key_example {
    std::string_view command;
    std::string_view ours{}; // where the specifications alone do not tell what the server knows
};

// Of each kind of specification, and of commands that are wrong.
constexpr key_example key_examples[] = {
    // At one index.
    {"GET a"},
    {"SET a 1 EX 10"},
    {"STRLEN a b"},
    {"OBJECT ENCODING a"},
    {"MEMORY USAGE a"},
    {"XGROUP CREATE a g $"},
    {"XINFO STREAM a"},
    {"HSET a f v"},
    {"DUMP a"},
    {"PING text"},
    {"CONFIG GET dir"},
    {"SPUBLISH a text"},
    {"PUBLISH a text"},
    // At two.
    {"RENAME a b"},
    {"COPY a b REPLACE"},
    {"LMOVE a b LEFT RIGHT"},
    {"BLMOVE a b LEFT RIGHT 0"},
    {"BRPOPLPUSH a b 0"},
    {"SMOVE a b m"},
    {"GEOSEARCHSTORE a b FROMMEMBER m BYRADIUS 1 m"},
    {"ZRANGESTORE a b 0 -1"},
    {"LCS a b"},
    // Ranges.
    {"DEL a b c"},
    {"UNLINK a"},
    {"EXISTS a a"},
    {"MGET a b c"},
    {"MSET a 1 b 2 c 3"},
    {"MSETNX a 1 b 2"},
    {"MSET a 1 b"},
    {"SINTERSTORE a b c"},
    {"PFMERGE a b c"},
    {"BITOP AND a b c"},
    {"WATCH a b"},
    {"TOUCH a b"},
    {"BLPOP a b 0"},
    {"BRPOP a 0"},
    {"BZPOPMIN a b c 0"},
    {"SSUBSCRIBE a b"},
    // By a number.
    {"EVAL script 2 a b c"},
    {"EVAL script 0"},
    {"EVAL script 0 a"},
    {"EVALSHA sha 1 a"},
    {"EVAL_RO script 1 a"},
    {"FCALL f 2 a b"},
    {"LMPOP 2 a b LEFT"},
    {"BLMPOP 0 2 a b LEFT"},
    {"ZMPOP 1 a MIN"},
    {"BZMPOP 0 1 a MAX"},
    {"SINTERCARD 2 a b"},
    {"ZUNIONSTORE a 2 b c WEIGHTS 1 2"},
    {"ZINTERSTORE a 1 b"},
    {"ZUNION 2 a b WITHSCORES"},
    {"ZDIFF 1 a"},
    {"ZINTERCARD 2 a b LIMIT 1"},
    // Behind a keyword.
    {"XREAD STREAMS a 0"},
    {"XREAD COUNT 2 BLOCK 0 STREAMS a b c 0 0 0"},
    {"xread streams a b $ $"},
    {"XREADGROUP GROUP g c COUNT 1 STREAMS a b > >"},
    {"GEORADIUS a 0 0 1 m"},
    {"GEORADIUS a 0 0 1 m STORE b"},
    {"GEORADIUSBYMEMBER a m 1 m STOREDIST b"},
    {"MIGRATE host 1 a 0 10"},
    {"MIGRATE host 1 \"\" 0 10 COPY KEYS a b", " a b"}, // The empty word stands where a key would.
    // Not told.
    {"SORT a"},
    {"SORT a LIMIT 0 1 DESC"},
    {"SORT a STORE b", "a"},
    {"SORT_RO a BY w_*"},
    // Wrong.
    {"GET"},
    {"GET a b"},
    {"MSET a"},
    {"EVAL script 3 a b", "refused"}, // as EVAL itself refuses it; GETKEYS says that there are no keys
    {"EVAL script -1 a", "refused"},
    {"EVAL script x a", "refused"},
    {"EVAL script 01 a", "refused"}, // GETKEYS takes it for 1
    {"ZUNIONSTORE a 3 b c"},
    {"LMPOP 2 a LEFT"},
};

std::vector<std::string> split_words(std::string_view command) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < command.size();) {
        auto const end = std::min(command.find(' ', at), command.size());
        auto const word = command.substr(at, end - at);
        words.emplace_back(word == "\"\"" ? std::string_view() : word);
        at = end + 1;
    }
    return words;
}

/// The answer to COMMAND GETKEYS.
std::string keys_by_server(reply_tree const& reply) {
    if (reply.is_error)
        return reply.text.find("no key arguments") != reply.text.npos ? std::string() : "refused";
    std::string keys;
    for (auto const& each : reply.items)
        keys.append(keys.empty() ? "" : " ").append(each.text);
    return keys;
}

struct keys_by_table {
    std::string keys;
    table::known_keys known;
};
keys_by_table find_keys(std::string_view command) {
    auto const words = split_words(command);
    std::vector<std::string_view> const views(words.begin(), words.end());
    auto const* const facts = table::facts_of_words(views);
    if (!facts)
        return {"unknown", table::known_keys::malformed};
    std::string keys;
    bool is_first = true;
    auto const known = table::for_each_key(*facts, views, [&](std::size_t i, table::key_spec const&) {
        keys.append(std::exchange(is_first, false) ? "" : " ").append(views[i]);
    });
    return {known == table::known_keys::malformed ? "refused" : keys, known};
}

} // namespace

TEST_F(RealRedisTable, KeysAreFoundWhereTheServerFindsThem) {
    redis::request req;
    for (auto const& each : key_examples) {
        auto words = split_words(each.command);
        words.insert(words.begin(), "GETKEYS");
        req.push_range("COMMAND", words);
    }
    auto const replies = ask(req);
    ASSERT_EQ(replies.size(), std::size(key_examples));
    for (std::size_t i = 0; i != replies.size(); ++i) {
        auto const& example = key_examples[i];
        auto const by_server = keys_by_server(replies[i]);
        auto const by_table = find_keys(example.command);
        if (example.ours.empty()) {
            EXPECT_EQ(by_table.keys, by_server) << example.command << "; the server says " << replies[i].text;
            continue;
        }
        EXPECT_EQ(by_table.keys, example.ours) << example.command;
        EXPECT_NE(by_server, example.ours) << example.command << " is no exception";
        EXPECT_NE(by_table.known, table::known_keys::all) << example.command;
    }
}

} // namespace fairlead::test
