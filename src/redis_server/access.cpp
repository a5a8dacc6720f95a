// Access control: ACL, and the rules of each user.
#include <redis_server/access.hpp>
#include <redis_server/call.hpp>
#include <redis_server/digest.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::access {
namespace {

constexpr std::string_view every = "*";

bool has_every(std::vector<std::string> const& patterns) {
    return std::ranges::find(patterns, every) != patterns.end();
}

bool is_digest(std::string_view text) {
    constexpr std::size_t digits = 64;
    return text.size() == digits &&
           std::ranges::all_of(text, [](char b) { return (b >= '0' && b <= '9') || (b >= 'a' && b <= 'f'); });
}

// The rules about commands.

void allow(acl_user& user, command const& cmd, bool is_allowed) {
    if (is_allowed)
        user.commands.insert(cmd.name);
    else
        user.commands.erase(cmd.name);
    std::erase_if(user.subcommands, [&cmd](auto const& item) {
        return item.first.starts_with(cmd.name) && item.first[cmd.name.size()] == '|';
    });
}

void allow_all(acl_user& user, bool is_allowed) {
    user.may_run_all = is_allowed;
    user.subcommands.clear();
    user.rules.clear();
    user.commands.clear();
    if (is_allowed)
        for (command const* const cmd : all_commands())
            user.commands.insert(cmd->name);
}

// "+get", "-@write", "+config|get". False: there is no such command.
bool apply_command_rule(acl_user& user, std::string_view rule) {
    bool const is_allowed = rule[0] == '+';
    std::string const name = to_lower(rule.substr(1));
    if (name == "@all") {
        allow_all(user, is_allowed);
        return true;
    }
    if (name.starts_with('@')) {
        auto const* const category = std::ranges::find(category_names, std::string_view(name).substr(1));
        if (category == std::end(category_names))
            return false;
        unsigned const bit = 1U << (category - std::begin(category_names));
        for (command const* const cmd : all_commands())
            if (cmd->categories & bit)
                allow(user, *cmd, is_allowed);
    } else if (std::size_t const bar = name.find('|'); bar != name.npos) {
        if (!find_command(name.substr(0, bar)) || bar + 1 == name.size())
            return false;
        user.subcommands[name] = is_allowed;
    } else {
        command const* const cmd = find_command(name);
        if (!cmd)
            return false;
        allow(user, *cmd, is_allowed);
    }
    // The last word about one command or category counts.
    std::erase_if(user.rules, [&name](std::string const& old) { return std::string_view(old).substr(1) == name; });
    user.rules.push_back(rule[0] + name);
    return true;
}

constexpr std::string_view bad_syntax = "Syntax error";

// Applies one rule. Returns why it cannot be, or an empty text.
std::string_view apply_rule(acl_user& user, std::string_view rule) {
    if (equals_any_case(rule, "on") || equals_any_case(rule, "off")) {
        user.is_on = equals_any_case(rule, "on");
    } else if (equals_any_case(rule, "nopass")) {
        user.needs_no_password = true;
        user.passwords.clear();
    } else if (equals_any_case(rule, "resetpass")) {
        user.needs_no_password = false;
        user.passwords.clear();
    } else if (equals_any_case(rule, "allkeys") || rule == "~*") {
        user.keys.assign(1, std::string(every));
    } else if (equals_any_case(rule, "resetkeys")) {
        user.keys.clear();
    } else if (equals_any_case(rule, "allchannels") || rule == "&*") {
        user.channels.assign(1, std::string(every));
    } else if (equals_any_case(rule, "resetchannels")) {
        user.channels.clear();
    } else if (equals_any_case(rule, "allcommands")) {
        allow_all(user, true);
    } else if (equals_any_case(rule, "nocommands")) {
        allow_all(user, false);
    } else if (equals_any_case(rule, "reset")) {
        user = {};
        user.checks_payloads = true;
    } else if (equals_any_case(rule, "sanitize-payload") || equals_any_case(rule, "skip-sanitize-payload")) {
        user.checks_payloads = equals_any_case(rule, "sanitize-payload");
    } else if (rule.starts_with('>') || rule.starts_with('#')) {
        std::string_view const text = rule.substr(1);
        if (rule[0] == '#' && !is_digest(text))
            return "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters";
        std::string digest = rule[0] == '#' ? std::string(text) : sha256(text);
        if (std::ranges::find(user.passwords, digest) == user.passwords.end())
            user.passwords.push_back(std::move(digest));
        user.needs_no_password = false;
    } else if (rule.starts_with('<') || rule.starts_with('!')) {
        std::string_view const text = rule.substr(1);
        if (rule[0] == '!' && !is_digest(text))
            return "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters";
        if (std::erase(user.passwords, rule[0] == '!' ? std::string(text) : sha256(text)) == 0)
            return "The password you are trying to remove from the user does not exist";
    } else if (rule.starts_with('~')) {
        if (has_every(user.keys))
            return "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any "
                   "effect. Try 'resetkeys' to start with an empty list of patterns";
        user.keys.emplace_back(rule.substr(1));
    } else if (rule.starts_with('&')) {
        if (has_every(user.channels))
            return "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have "
                   "any effect. Try 'resetchannels' to start with an empty list of channels";
        user.channels.emplace_back(rule.substr(1));
    } else if (rule.size() > 1 && (rule[0] == '+' || rule[0] == '-')) {
        if (!apply_command_rule(user, rule))
            return "Unknown command or category name in ACL";
    } else {
        return bad_syntax;
    }
    return {};
}

// How ACL LIST and ACL GETUSER write a user.

std::string command_rules(acl_user const& user) {
    std::string text = user.may_run_all ? "+@all" : "-@all";
    for (auto const& rule : user.rules)
        text.append(" ").append(rule);
    return text;
}

std::string joined(std::vector<std::string> const& patterns, char sign) {
    std::string text;
    for (auto const& pattern : patterns)
        text.append(text.empty() ? "" : " ").append(1, sign).append(pattern);
    return text;
}

std::string describe(std::string_view name, acl_user const& user) {
    std::string text = "user ";
    text.append(name).append(user.is_on ? " on" : " off").append(user.needs_no_password ? " nopass" : "");
    text.append(user.checks_payloads ? " sanitize-payload" : "");
    for (auto const& digest : user.passwords)
        text.append(" #").append(digest);
    if (!user.keys.empty())
        text.append(" ").append(joined(user.keys, '~'));
    text.append(" ").append(user.channels.empty() ? "resetchannels" : joined(user.channels, '&'));
    return text.append(" ").append(command_rules(user));
}

void acl_setuser(call& c) {
    auto const at = c.server.users.find(c.args[2]);
    acl_user changed = at == c.server.users.end() ? acl_user() : at->second;
    for (std::string_view const rule : c.args.subspan(3))
        if (std::string_view const problem = apply_rule(changed, rule); !problem.empty())
            return c.error("ERR Error in ACL SETUSER modifier '" + std::string(rule) + "': " + std::string(problem));
    c.server.users.insert_or_assign(std::string(c.args[2]), std::move(changed));
    c.ok();
}

void acl_getuser(call& c) {
    auto const at = c.server.users.find(c.args[2]);
    if (at == c.server.users.end())
        return c.null();
    acl_user const& user = at->second;
    c.map(6);
    c.bulk("flags");
    c.set(1U + user.needs_no_password + user.checks_payloads);
    c.bulk(user.is_on ? "on" : "off");
    if (user.needs_no_password)
        c.bulk("nopass");
    if (user.checks_payloads)
        c.bulk("sanitize-payload");
    c.bulk("passwords");
    c.array(user.passwords.size());
    for (auto const& digest : user.passwords)
        c.bulk(digest);
    c.bulk("commands");
    c.bulk(command_rules(user));
    c.bulk("keys");
    c.bulk(joined(user.keys, '~'));
    c.bulk("channels");
    c.bulk(joined(user.channels, '&'));
    c.bulk("selectors");
    c.array(0);
}

void acl_deluser(call& c) {
    std::int64_t removed = 0;
    for (std::string_view const name : c.args.subspan(2)) {
        if (name == "default")
            return c.error("ERR The 'default' user cannot be removed");
        auto const at = c.server.users.find(name);
        if (at == c.server.users.end())
            continue;
        for (auto const& [id, session] : c.server.sessions)
            if (session->user == name)
                c.server.close(*session);
        c.server.users.erase(at);
        ++removed;
    }
    c.number(removed);
}

void acl_list(call& c) {
    c.array(c.server.users.size());
    for (auto const& [name, user] : c.server.users)
        c.bulk(describe(name, user));
}

void acl_users_(call& c) {
    c.array(c.server.users.size());
    for (auto const& [name, user] : c.server.users)
        c.bulk(name);
}

void acl_cat(call& c) {
    if (c.count() > 3)
        return c.wrong_subcommand();
    if (c.count() == 2) {
        c.array(std::size(category_names));
        for (std::string_view const name : category_names)
            c.bulk(name);
        return;
    }
    auto const* const category = std::ranges::find(category_names, to_lower(c.args[2]));
    if (category == std::end(category_names))
        return c.error("ERR Unknown category '" + std::string(c.args[2]) + "'");
    unsigned const bit = 1U << (category - std::begin(category_names));
    auto const is_in = [bit](command const* cmd) { return (cmd->categories & bit) != 0; };
    c.array(static_cast<std::size_t>(std::ranges::count_if(all_commands(), is_in)));
    for (command const* const cmd : all_commands())
        if (is_in(cmd))
            c.bulk(cmd->name);
}

void acl_whoami(call& c) { c.bulk(c.self.user); }

void acl(call& c) {
    static constexpr subcommand subcommands[] = {
        {"setuser", -3, acl_setuser}, {"getuser", 3, acl_getuser}, {"deluser", -3, acl_deluser}, {"list", 2, acl_list},
        {"users", 2, acl_users_},     {"whoami", 2, acl_whoami},   {"cat", -2, acl_cat},
    };
    choose(c, subcommands);
}

bool matches_any(std::vector<std::string> const& patterns, std::string_view text) {
    return std::ranges::any_of(patterns, [text](std::string const& pattern) { return glob_match(pattern, text); });
}

// Whether the user may use the channels among the arguments. A pattern has to be one of its own patterns.
bool may_use_channels(acl_user const& user, command const& cmd, std::span<std::string_view const> args) {
    if (has_every(user.channels))
        return true;
    bool const publishes = cmd.name == "publish" || cmd.name == "spublish";
    if (!publishes && !cmd.name.ends_with("subscribe"))
        return true;
    if (cmd.name.find("unsub") != cmd.name.npos)
        return true;
    auto const named = publishes ? args.subspan(1, 1) : args.subspan(1);
    bool const are_patterns = cmd.name == "psubscribe";
    return std::ranges::all_of(named, [&](std::string_view name) {
        return are_patterns ? std::ranges::find(user.channels, name) != user.channels.end()
                            : matches_any(user.channels, name);
    });
}

constexpr command table[] = {
    {"acl", at_least(2), no_script | has_subcommands, no_keys, of_slow, acl},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::access

namespace fairlead::redis::server_impl {

bool acl_user::accepts(std::string_view password) const {
    return is_on && (needs_no_password || std::ranges::find(passwords, sha256(password)) != passwords.end());
}

acl_user default_user(std::string_view password) {
    acl_user user;
    user.is_on = true;
    user.needs_no_password = password.empty();
    if (!password.empty())
        user.passwords.push_back(sha256(password));
    user.keys.emplace_back("*");
    user.channels.emplace_back("*");
    user.may_run_all = true;
    for (command const* const cmd : all_commands())
        user.commands.insert(cmd->name);
    return user;
}

std::string acl_refusal(acl_user const& user, command const& cmd, std::span<std::string_view const> args) {
    if (cmd.flags & no_auth)
        return {};
    bool is_allowed = user.commands.contains(cmd.name);
    std::string name(cmd.name);
    if (args.size() > 1 && (cmd.flags & has_subcommands)) {
        name += "|" + to_lower(args[1]);
        if (auto const at = user.subcommands.find(name); at != user.subcommands.end())
            is_allowed = at->second;
    }
    if (!is_allowed)
        return "NOPERM this user has no permissions to run the '" + name + "' command";
    bool const may_use_keys =
        access::has_every(user.keys) || std::ranges::all_of(keys_of(cmd, args), [&user](std::string_view key) {
            return access::matches_any(user.keys, key);
        });
    if (!may_use_keys)
        return "NOPERM this user has no permissions to access one of the keys used as arguments";
    if (!access::may_use_channels(user, cmd, args))
        return "NOPERM this user has no permissions to access one of the channels used as arguments";
    return {};
}

bool log_in(server_session& who, std::string_view user, std::string_view password) {
    auto const at = who.server.users.find(user);
    if (at == who.server.users.end() || !at->second.accepts(password))
        return false;
    who.user = user;
    who.authenticated = true;
    return true;
}

} // namespace fairlead::redis::server_impl
