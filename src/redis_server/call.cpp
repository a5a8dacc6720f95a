// The arguments and replies that commands have in common.
#include <redis_server/call.hpp>
#include <redis_server/several_keys.hpp>

#include <fairlead/base/assert.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace fairlead::redis::server_impl {

void call::wrong_number() const { error("ERR wrong number of arguments for '" + std::string(cmd.name) + "' command"); }

void call::real(double n) const {
    if (is_resp3())
        out().append(",").append(real_text(n)).append("\r\n");
    else
        bulk(real_text(n));
}

bool call::floating(std::string_view text, double& n, std::string_view complaint) const {
    if (parse_real(text, n))
        return true;
    error(complaint);
    return false;
}

void call::wrong_arity() const {
    error("ERR wrong number of arguments for '" + std::string(cmd.name) + "|" + to_lower(args[1]) + "' command");
}

void call::unknown_subcommand() const {
    error("ERR unknown subcommand '" + std::string(args[1].substr(0, 128)) + "'. Try " + upper(cmd.name) + " HELP.");
}

void call::wrong_subcommand() const {
    error("ERR unknown subcommand or wrong number of arguments for '" + std::string(args[1].substr(0, 128)) +
          "'. Try " + upper(cmd.name) + " HELP.");
}

bool call::integer(std::string_view text, std::int64_t& n, std::string_view complaint) const {
    if (parse_integer(text, n))
        return true;
    error(complaint);
    return false;
}

void call::changed(std::string_view key) const {
    touched(key);
    auto const at = db().find(key);
    FAIRLEAD_ASSERT(at != db().end());
    if (is_gone(at->second.held))
        db().erase(at);
}

bool call::remove(std::string_view key) const {
    auto const at = find(key);
    if (at == db().end())
        return false;
    touched(key);
    db().erase(at);
    return true;
}

bool call::seconds_limit(std::string_view text, std::optional<std::int64_t>& until) const {
    double seconds = 0;
    if (!floating(text, seconds, "ERR timeout is not a float or out of range"))
        return false;
    double const ms = std::ceil(seconds * 1000);
    if (ms >= 9223372036854775807.0) {
        error("ERR timeout is out of range");
        return false;
    }
    if (ms < 0) {
        error("ERR timeout is negative");
        return false;
    }
    return milliseconds_limit(std::to_string(static_cast<std::int64_t>(ms)), until);
}

bool call::milliseconds_limit(std::string_view text, std::optional<std::int64_t>& until) const {
    std::int64_t ms = 0;
    if (!integer(text, ms, "ERR timeout is not an integer or out of range"))
        return false;
    if (ms < 0) {
        error("ERR timeout is negative");
        return false;
    }
    until.reset();
    if (ms > 0 && __builtin_add_overflow(ms, server.now(), &until.emplace())) {
        error("ERR timeout is out of range");
        return false;
    }
    return true;
}

void call::wait(std::vector<std::string_view> const& keys, std::optional<std::int64_t> until, late_reply when_late,
                std::vector<std::string> arguments) {
    if (ready) {
        goes_on_waiting = true;
        return;
    }
    waiting_command waiting;
    waiting.cmd = &cmd;
    waiting.arguments = std::move(arguments);
    if (waiting.arguments.empty())
        waiting.arguments.assign(args.begin(), args.end());
    for (std::string_view const key : keys)
        waiting.keys.emplace_back(self.database, key);
    waiting.until = until;
    waiting.when_late = when_late;
    server.wait(self, std::move(waiting));
}

void choose(call& c, std::span<subcommand const> from) {
    for (auto const& sub : from)
        if (c.is(1, sub.name)) {
            auto const n = static_cast<int>(std::min<std::size_t>(c.args.size(), 1000));
            bool const fits = sub.arguments >= 0 ? n == sub.arguments : n >= -sub.arguments;
            return fits ? sub.run(c) : c.wrong_arity();
        }
    c.unknown_subcommand();
}

bool read_several_keys(call& c, std::size_t at, several_keys& several) {
    std::int64_t n = 0;
    if (!parse_integer(c.args[at], n) || n < 1) {
        c.error("ERR numkeys should be greater than 0");
        return false;
    }
    if (static_cast<std::uint64_t>(n) >= c.count() - at - 1) {
        c.syntax_error();
        return false;
    }
    several.behind = at + 1 + static_cast<std::size_t>(n);
    auto const keys = c.args.subspan(at + 1, static_cast<std::size_t>(n));
    several.keys.assign(keys.begin(), keys.end());
    return true;
}

bool read_several_count(call& c, std::size_t at, several_keys& several) {
    if (at == c.count())
        return true;
    if (at + 2 != c.count() || !c.is(at, "count")) {
        c.syntax_error();
        return false;
    }
    std::int64_t n = 0;
    if (!parse_integer(c.args[at + 1], n) || n < 1) {
        c.error("ERR count should be greater than 0");
        return false;
    }
    several.count = static_cast<std::size_t>(n);
    return true;
}

void may_wait_or_null(call& c, std::vector<std::string_view> const& keys, std::optional<std::int64_t> until) {
    c.may_wait() ? c.wait(keys, until) : c.null_array();
}

} // namespace fairlead::redis::server_impl
