// Commands about the connection and the server: HELLO, AUTH, CLIENT, INFO and their like.
#include <redis_server/call.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <vector>

namespace fairlead::redis::server_impl::connections {
namespace {

constexpr std::string_view redis_version = "7.2.0"; // whose commands and wording these are

std::string_view const wrong_pass = "WRONGPASS invalid username-password pair or user is disabled.";

bool try_password(call& c, std::string_view user, std::string_view password) {
    if (log_in(c.self, user, password))
        return true;
    c.error(wrong_pass);
    return false;
}

bool is_client_name(std::string_view name) noexcept {
    return std::ranges::all_of(name, [](char b) { return b > ' ' && b <= '~'; });
}

bool set_client_name(call& c, std::string_view name) {
    if (!is_client_name(name)) {
        c.error("ERR Client names cannot contain spaces, newlines or special characters.");
        return false;
    }
    c.self.name = name;
    return true;
}

std::string describe(server_session const& who, std::int64_t now) {
    std::string flags;
    if (who.has_subscriptions())
        flags += 'P';
    if (who.in_transaction)
        flags += 'x';
    if (who.waits)
        flags += 'b';
    if (flags.empty())
        flags = "N";
    auto const field = [](std::string_view name, auto const& text) {
        return std::string(name).append("=").append(text).append(" ");
    };
    return field("id", std::to_string(who.id)) + field("addr", who.address) + field("name", who.name) +
           field("age", std::to_string((now - who.created_at) / 1000)) + field("idle", "0") + field("flags", flags) +
           field("db", std::to_string(who.database)) + field("sub", std::to_string(who.subscribed[0].size())) +
           field("psub", std::to_string(who.subscribed[1].size())) +
           field("ssub", std::to_string(who.subscribed[2].size())) +
           field("multi", who.in_transaction ? std::to_string(who.queue.size()) : "-1") +
           field("qbuf", std::to_string(who.input.size())) + field("obl", std::to_string(who.output.size())) +
           field("cmd", who.last_command) + field("user", who.user) + field("lib-name", who.library_name) +
           field("lib-ver", who.library_version) + "resp=" + (who.protocol == resp3::version::resp3 ? "3" : "2") + "\n";
}

void client_reply(call& c) {
    if (c.is(2, "on")) {
        c.self.replies = reply_mode::on;
        c.ok();
    } else if (c.is(2, "off")) {
        c.self.replies = reply_mode::off;
    } else if (c.is(2, "skip")) {
        if (c.self.replies != reply_mode::off)
            c.self.replies = reply_mode::skip_next;
    } else {
        c.syntax_error();
    }
}

void client_setinfo(call& c) {
    if (!is_client_name(c.args[3]))
        return c.error("ERR " + to_lower(c.args[2]) + " cannot contain spaces, newlines or special characters.");
    if (c.is(2, "lib-name"))
        c.self.library_name = c.args[3];
    else if (c.is(2, "lib-ver"))
        c.self.library_version = c.args[3];
    else
        return c.error("ERR Unrecognized option '" + std::string(c.args[2]) + "'");
    c.ok();
}

void client_list(call& c) {
    std::string text;
    for (auto const& [id, session] : c.server.sessions)
        text += describe(*session, c.server.now());
    c.verbatim(text);
}

void client_kill(call& c) {
    std::int64_t id = 0;
    if (!c.is(2, "id"))
        return c.syntax_error();
    if (!c.integer(c.args[3], id, "ERR client-id should be greater than 0"))
        return;
    auto const at = c.server.sessions.find(static_cast<std::uint64_t>(id));
    if (at == c.server.sessions.end())
        return c.number(0);
    c.server.close(*at->second);
    c.number(1);
}

void client_unblock(call& c) {
    std::int64_t id = 0;
    if (c.count() > 4)
        return c.wrong_arity();
    bool const has_reason = c.count() == 4;
    bool const by_error = has_reason && c.is(3, "error");
    if (has_reason && !by_error && !c.is(3, "timeout"))
        return c.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    if (!c.integer(c.args[2], id))
        return;
    auto const at = c.server.sessions.find(static_cast<std::uint64_t>(id));
    bool const waits = at != c.server.sessions.end() && at->second->waits;
    if (waits)
        c.server.end_wait(*at->second, by_error ? "UNBLOCKED client unblocked via CLIENT UNBLOCK" : "");
    c.number(waits);
}

void answer_ok(call& c) { c.ok(); }

void auth(call& c) {
    if (c.args.size() > 3)
        return c.syntax_error();
    if (c.args.size() == 2 && c.server.users.find("default")->second.needs_no_password)
        return c.error("ERR AUTH <password> called without any password configured for the default user. Are you sure "
                       "your configuration is correct?");
    if (try_password(c, c.args.size() == 3 ? c.args[1] : "default", c.args.back()))
        c.ok();
}

void hello(call& c) {
    std::int64_t wanted = static_cast<int>(c.protocol());
    if (c.args.size() > 1) {
        if (!c.integer(c.args[1], wanted, "ERR Protocol version is not an integer or out of range"))
            return;
        if (wanted != 2 && wanted != 3)
            return c.error("NOPROTO unsupported protocol version");
    }
    std::string_view user, password, name;
    bool has_auth = false, has_name = false;
    for (std::size_t i = 2; i < c.args.size(); ++i) {
        if (c.is(i, "auth") && i + 2 < c.args.size()) {
            user = c.args[++i];
            password = c.args[++i];
            has_auth = true;
        } else if (c.is(i, "setname") && i + 1 < c.args.size()) {
            name = c.args[++i];
            has_name = true;
        } else {
            return c.error("ERR Syntax error in HELLO option '" + std::string(c.args[i]) + "'");
        }
    }
    if (has_auth && !try_password(c, user, password))
        return;
    if (!c.self.authenticated)
        return c.error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> "
                       "AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol "
                       "version at the same time");
    if (has_name && !set_client_name(c, name))
        return;
    c.self.protocol = wanted == 3 ? resp3::version::resp3 : resp3::version::resp2;
    c.map(7);
    c.bulk("server");
    c.bulk("redis");
    c.bulk("version");
    c.bulk(redis_version);
    c.bulk("proto");
    c.number(wanted);
    c.bulk("id");
    c.number(static_cast<std::int64_t>(c.self.id));
    c.bulk("mode");
    c.bulk("standalone");
    c.bulk("role");
    c.bulk("master");
    c.bulk("modules");
    c.array(0);
}

void ping(call& c) {
    if (c.args.size() > 2)
        return c.error("ERR wrong number of arguments for 'ping' command");
    if (c.protocol() == resp3::version::resp2 && c.self.has_subscriptions()) {
        // A subscriber of RESP2 can only be told things in the shape of a message.
        c.array(2);
        c.bulk("pong");
        return c.bulk(c.args.size() == 2 ? c.args[1] : "");
    }
    c.args.size() == 2 ? c.bulk(c.args[1]) : c.simple("PONG");
}

void echo(call& c) { c.bulk(c.args[1]); }

void quit(call& c) {
    c.ok();
    c.self.closing = true;
}

void reset(call& c) {
    reset_session(c.self);
    c.simple("RESET");
}

void select(call& c) {
    std::int64_t index = 0;
    if (!c.integer(c.args[1], index))
        return;
    if (index < 0 || index >= static_cast<std::int64_t>(c.server.databases.size()))
        return c.error("ERR DB index is out of range");
    c.self.database = static_cast<std::size_t>(index);
    c.ok();
}

void client_(call& c) {
    static constexpr subcommand subcommands[] = {
        {"id", 2, [](call& k) { k.number(static_cast<std::int64_t>(k.self.id)); }},
        {"getname", 2, [](call& k) { k.self.name.empty() ? k.null() : k.bulk(k.self.name); }},
        {"setname", 3,
         [](call& k) {
             if (set_client_name(k, k.args[2]))
                 k.ok();
         }},
        {"setinfo", 4, client_setinfo},
        {"info", 2, [](call& k) { k.verbatim(describe(k.self, k.server.now())); }},
        {"list", -2, client_list},
        {"reply", 3, client_reply},
        {"kill", 4, client_kill},
        {"unblock", -3, client_unblock},
        {"no-evict", 3, answer_ok},
        {"no-touch", 3, answer_ok},
    };
    choose(c, subcommands);
}

void command_getkeys(call& c) {
    auto const args = c.args.subspan(2);
    command const* const cmd = find_command(args[0]);
    if (!cmd)
        return c.error("ERR Invalid command specified");
    if (!has_arity(*cmd, args.size()))
        return c.error("ERR Invalid number of arguments specified for command");
    auto const keys = keys_of(*cmd, args);
    if (keys.empty())
        return c.error("ERR The command has no key arguments");
    c.array(keys.size());
    for (std::string_view const key : keys)
        c.bulk(key);
}

// Without flags, tips, places of keys beyond the first ones, and subcommands: those are not kept here.
void command_info(call& c) {
    constexpr std::size_t fields = 10;
    c.array(c.count() - 2);
    for (std::string_view const name : c.args.subspan(2)) {
        command const* const cmd = find_command(name);
        if (!cmd || !c.server.knows(*cmd)) {
            c.null_array();
            continue;
        }
        c.array(fields);
        c.bulk(cmd->name);
        c.number(cmd->arity);
        c.set(0);
        bool const has_places = cmd->keys.step > 0 && !(cmd->flags & has_subcommands);
        c.number(has_places ? cmd->keys.first : 0);
        c.number(has_places ? cmd->keys.last : 0);
        c.number(has_places ? cmd->keys.step : 0);
        c.set(static_cast<std::size_t>(std::popcount(cmd->categories)));
        for (std::size_t i = 0; i != std::size(category_names); ++i)
            if (cmd->categories >> i & 1)
                c.simple("@" + std::string(category_names[i]));
        c.set(0);
        c.set(0);
        c.set(0);
    }
}

std::vector<command const*> known_commands(server_state const& server) {
    std::vector<command const*> known;
    std::ranges::copy_if(all_commands(), std::back_inserter(known),
                         [&](auto const* cmd) { return server.knows(*cmd); });
    return known;
}

void command_(call& c) {
    // Tools ask for these to complete names and show hints; they are content with nothing.
    static constexpr subcommand subcommands[] = {
        {"count", 2, [](call& k) { k.size(known_commands(k.server).size()); }},
        {"list", -2,
         [](call& k) {
             auto const known = known_commands(k.server);
             k.array(known.size());
             for (command const* const cmd : known)
                 k.bulk(cmd->name);
         }},
        {"docs", -2, [](call& k) { k.map(0); }},
        {"getkeys", -3, command_getkeys},
        {"info", -2, command_info},
    };
    c.args.size() == 1 ? c.array(0) : choose(c, subcommands);
}

void config(call& c) {
    static constexpr subcommand subcommands[] = {
        {"get", -3,
         [](call& k) {
             std::pair<std::string_view, std::string> const settings[] = {
                 {"appendonly", "no"}, {"databases", std::to_string(k.server.databases.size())},
                 {"maxmemory", "0"},   {"proto-max-bulk-len", std::to_string(k.server.options.bulk_bytes_max)},
                 {"save", ""},
             };
             auto const is_wanted = [&k](auto const& setting) {
                 return std::ranges::any_of(k.args.subspan(2), [&setting](std::string_view pattern) {
                     return glob_match(to_lower(pattern), setting.first);
                 });
             };
             k.map(static_cast<std::size_t>(std::ranges::count_if(settings, is_wanted)));
             for (auto const& setting : settings)
                 if (is_wanted(setting)) {
                     k.bulk(setting.first);
                     k.bulk(setting.second);
                 }
         }},
        {"set", -4,
         [](call& k) { k.error("ERR CONFIG SET failed - the embedded server is configured by its program"); }},
        {"resetstat", 2, answer_ok},
    };
    choose(c, subcommands);
}

void info(call& c) {
    auto const wants = [&c](std::string_view section) {
        return c.args.size() == 1 || std::ranges::any_of(c.args.subspan(1), [section](std::string_view arg) {
                   return equals_any_case(arg, section) || equals_any_case(arg, "all") ||
                          equals_any_case(arg, "default") || equals_any_case(arg, "everything");
               });
    };
    std::int64_t const uptime = (c.server.now() - c.server.started_at) / 1000;
    std::string text;
    auto const section = [&](std::string_view title) {
        bool const wanted = wants(to_lower(title));
        if (wanted)
            text.append(text.empty() ? "# " : "\r\n# ").append(title).append("\r\n");
        return wanted;
    };
    auto const field = [&text](std::string_view name, std::string_view data) {
        text.append(name).append(":").append(data).append("\r\n");
    };
    if (section("Server")) {
        field("redis_version", redis_version);
        field("redis_mode", "standalone");
        field("server_name", "fairlead");
        field("process_id", std::to_string(c.server.options.process_id));
        field("uptime_in_seconds", std::to_string(uptime));
        field("uptime_in_days", std::to_string(uptime / 86400));
    }
    if (section("Clients"))
        field("connected_clients", std::to_string(c.server.sessions.size()));
    if (section("Memory")) {
        // Keys and string values; a figure for dashboards, not for accounting.
        std::size_t bytes = 0;
        for (auto const& db : c.server.databases)
            for (auto const& [key, item] : db) {
                bytes += key.size() + sizeof item;
                if (auto const* const held = std::get_if<std::string>(&item.held))
                    bytes += held->size();
            }
        field("used_memory", std::to_string(bytes));
        field("maxmemory", "0");
    }
    if (section("Persistence"))
        field("loading", "0");
    if (section("Stats"))
        field("total_commands_processed", std::to_string(c.server.commands_run));
    if (section("Replication")) {
        field("role", "master");
        field("connected_slaves", "0");
    }
    if (section("Cluster"))
        field("cluster_enabled", "0");
    if (section("Keyspace"))
        for (std::size_t i = 0; i != c.server.databases.size(); ++i) {
            c.server.expire(i);
            database const& db = c.server.databases[i];
            auto const expires =
                std::ranges::count_if(db, [](auto const& item) { return item.second.expires_at != no_expiry; });
            if (!db.empty())
                field("db" + std::to_string(i),
                      "keys=" + std::to_string(db.size()) + ",expires=" + std::to_string(expires) + ",avg_ttl=0");
        }
    c.verbatim(text);
}

void time(call& c) {
    std::int64_t const now = c.server.now();
    c.array(2);
    c.bulk(std::to_string(now / 1000));
    c.bulk(std::to_string(now % 1000 * 1000));
}

// DEBUG PROTOCOL: one example of each kind of reply, for those who write clients.
void debug(call& c) {
    static constexpr subcommand subcommands[] = {
        {"protocol", 3, [](call& k) {
             using namespace resp3;
             if (k.is(2, "string")) {
                 k.bulk("Hello World");
             } else if (k.is(2, "integer")) {
                 k.number(12345);
             } else if (k.is(2, "double")) {
                 append_real(k.out(), 3.141, k.protocol());
             } else if (k.is(2, "null")) {
                 k.null();
             } else if (k.is(2, "array")) {
                 k.array(3);
                 for (int i = 0; i != 3; ++i)
                     k.number(i);
             } else if (k.is(2, "set")) {
                 k.set(3);
                 for (int i = 0; i != 3; ++i)
                     k.number(i);
             } else if (k.is(2, "map")) {
                 k.map(3);
                 for (int i = 0; i != 3; ++i) {
                     k.number(i);
                     append_boolean(k.out(), i == 1, k.protocol());
                 }
             } else if (k.is(2, "attrib")) {
                 if (k.protocol() == version::resp3) {
                     append_attribute_header(k.out(), 1);
                     k.bulk("key-popularity");
                     k.array(2);
                     k.bulk("key:123");
                     k.number(90);
                 }
                 k.bulk("Some real reply following the attribute");
             } else if (k.is(2, "push")) {
                 if (k.protocol() == version::resp2)
                     return k.error("ERR RESP2 is not supported by this command");
                 append_push_header(k.out(), 2, k.protocol());
                 k.bulk("server-cpu-usage");
                 k.number(42);
                 k.bulk("Some real reply following the push reply");
             } else if (k.is(2, "verbatim")) {
                 k.verbatim("This is a verbatim\nstring");
             } else if (k.is(2, "true")) {
                 append_boolean(k.out(), true, k.protocol());
             } else if (k.is(2, "false")) {
                 append_boolean(k.out(), false, k.protocol());
             } else if (k.is(2, "bignum")) {
                 append_big_number(k.out(), "1234567999999999999999999999999999999", k.protocol());
             } else {
                 k.error("ERR Wrong protocol type name. Please use one of the following: "
                         "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false");
             }
         }}};
    choose(c, subcommands);
}

// There are no replicas that could confirm anything.
void wait(call& c) {
    std::int64_t replicas = 0;
    std::optional<std::int64_t> until;
    if (!c.integer(c.args[1], replicas) || !c.milliseconds_limit(c.args[2], until))
        return;
    if (replicas <= 0 || !c.may_wait())
        return c.number(0);
    c.wait({}, until, late_reply::zero);
}

constexpr command table[] = {
    {"auth", at_least(2), no_auth | no_script, no_keys, of_fast | of_connection, auth},
    {"client", at_least(2), no_script | has_subcommands, no_keys, of_slow, client_},
    {"command", at_least(1), has_subcommands, no_keys, of_slow | of_connection, command_},
    {"config", at_least(2), no_script | has_subcommands, no_keys, of_slow, config},
    {"debug", at_least(2), no_script, no_keys, of_admin | of_slow | of_dangerous, debug},
    {"echo", 2, 0, no_keys, of_fast | of_connection, echo},
    {"hello", at_least(1), no_auth | no_script, no_keys, of_fast | of_connection, hello},
    {"info", at_least(1), 0, no_keys, of_slow | of_dangerous, info},
    {"ping", at_least(1), in_subscription, no_keys, of_fast | of_connection, ping},
    {"quit", at_least(1), no_auth | no_script | in_subscription | unqueued, no_keys, of_fast | of_connection, quit},
    {"reset", 1, no_auth | no_script | in_subscription | unqueued, no_keys, of_fast | of_connection, reset},
    {"select", 2, 0, no_keys, of_fast | of_connection, select},
    {"time", 1, 0, no_keys, of_fast, time},
    {"wait", 3, no_script, no_keys, of_slow | of_connection, wait},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::connections
