// Scripts and functions, which are functions of the program.
#include <fairlead/redis_server/script.hpp>

#include <fairlead/base/at_scope_end.hpp>
#include <redis_server/access.hpp>
#include <redis_server/call.hpp>
#include <redis_server/digest.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis {

struct server_script_access {
    static server_script_run run(server_impl::call& c, std::span<std::string_view const> keys,
                                 std::span<std::string_view const> arguments, bool is_read_only) {
        return {c, keys, arguments, is_read_only};
    }
};

} // namespace fairlead::redis

namespace fairlead::redis::server_impl::scripts {
namespace {

constexpr std::string_view no_lua =
    "ERR Error compiling script (new function): this server has no Lua; its program names the text in add_script()";

bool read_keys(call& c, std::size_t at, std::span<std::string_view const>& keys,
               std::span<std::string_view const>& arguments) {
    std::int64_t n = 0;
    if (!c.integer(c.args[at], n))
        return false;
    if (n > static_cast<std::int64_t>(c.count() - at - 1)) {
        c.error("ERR Number of keys can't be greater than number of args");
        return false;
    }
    if (n < 0) {
        c.error("ERR Number of keys can't be negative");
        return false;
    }
    keys = c.args.subspan(at + 1, static_cast<std::size_t>(n));
    arguments = c.args.subspan(at + 1 + static_cast<std::size_t>(n));
    return true;
}

void answer(call& c, server_value const& value) {
    switch (value.which()) {
    case server_value::kind::null: return c.null();
    case server_value::kind::integer: return c.number(value.integer());
    case server_value::kind::text: return c.bulk(value.text());
    case server_value::kind::status: return c.simple(value.text());
    case server_value::kind::error: return c.error(value.text());
    case server_value::kind::array: break;
    }
    c.array(value.elements().size());
    for (auto const& element : value.elements())
        answer(c, element);
}

void run_script(call& c, server_script const& script, bool is_read_only) {
    std::span<std::string_view const> keys, arguments;
    if (!read_keys(c, 2, keys, arguments))
        return;
    std::size_t const database = c.self.database;
    bool const could_wait = std::exchange(c.self.may_wait, false);
    fairlead::impl::base::at_scope_end const again([&c, database, could_wait] {
        c.self.database = database; // A SELECT in a script is the script's own.
        c.self.may_wait = could_wait;
    });
    auto running = server_script_access::run(c, keys, arguments, is_read_only);
    server_script const kept = script; // It may flush the scripts.
    server_value result;
    try {
        result = kept(running);
    } catch (std::exception const& failure) {
        result = server_value::error("ERR Error running script: " + std::string(failure.what()));
    }
    answer(c, result);
}

void run_body(call& c, bool is_read_only) {
    std::string const sha = sha1(c.args[1]);
    auto const at = c.server.scripts.find(sha);
    if (at == c.server.scripts.end())
        return c.error(no_lua);
    at->second.is_loaded = true;
    run_script(c, at->second.run, is_read_only);
}

void run_sha(call& c, bool is_read_only) {
    auto const at = c.server.scripts.find(to_lower(c.args[1]));
    if (at == c.server.scripts.end() || !at->second.is_loaded)
        return c.error("NOSCRIPT No matching script. Please use EVAL.");
    run_script(c, at->second.run, is_read_only);
}

void run_function(call& c, bool is_read_only) {
    auto const at = c.server.functions.find(c.args[1]);
    if (at == c.server.functions.end())
        return c.error("ERR Function not found");
    run_script(c, at->second, is_read_only);
}

void eval(call& c) { run_body(c, false); }
void eval_ro(call& c) { run_body(c, true); }
void evalsha(call& c) { run_sha(c, false); }
void evalsha_ro(call& c) { run_sha(c, true); }
void fcall(call& c) { run_function(c, false); }
void fcall_ro(call& c) { run_function(c, true); }

void script_load(call& c) {
    std::string const sha = sha1(c.args[2]);
    auto const at = c.server.scripts.find(sha);
    if (at == c.server.scripts.end())
        return c.error(no_lua);
    at->second.is_loaded = true;
    c.bulk(sha);
}

void script_exists(call& c) {
    c.array(c.count() - 2);
    for (std::string_view const sha : c.args.subspan(2)) {
        auto const at = c.server.scripts.find(to_lower(sha));
        c.number(at != c.server.scripts.end() && at->second.is_loaded);
    }
}

void script_flush(call& c) {
    if (c.count() > 3 || (c.count() == 3 && !c.is(2, "sync") && !c.is(2, "async")))
        return c.error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    for (auto& [sha, script] : c.server.scripts)
        script.is_loaded = false;
    c.ok();
}

void script(call& c) {
    static constexpr subcommand subcommands[] = {
        {"load", 3, script_load},
        {"exists", -3, script_exists},
        {"flush", -2, script_flush},
        {"kill", 2, [](call& k) { k.error("NOTBUSY No scripts in execution right now."); }},
    };
    choose(c, subcommands);
}

// One reply of RESP2 at `at`, which moves behind it.
server_value read_value(std::string_view bytes, std::size_t& at) {
    std::size_t const line_end = bytes.find("\r\n", at);
    char const kind = bytes[at];
    std::string line(bytes.substr(at + 1, line_end - at - 1));
    at = line_end + 2;
    if (kind == '+')
        return server_value::status(std::move(line));
    if (kind == '-')
        return server_value::error(std::move(line));
    std::int64_t n = 0;
    parse_integer(line, n);
    if (kind == ':')
        return n;
    if (n < 0)
        return {};
    if (kind == '$') {
        std::string text(bytes.substr(at, static_cast<std::size_t>(n)));
        at += text.size() + 2;
        return text;
    }
    std::vector<server_value> elements;
    for (; n != 0; --n)
        elements.push_back(read_value(bytes, at));
    return elements;
}

constexpr command table[] = {
    {"eval", at_least(3), no_script, counted_at(2), of_slow | of_scripting, eval},
    {"eval_ro", at_least(3), no_script, counted_at(2), of_slow | of_scripting, eval_ro},
    {"evalsha", at_least(3), no_script, counted_at(2), of_slow | of_scripting, evalsha},
    {"evalsha_ro", at_least(3), no_script, counted_at(2), of_slow | of_scripting, evalsha_ro},
    {"fcall", at_least(3), no_script, counted_at(2), of_slow | of_scripting, fcall},
    {"fcall_ro", at_least(3), no_script, counted_at(2), of_slow | of_scripting, fcall_ro},
    {"script", at_least(2), no_script | has_subcommands, no_keys, of_slow, script},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::scripts

namespace fairlead::redis {

std::string script_sha1(std::string_view body) { return server_impl::sha1(body); }

server_value server_script_run::run(std::span<std::string_view const> args) {
    using namespace server_impl;
    command const* const cmd = args.empty() ? nullptr : find_command(args[0]);
    if (!cmd)
        return server_value::error("ERR Unknown Redis command called from script");
    if (!has_arity(*cmd, args.size()))
        return server_value::error("ERR Wrong number of args calling Redis command from script");
    if (cmd->flags & no_script)
        return server_value::error("ERR This Redis command is not allowed from script");
    if (is_read_only_ && (cmd->categories & of_write))
        return server_value::error("ERR Write commands are not allowed from read-only scripts.");
    server_session& self = call_.self;
    if (auto const user = self.server.users.find(self.user); user != self.server.users.end())
        if (auto const refused = acl_refusal(user->second, *cmd, args); !refused.empty())
            return server_value::error(refused);
    // The reply goes to the script, in RESP2.
    std::string reply = std::exchange(self.output, {});
    auto const protocol = std::exchange(self.protocol, resp3::version::resp2);
    {
        fairlead::impl::base::at_scope_end const again([&] {
            self.output.swap(reply);
            self.protocol = protocol;
        });
        server_impl::run(self, *cmd, args);
    }
    std::size_t at = 0;
    return scripts::read_value(reply, at);
}

} // namespace fairlead::redis
