// The users of the embedded server, and what each of them may do.
#pragma once

#include <redis_server/command.hpp>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis::server_impl {

struct server_session;

/// A user starts with nothing: off, without passwords, commands, keys and channels.
struct acl_user {
    bool is_on = false;
    bool needs_no_password = false;
    bool checks_payloads = false;       // only shown: there is no RESTORE whose payload could harm
    std::vector<std::string> passwords; // their SHA-256
    std::vector<std::string> keys;      // patterns
    std::vector<std::string> channels;  // patterns
    bool may_run_all = false;           // also commands that a later version has
    std::set<std::string_view> commands;
    std::map<std::string, bool, std::less<>> subcommands; // "config|get": other than its command
    std::vector<std::string> rules;                       // about commands, as they were given

    bool accepts(std::string_view password) const;
};

using acl_users = std::map<std::string, acl_user, std::less<>>;

/// The user that each connection is at first: with all rights, and with a password unless it is empty.
acl_user default_user(std::string_view password);

/// Why the user may not run this command with these arguments, or an empty text.
std::string acl_refusal(acl_user const& user, command const& cmd, std::span<std::string_view const> args);

/// The session's user is this one from now on, if the password is right.
bool log_in(server_session& who, std::string_view user, std::string_view password);

} // namespace fairlead::redis::server_impl
