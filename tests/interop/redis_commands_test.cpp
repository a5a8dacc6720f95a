// The facts of src/redis/commands.hpp beside those that a real server tells of its commands, and its behaviour.

#include "real_redis.hpp"

#include <redis/commands.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {

namespace {

using redis::impl::command_info;
using redis::impl::role;
using fitness = redis::request::fitness;

/// A command, or one of a container's, as COMMAND describes it.
struct server_command {
    std::string name;            // in capitals: "CLIENT REPLY"
    int arity = 0;               // with the name; negative: at least so many
    std::set<std::string> words; // its flags and categories
    bool is_container = false;

    bool has(std::string_view word) const { return words.contains(std::string(word)); }
    std::size_t arguments() const { return static_cast<std::size_t>(std::abs(arity)) - 1; }
};

/// Reads the node at `i` and what is in it as one entry of COMMAND, and moves `i` behind it.
void read_command(redis::generic_response const& all, std::size_t& i, std::vector<server_command>& into) {
    auto const depth = all[i].depth;
    server_command c;
    std::size_t const mine = into.size();
    into.push_back(c);
    std::size_t field = 0;
    for (++i; i != all.size() && all[i].depth > depth; ++field) {
        auto const n = all[i];
        if (field == 0) {
            c.name = n.value;
            std::ranges::transform(c.name, c.name.begin(), redis::impl::capital);
            std::ranges::replace(c.name, '|', ' ');
        }
        if (field == 1)
            std::from_chars(n.value.data(), n.value.data() + n.value.size(), c.arity);
        bool const is_words = field == 2 || field == 6;
        bool const is_subcommands = field == 9;
        for (++i; i != all.size() && all[i].depth > depth + 1;) {
            if (is_subcommands) {
                c.is_container = true;
                read_command(all, i, into);
                continue;
            }
            if (is_words)
                c.words.emplace(all[i].value);
            ++i;
        }
    }
    into[mine] = c;
}

awaitable<void> ask_for_commands(redis::connection& conn, std::vector<server_command>& into) {
    redis::request req;
    req.push("COMMAND");
    redis::generic_response all;
    co_await conn.async_exec(req, all);
    for (std::size_t i = 1; i < all.size();)
        read_command(all, i, into);
}

command_info const* find(std::string_view name) {
    auto const space = name.find(' ');
    auto const* const found = space == name.npos
                                  ? redis::impl::find_command(name)
                                  : redis::impl::find_command(name.substr(0, space), name.substr(space + 1));
    return found && found->what == role::container ? nullptr : found;
}

/// Commands that servers flag, and that nevertheless answer once, at once. They leave the connection as it was, or
/// change only such properties of it as callers that share it may change.
constexpr std::string_view harmless_containers[] = {
    "ACL",      // users and their rights; a connection keeps its own
    "COMMAND",  // descriptions
    "CONFIG",   // the whole server
    "FUNCTION", // the whole server
    "LATENCY",  // measurements
    "MODULE",   // the whole server
    "PUBSUB",   // descriptions
};
constexpr std::string_view harmless[] = {
    "BGREWRITEAOF",
    "BGSAVE",
    "CLIENT GETNAME",
    "CLIENT GETREDIR",
    "CLIENT HELP",
    "CLIENT ID",
    "CLIENT INFO",
    "CLIENT KILL", // ends connections, which is told to all
    "CLIENT LIST",
    "CLIENT PAUSE", // all connections of the server
    "CLIENT TRACKINGINFO",
    "CLIENT UNBLOCK",
    "CLIENT UNPAUSE",
    "CLUSTER RESET", // the whole server
    "DEBUG",         // likewise
    "ECHO",
    "EVAL", // what a script sets, it sets for itself
    "EVALSHA",
    "EVALSHA_RO",
    "EVAL_RO",
    "FAILOVER", // the whole server
    "FCALL",
    "FCALL_RO",
    "PING",
    "PUBLISH",
    "REPLICAOF", // the whole server
    "ROLE",
    "SAVE", // the whole server
    "SCRIPT EXISTS",
    "SCRIPT FLUSH",
    "SCRIPT LOAD",
    "SCRIPT SHOW",
    "SLAVEOF", // the whole server
    "SPUBLISH",
    "UNWATCH", // where WATCH is refused there is nothing to forget
};

/// Entries of ours that not every server has.
constexpr std::string_view of_some_servers[] = {
    "CLIENT CAPA",          // Valkey 8
    "CLIENT IMPORT-SOURCE", // Valkey 8.1
    "CLIENT NO-TOUCH",      // 7.2
    "CLIENT SETINFO",       // 7.2
    "CLUSTER SYNCSLOTS",    // 8.4, Valkey 9
    "WAITAOF",              // 7.2
};

bool is_harmless(std::string_view name) {
    return std::ranges::count(harmless, name) != 0 ||
           std::ranges::count(harmless_containers, name.substr(0, name.find(' '))) != 0;
}

/// The flags of a command, by the server, that may concern more than its one reply.
std::string suspicion(server_command const& c) {
    std::string all;
    for (auto const* word : {"blocking", "noscript", "no_multi", "no_auth", "pubsub", "@connection", "@transaction",
                             "@blocking", "@pubsub"})
        if (c.has(word))
            all.append(all.empty() ? "" : ", ").append(word);
    return all;
}

class RealRedisCommands : public RealRedis {
protected:
    void SetUp() override {
        RealRedis::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        with_connection(cfg_, [this](redis::connection& conn) { return ask_for_commands(conn, commands_); });
        if (std::ranges::none_of(commands_, [](auto& c) { return c.name == "CLIENT REPLY"; }))
            GTEST_SKIP() << "the server is older than 7.0 and does not describe subcommands";
    }
    std::vector<server_command> commands_;
};

} // namespace

TEST_F(RealRedisCommands, EveryCommandThatTheServerFlagsIsKnown) {
    EXPECT_GT(commands_.size(), 300U);
    for (auto const& c : commands_)
        if (auto const why = suspicion(c); !why.empty() && !c.is_container && !find(c.name) && !is_harmless(c.name))
            ADD_FAILURE() << "The server flags " << c.name << " as " << why
                          << ". Write into src/redis/commands.hpp what it does to a connection that callers share, or "
                             "into `harmless` in this file that it does nothing.";
    for (auto const name : harmless) {
        auto const* const known = find(name);
        EXPECT_TRUE(!known || known->fit == fitness::shared) << name << " is harmless here, and refused elsewhere";
    }
}

TEST_F(RealRedisCommands, TheTableSaysOfCommandsWhatTheServerSays) {
    for (auto const& c : commands_) {
        auto const* const known = find(c.name);
        auto const what = known ? known->what : role::plain;
        if (c.is_container && std::ranges::any_of(redis::impl::commands,
                                                  [&](auto& each) { return each.name.starts_with(c.name + ' '); })) {
            EXPECT_TRUE(std::ranges::any_of(
                redis::impl::commands, [&](auto& each) { return each.name == c.name && each.what == role::container; }))
                << c.name << " has subcommands: it needs an entry of its own with role::container";
        }
        if (c.has("blocking")) {
            EXPECT_TRUE(what == role::blocks || what == role::awaits_writes || what == role::reads_stream)
                << c.name << " blocks";
        }
        if (what == role::blocks || what == role::awaits_writes || what == role::reads_stream) {
            EXPECT_GE(known->fit, fitness::alone) << c.name << " holds others up";
        }
        EXPECT_EQ(what == role::confirmed, c.has("pubsub") && c.has("noscript")) << c.name << " and subscriptions";
        if (c.has("@transaction") && c.name != "WATCH" && c.name != "UNWATCH") {
            EXPECT_TRUE(what == role::opens || what == role::closes) << c.name << " concerns transactions";
        }
        if (what == role::opens || what == role::closes) {
            EXPECT_EQ(c.arity, 1) << c.name << " is refused by the client with arguments";
        }
        if (c.has("no_auth")) {
            EXPECT_TRUE(known && known->fit != fitness::shared) << c.name << " comes before the login";
        }
    }
    for (auto const& each : redis::impl::commands)
        EXPECT_TRUE(std::ranges::count(of_some_servers, each.name) != 0 ||
                    std::ranges::any_of(commands_, [&](auto& c) { return c.name == each.name; }))
            << each.name << " is no command of the server: is it misspelt?";
}

namespace {

/// The text of CLIENT INFO for a connection, without the fields that change by themselves.
std::string state_of(std::string_view info) {
    std::string state;
    for (std::size_t at = 0; at < info.size();) {
        auto const end = std::min(info.find_first_of(" \n", at), info.size());
        auto const field = info.substr(at, end - at);
        for (std::string_view key :
             {"flags=", "db=", "sub=", "psub=", "ssub=", "multi=", "watch=", "user=", "redir=", "resp=", "capa="})
            if (field.starts_with(key))
                state.append(field).append(" ");
        at = end + 1;
    }
    return state;
}

struct trial {
    std::size_t tried = 0;
    std::string last;                           ///< command sent
    std::map<std::string, std::string> changed; ///< what each of some commands changed
};

/// Sends every command that callers of one connection may send, with arguments of several kinds, and looks at the
/// connection afterwards.
awaitable<void> try_commands(redis::connection& conn, std::vector<server_command> const& commands, trial& t) {
    redis::request ask;
    ask.push("CLIENT", "INFO");
    std::string info;
    co_await conn.async_exec(ask, info);
    std::string before = state_of(info);
    EXPECT_NE(before.find("resp=3"), before.npos) << before;
    for (auto const& c : commands)
        for (std::string_view fill : {"1", "0", "on", "yes"}) {
            auto const* const known = find(c.name);
            bool const concerns_server = c.has("@admin") && !c.has("@connection");
            if (c.is_container || concerns_server || (known && known->what == role::confirmed))
                continue;
            auto const space = c.name.find(' ');
            std::vector<std::string> arguments(c.arguments(), std::string(fill));
            if (space != c.name.npos)
                arguments[0] = c.name.substr(space + 1);
            redis::request req;
            req.push_range(c.name.substr(0, space), arguments);
            if (req.fit() != fitness::shared)
                continue;
            t.last = c.name + ' ' + std::string(fill);
            redis::generic_response ignored;
            co_await conn.async_exec(req, ignored);
            EXPECT_EQ(ignored.messages(), 1U) << c.name << " has other than one reply";
            co_await conn.async_exec(ask, info);
            auto const after = state_of(info);
            if (after != before)
                t.changed[c.name] = before + "became " + after;
            before = after;
            ++t.tried;
        }
}

} // namespace

TEST_F(RealRedisCommands, WhatCallersOfOneConnectionMaySendLeavesItAsItWas) {
    trial t;
    with_connection(cfg_, [&](redis::connection& conn) { return try_commands(conn, commands_, t); });
    EXPECT_GT(t.tried, 600U) << "the last command was " << t.last;
    t.changed.erase("CLIENT NO-EVICT"); // marks: of the connection alone, whose properties callers share
    t.changed.erase("CLIENT TRACKING");
    for (auto const& [name, how] : t.changed)
        ADD_FAILURE() << name << " changed the connection: " << how << ". It belongs into src/redis/commands.hpp.";
}

namespace {

awaitable<error_code> send_all(redis::connection& conn, std::vector<std::vector<std::string>> commands) {
    redis::request req;
    for (auto const& words : commands)
        req.push_range(words[0], std::vector<std::string>(words.begin() + 1, words.end()));
    auto [ec, n] = co_await conn.async_exec(req, redis::ignore, as_tuple);
    co_return ec;
}

/// A caller's SET holds, whatever another caller sends.
awaitable<void> be_a_neighbour(redis::connection& conn, std::vector<std::vector<std::string>> commands) {
    auto sending = send_all(conn, std::move(commands));
    EXPECT_EQ(co_await std::move(sending), redis::error::refused_command);
    redis::request req;
    req.push("SET", "neighbour", "mine");
    req.push("GET", "neighbour");
    redis::response<std::string, std::string> resp;
    auto [ec, n] = co_await conn.async_exec(req, resp, as_tuple);
    EXPECT_EQ(ec, error_code());
    EXPECT_EQ(std::get<0>(resp).value_or("nothing"), "OK");
    EXPECT_EQ(std::get<1>(resp).value_or("nothing"), "mine");
}

} // namespace

TEST_F(RealRedisCommands, TransactionThatTheServerKeepsOpenIsNotSentOnASharedConnection) {
    for (std::string const last : {"DISCARD", "discard", "EXEC", "MULTI"})
        with_connection(cfg_, [&](redis::connection& conn) {
            return be_a_neighbour(conn, {{"MULTI"}, {"INCR", "count"}, {last, "junk"}});
        });
    with_connection(cfg_, [&](redis::connection& conn) {
        return be_a_neighbour(conn, {{"MULTI"}, {"INCR", "count"}, {"UNWATCH"}});
    });
}

TEST_F(RealRedisCommands, TheDebuggerOfScriptsIsNotSent) {
    for (std::string const mode : {"YES", "SYNC", "yes"})
        with_connection(cfg_, [&](redis::connection& conn) {
            return be_a_neighbour(conn, {{"Script", "Debug", mode}, {"EVAL", "local a = 1; return a", "0"}});
        });
}

} // namespace fairlead::test
