// The engine's frame: reads requests, decides who may run what, runs it, keeps transactions. The commands themselves
// are in the other server_*.cpp files.
#include <fairlead/redis_server/engine.hpp>

#include <fairlead/base/assert.hpp>
#include <redis_server/state.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

namespace fairlead::redis {
namespace server_impl {
namespace {

namespace c = commands;
constexpr int at_least(int n) { return -n; }

// Sorted by name: find_command() searches it.
constexpr command table[] = {
    {"append", 3, 0, c::append},
    {"auth", at_least(2), no_auth, c::auth},
    {"client", at_least(2), 0, c::client},
    {"command", at_least(1), 0, c::command_},
    {"config", at_least(2), 0, c::config},
    {"dbsize", 1, 0, c::dbsize},
    {"debug", at_least(2), 0, c::debug},
    {"decr", 2, 0, c::decr},
    {"decrby", 3, 0, c::decrby},
    {"del", at_least(2), 0, c::del},
    {"discard", 1, unqueued, c::discard},
    {"echo", 2, 0, c::echo},
    {"exec", 1, unqueued, c::exec},
    {"exists", at_least(2), 0, c::exists},
    {"expire", at_least(3), 0, c::expire},
    {"expireat", at_least(3), 0, c::expireat},
    {"expiretime", 2, 0, c::expiretime},
    {"flushall", at_least(1), 0, c::flushall},
    {"flushdb", at_least(1), 0, c::flushdb},
    {"get", 2, 0, c::get},
    {"getdel", 2, 0, c::getdel},
    {"getex", at_least(2), 0, c::getex},
    {"getrange", 4, 0, c::getrange},
    {"getset", 3, 0, c::getset},
    {"hdel", at_least(3), 0, c::hdel},
    {"hello", at_least(1), no_auth, c::hello},
    {"hexists", 3, 0, c::hexists},
    {"hget", 3, 0, c::hget},
    {"hgetall", 2, 0, c::hgetall},
    {"hincrby", 4, 0, c::hincrby},
    {"hkeys", 2, 0, c::hkeys},
    {"hlen", 2, 0, c::hlen},
    {"hmget", at_least(3), 0, c::hmget},
    {"hmset", at_least(4), 0, c::hmset},
    {"hset", at_least(4), 0, c::hset},
    {"hsetnx", 4, 0, c::hsetnx},
    {"hstrlen", 3, 0, c::hstrlen},
    {"hvals", 2, 0, c::hvals},
    {"incr", 2, 0, c::incr},
    {"incrby", 3, 0, c::incrby},
    {"incrbyfloat", 3, 0, c::incrbyfloat},
    {"info", at_least(1), 0, c::info},
    {"keys", 2, 0, c::keys},
    {"lindex", 3, 0, c::lindex},
    {"llen", 2, 0, c::llen},
    {"lpop", at_least(2), 0, c::lpop},
    {"lpush", at_least(3), 0, c::lpush},
    {"lpushx", at_least(3), 0, c::lpushx},
    {"lrange", 4, 0, c::lrange},
    {"lrem", 4, 0, c::lrem},
    {"lset", 4, 0, c::lset},
    {"ltrim", 4, 0, c::ltrim},
    {"mget", at_least(2), 0, c::mget},
    {"mset", at_least(3), 0, c::mset},
    {"msetnx", at_least(3), 0, c::msetnx},
    {"multi", 1, unqueued, c::multi},
    {"persist", 2, 0, c::persist},
    {"pexpire", at_least(3), 0, c::pexpire},
    {"pexpireat", at_least(3), 0, c::pexpireat},
    {"pexpiretime", 2, 0, c::pexpiretime},
    {"ping", at_least(1), in_subscription, c::ping},
    {"psetex", 4, 0, c::psetex},
    {"psubscribe", at_least(2), in_subscription | replies_by_push, c::psubscribe},
    {"pttl", 2, 0, c::pttl},
    {"publish", 3, 0, c::publish},
    {"pubsub", at_least(2), 0, c::pubsub},
    {"punsubscribe", at_least(1), in_subscription | replies_by_push, c::punsubscribe},
    {"quit", at_least(1), no_auth | in_subscription | unqueued, c::quit},
    {"randomkey", 1, 0, c::randomkey},
    {"rename", 3, 0, c::rename},
    {"renamenx", 3, 0, c::renamenx},
    {"reset", 1, no_auth | in_subscription | unqueued, c::reset},
    {"rpop", at_least(2), 0, c::rpop},
    {"rpush", at_least(3), 0, c::rpush},
    {"rpushx", at_least(3), 0, c::rpushx},
    {"sadd", at_least(3), 0, c::sadd},
    {"scan", at_least(2), 0, c::scan},
    {"scard", 2, 0, c::scard},
    {"select", 2, 0, c::select},
    {"set", at_least(3), 0, c::set},
    {"setex", 4, 0, c::setex},
    {"setnx", 3, 0, c::setnx},
    {"setrange", 4, 0, c::setrange},
    {"sismember", 3, 0, c::sismember},
    {"smembers", 2, 0, c::smembers},
    {"smismember", at_least(3), 0, c::smismember},
    {"spop", at_least(2), 0, c::spop},
    {"spublish", 3, 0, c::spublish},
    {"srem", at_least(3), 0, c::srem},
    {"ssubscribe", at_least(2), in_subscription | replies_by_push, c::ssubscribe},
    {"strlen", 2, 0, c::strlen},
    {"subscribe", at_least(2), in_subscription | replies_by_push, c::subscribe},
    {"sunsubscribe", at_least(1), in_subscription | replies_by_push, c::sunsubscribe},
    {"time", 1, 0, c::time},
    {"touch", at_least(2), 0, c::exists},
    {"ttl", 2, 0, c::ttl},
    {"type", 2, 0, c::type},
    {"unlink", at_least(2), 0, c::del},
    {"unsubscribe", at_least(1), in_subscription | replies_by_push, c::unsubscribe},
    {"unwatch", 1, 0, c::unwatch},
    {"watch", at_least(2), unqueued, c::watch},
};
static_assert(std::ranges::is_sorted(table, {}, &command::name));

constexpr std::size_t name_bytes_max = 16;
static_assert(std::ranges::all_of(table, [](command const& cmd) { return cmd.name.size() <= name_bytes_max; }));

constexpr char lower(char byte) noexcept { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte; }

bool has_arity(command const& cmd, std::size_t arguments) noexcept {
    auto const n = static_cast<std::int64_t>(arguments);
    return cmd.arity >= 0 ? n == cmd.arity : n >= -cmd.arity;
}

void refuse_unknown(server_session& self, std::span<std::string_view const> args) {
    constexpr std::size_t shown_max = 128;
    std::string text = "ERR unknown command '";
    text.append(args[0].substr(0, shown_max)).append("', with args beginning with: ");
    std::size_t shown = 0;
    for (std::string_view const arg : args.subspan(1)) {
        if (shown >= shown_max)
            break;
        std::string_view const part = arg.substr(0, shown_max - shown);
        text.append("'").append(part).append("' ");
        shown += part.size() + 3;
    }
    resp3::append_simple_error(self.output, text);
}

// Why `self` may not run `cmd` now, or an empty text.
std::string refusal(server_session const& self, command const& cmd) {
    if (!self.authenticated && !(cmd.flags & no_auth))
        return "NOAUTH Authentication required.";
    if (self.protocol == resp3::version::resp2 && self.has_subscriptions() && !(cmd.flags & in_subscription))
        return "ERR Can't execute '" + std::string(cmd.name) +
               "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context";
    return {};
}

void enqueue(server_session& self, command const& cmd, std::span<std::string_view const> args) {
    std::size_t bytes = 0;
    for (std::string_view const arg : args)
        bytes += arg.size() + sizeof(std::string);
    if (bytes > self.server.options.transaction_bytes_max - self.queued_bytes) {
        self.transaction_failed = true;
        resp3::append_simple_error(self.output, "ERR transaction is too large");
        return;
    }
    self.queued_bytes += bytes;
    self.queue.push_back({&cmd, {args.begin(), args.end()}});
    self.output += "+QUEUED\r\n";
}

void run(server_session& self, command const& cmd, std::span<std::string_view const> args) {
    ++self.server.commands_run;
    self.last_command = cmd.name;
    call now{self.server, self, cmd, args};
    cmd.run(now);
}

// Finds the command, and runs it unless something is in the way.
void dispatch(server_session& self, std::span<std::string_view const> args) {
    command const* const cmd = find_command(args[0]);
    std::string problem;
    if (!cmd) {
        refuse_unknown(self, args);
    } else if (!has_arity(*cmd, args.size())) {
        problem = "ERR wrong number of arguments for '" + std::string(cmd->name) + "' command";
    } else {
        problem = refusal(self, *cmd);
    }
    if (!cmd || !problem.empty()) {
        if (cmd)
            resp3::append_simple_error(self.output, problem);
        self.transaction_failed = self.in_transaction;
        return;
    }
    if (self.in_transaction && !(cmd->flags & unqueued))
        enqueue(self, *cmd, args);
    else
        run(self, *cmd, args);
}

// One request: the reply, whether it is wanted at all, then what the command published to its own client.
void serve(server_session& self, std::span<std::string_view const> args) {
    if (self.replies == reply_mode::skip_next)
        self.replies = reply_mode::skip_this;
    std::size_t const before = self.output.size();

    self.is_running = true;
    dispatch(self, args);
    self.is_running = false;

    if (self.replies != reply_mode::on) {
        command const* const cmd = find_command(args[0]);
        bool const by_push = cmd && (cmd->flags & replies_by_push) && self.protocol == resp3::version::resp3;
        if (!by_push)
            self.output.resize(before);
        if (self.replies == reply_mode::skip_this)
            self.replies = reply_mode::on;
    }
    self.output += std::exchange(self.pushes_to_self, {});
}

void protocol_error(server_session& self, std::string_view text) {
    resp3::append_simple_error(self.output, "ERR Protocol error: " + std::string(text));
    self.closing = true;
}

// Reads requests out of `bytes`, which start with the request under way. A request is either an array of bulks or, for
// people with a terminal, a line of words.
class request_reader {
public:
    request_reader(server_session& self, std::string_view bytes) : self_(self), bytes_(bytes) {}

    /// Serves every complete request. Returns how many bytes of the front those were.
    std::size_t serve_all() {
        while (!self_.closing && next())
            ;
        return begin_;
    }

private:
    // One request, or one step towards it; false when bytes are missing or the client is to be closed.
    bool next() {
        if (self_.arguments_missing > 0)
            return bulks();
        if (self_.read_at == bytes_.size())
            return false;
        return bytes_[self_.read_at] == '*' ? header() : words();
    }

    // The line at read_at without its end, which is LF or CRLF. False: not there yet, or too long.
    bool line(std::string_view& text, std::size_t bytes_max, std::string_view complaint) {
        std::size_t const end = bytes_.find('\n', self_.read_at + self_.searched);
        std::size_t const so_far = (end == bytes_.npos ? bytes_.size() : end) - self_.read_at;
        if (so_far > bytes_max) {
            protocol_error(self_, complaint);
            return false;
        }
        if (end == bytes_.npos) {
            self_.searched = so_far;
            return false;
        }
        text = bytes_.substr(self_.read_at, so_far);
        if (text.ends_with('\r'))
            text.remove_suffix(1);
        self_.searched = 0;
        self_.read_at = end + 1;
        return true;
    }

    bool header() {
        std::string_view text;
        if (!line(text, header_bytes_max, "too big mbulk count string"))
            return false;
        std::int64_t n = 0;
        if (!parse_integer(text.substr(1), n) || n > static_cast<std::int64_t>(self_.server.options.arguments_max)) {
            protocol_error(self_, "invalid multibulk length");
            return false;
        }
        if (!self_.authenticated && n > 10) {
            protocol_error(self_, "unauthenticated multibulk length");
            return false;
        }
        if (n <= 0)
            begin_ = self_.read_at; // an empty request is none
        self_.arguments_missing = std::max<std::int64_t>(n, 0);
        return true;
    }

    bool bulks() {
        while (self_.arguments_missing > 0) {
            if (self_.bulk_bytes < 0 && !bulk_header())
                return false;
            auto const size = static_cast<std::size_t>(self_.bulk_bytes);
            if (bytes_.size() - self_.read_at < size + 2)
                return false;
            self_.pieces.push_back({self_.read_at, size});
            self_.read_at += size + 2; // As Redis, without looking at the two.
            self_.bulk_bytes = -1;
            --self_.arguments_missing;
        }
        self_.arguments.clear();
        for (auto const& piece : self_.pieces)
            self_.arguments.push_back(bytes_.substr(piece.at, piece.size));
        finish();
        return true;
    }

    bool bulk_header() {
        if (self_.read_at == bytes_.size())
            return false;
        if (char const kind = bytes_[self_.read_at]; kind != '$') {
            protocol_error(self_, "expected '$', got '" + std::string(1, kind) + "'");
            return false;
        }
        std::string_view text;
        if (!line(text, header_bytes_max, "too big bulk count string"))
            return false;
        std::int64_t n = 0;
        if (!parse_integer(text.substr(1), n) || n < 0 ||
            n > static_cast<std::int64_t>(self_.server.options.bulk_bytes_max)) {
            protocol_error(self_, "invalid bulk length");
            return false;
        }
        if (!self_.authenticated && n > 16384) {
            protocol_error(self_, "unauthenticated bulk length");
            return false;
        }
        self_.bulk_bytes = n;
        return true;
    }

    bool words() {
        std::string_view text;
        if (!line(text, self_.server.options.inline_bytes_max, "too big inline request"))
            return false;
        std::vector<std::string> split;
        if (!split_words(text, split)) {
            protocol_error(self_, "unbalanced quotes in request");
            return false;
        }
        self_.arguments.assign(split.begin(), split.end());
        finish();
        return true;
    }

    // Blanks separate; "..." knows escapes, '...' only \'. False when a quote is not closed, or not followed by a
    // blank.
    static bool split_words(std::string_view text, std::vector<std::string>& words) {
        auto const is_blank = [](char b) { return b == ' ' || (b >= '\t' && b <= '\r'); };
        for (std::size_t i = 0; i < text.size();) {
            if (is_blank(text[i])) {
                ++i;
                continue;
            }
            std::string& word = words.emplace_back();
            while (i < text.size() && !is_blank(text[i])) {
                char const quote = text[i++];
                if (quote != '"' && quote != '\'') {
                    word += quote;
                    continue;
                }
                for (;; ++i) {
                    if (i == text.size())
                        return false;
                    if (text[i] == quote)
                        break;
                    if (text[i] == '\\' && i + 1 < text.size() && (quote == '"' || text[i + 1] == '\''))
                        word += quote == '"' ? unescape(text, ++i) : text[++i];
                    else
                        word += text[i];
                }
                if (++i < text.size() && !is_blank(text[i]))
                    return false;
            }
        }
        return true;
    }

    // The byte that text[i], behind a backslash, stands for; i moves to the last character used.
    static char unescape(std::string_view text, std::size_t& i) {
        switch (text[i]) {
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'b': return '\b';
        case 'a': return '\a';
        case 'x':
            if (unsigned byte = 0; i + 2 < text.size()) {
                char const* const digits = text.data() + i + 1;
                if (std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
                    i += 2;
                    return static_cast<char>(byte);
                }
            }
            return 'x';
        default: return text[i];
        }
    }

    void finish() {
        if (!self_.arguments.empty())
            serve(self_, self_.arguments);
        self_.pieces.clear();
        begin_ = self_.read_at;
    }

    static constexpr std::size_t header_bytes_max = 64 * 1024;

    server_session& self_;
    std::string_view bytes_;
    std::size_t begin_ = 0; // of the request under way
};

// Tells the owners of sessions that others gave output to. Any of them may be destroyed meanwhile, also the one whose
// feed() this ends: a destroyed session takes itself off the list.
void tell_dirty(server_state& server) {
    while (!server.dirty.empty()) {
        server_session& who = *server.dirty.front();
        server.dirty.pop_front();
        who.is_dirty = false;
        if (auto const told = who.on_output) // a copy: the callback may destroy its own session
            told();
    }
}

} // namespace

command const* find_command(std::string_view name) noexcept {
    if (name.size() > name_bytes_max)
        return nullptr;
    char text[name_bytes_max];
    std::ranges::transform(name, text, lower);
    std::string_view const wanted(text, name.size());
    auto const* const at = std::ranges::lower_bound(table, wanted, {}, &command::name);
    return at != std::end(table) && at->name == wanted ? at : nullptr;
}

std::span<command const> all_commands() noexcept { return table; }

bool equals_any_case(std::string_view text, std::string_view lower_case) noexcept {
    return std::ranges::equal(text, lower_case, {}, lower);
}

std::string to_lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), lower);
    return result;
}

bool parse_integer(std::string_view text, std::int64_t& n) noexcept {
    std::string_view const digits = text.substr(text.starts_with('-') ? 1 : 0);
    if (digits.starts_with('0') && text.size() != 1)
        return false; // "007", "-0": not how integers are written
    auto const [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    return ec == std::errc{} && stop == text.data() + text.size();
}

database::iterator server_state::find(std::size_t in, std::string_view key) {
    database& db = databases[in];
    auto const at = db.find(key);
    if (at == db.end() || at->second.expires_at == no_expiry || at->second.expires_at > now())
        return at;
    touch(in, key);
    db.erase(at);
    return db.end();
}

void server_state::expire(std::size_t in) {
    std::int64_t const t = now();
    std::erase_if(databases[in], [&](auto const& item) {
        bool const is_over = item.second.expires_at <= t && item.second.expires_at != no_expiry;
        if (is_over)
            touch(in, item.first);
        return is_over;
    });
}

void server_state::clear(std::size_t in) {
    if (!watchers.empty())
        for (auto const& [key, item] : databases[in])
            touch(in, key);
    databases[in].clear();
}

void server_state::touch(std::size_t in, std::string_view key) {
    if (watchers.empty())
        return;
    if (auto const at = watchers.find({in, std::string(key)}); at != watchers.end())
        for (server_session* const who : at->second)
            who->watch_broken = true;
}

void server_state::signal(server_session& who) {
    if (!who.is_dirty && !who.is_running) {
        who.is_dirty = true;
        dirty.push_back(&who);
    }
}

void server_state::push(server_session& to, std::string_view bytes) {
    if (to.closing)
        return;
    if (to.is_running) {
        to.pushes_to_self += bytes;
        return;
    }
    if (to.output.size() + bytes.size() > options.push_backlog_bytes_max) {
        to.output.clear(); // It will not be read: the client is too slow, and losing messages silently is worse.
        return close(to);
    }
    to.output += bytes;
    signal(to);
}

void server_state::close(server_session& who) {
    who.closing = true;
    signal(who);
}

void server_state::unwatch(server_session& who) {
    for (auto const& key : who.watched) {
        auto const at = watchers.find(key);
        at->second.erase(&who);
        if (at->second.empty())
            watchers.erase(at);
    }
    who.watched.clear();
    who.watch_broken = false;
}

void server_state::unsubscribe_all(server_session& who) {
    for (std::size_t kind = 0; kind != subscription_kinds; ++kind) {
        for (auto const& name : who.subscribed[kind]) {
            auto const at = subscriptions[kind].find(name);
            at->second.erase(&who);
            if (at->second.empty())
                subscriptions[kind].erase(at);
        }
        who.subscribed[kind].clear();
    }
}

void reset_session(server_session& who) {
    who.server.unwatch(who);
    who.server.unsubscribe_all(who);
    who.protocol = resp3::version::resp2;
    who.authenticated = who.server.options.password.empty();
    who.database = 0;
    who.name.clear();
    who.replies = reply_mode::on;
    who.in_transaction = false;
    who.transaction_failed = false;
    who.queued_bytes = 0;
    who.queue.clear();
}

void call::wrong_arity() const {
    error("ERR wrong number of arguments for '" + std::string(cmd.name) + "|" + to_lower(args[1]) + "' command");
}

void call::unknown_subcommand() const {
    std::string upper(cmd.name);
    std::ranges::transform(upper, upper.begin(), [](char b) { return static_cast<char>(b & ~0x20); });
    error("ERR unknown subcommand '" + std::string(args[1].substr(0, 128)) + "'. Try " + upper + " HELP.");
}

bool call::is(std::size_t i, std::string_view word) const noexcept { return equals_any_case(args[i], word); }

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
    bool const is_empty = std::visit(
        [](auto const& held) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(held)>, std::string>)
                return false;
            else
                return held.empty();
        },
        at->second.held);
    if (is_empty)
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

// Transactions.

void commands::multi(call& c) {
    if (c.self.in_transaction)
        return c.error("ERR MULTI calls can not be nested");
    c.self.in_transaction = true;
    c.ok();
}

namespace {

void end_transaction(server_session& self) {
    self.in_transaction = false;
    self.transaction_failed = false;
    self.queued_bytes = 0;
    self.queue.clear();
    self.server.unwatch(self);
}

bool watched_keys_changed(server_session const& self) {
    for (auto const& [in, key] : self.watched)
        self.server.find(in, key); // Has it expired? Then it is removed now, and that is a change.
    return self.watch_broken;
}

} // namespace

void commands::exec(call& c) {
    if (!c.self.in_transaction)
        return c.error("ERR EXEC without MULTI");
    bool const failed = c.self.transaction_failed;
    bool const changed = watched_keys_changed(c.self);
    auto const queue = std::exchange(c.self.queue, {});
    end_transaction(c.self);
    if (failed)
        return c.error("EXECABORT Transaction discarded because of previous errors.");
    if (changed)
        return c.null_array();
    c.array(queue.size());
    std::vector<std::string_view> arguments;
    for (auto const& queued : queue) {
        arguments.assign(queued.arguments.begin(), queued.arguments.end());
        run(c.self, *queued.cmd, arguments); // As Redis, also what a SUBSCRIBE before it would forbid outside.
    }
}

void commands::discard(call& c) {
    if (!c.self.in_transaction)
        return c.error("ERR DISCARD without MULTI");
    end_transaction(c.self);
    c.ok();
}

void commands::watch(call& c) {
    if (c.self.in_transaction)
        return c.error("ERR WATCH inside MULTI is not allowed");
    for (std::string_view const key : c.args.subspan(1)) {
        c.find(key); // what expired before does not count
        watched_key const watched(c.self.database, key);
        if (c.server.watchers[watched].insert(&c.self).second)
            c.self.watched.push_back(watched);
    }
    c.ok();
}

void commands::unwatch(call& c) {
    c.server.unwatch(c.self);
    c.ok();
}

} // namespace server_impl

server_engine::server_engine(server_engine_options options) : state_(std::make_unique<server_impl::server_state>()) {
    FAIRLEAD_ASSERT(options.databases > 0);
    state_->options = std::move(options);
    state_->databases.resize(state_->options.databases);
    state_->started_at = state_->now();
}

server_engine::~server_engine() { FAIRLEAD_ASSERT(state_->sessions.empty()); }

std::size_t server_engine::client_count() const noexcept { return state_->sessions.size(); }
std::uint64_t server_engine::commands_run() const noexcept { return state_->commands_run; }

server_engine::client::client(server_engine& engine, std::string_view address)
    : session_(std::make_unique<server_impl::server_session>(*engine.state_)) {
    session_->id = ++engine.state_->last_id;
    session_->address = address;
    session_->created_at = engine.state_->now();
    server_impl::reset_session(*session_);
    engine.state_->sessions.emplace(session_->id, session_.get());
}

server_engine::client::~client() {
    server_impl::server_state& server = session_->server;
    server.unwatch(*session_);
    server.unsubscribe_all(*session_);
    server.sessions.erase(session_->id);
    std::erase(server.dirty, session_.get());
}

void server_engine::client::feed(std::string_view bytes) {
    server_impl::server_session& self = *session_;
    if (self.closing)
        return;
    // Requests are read where they are; only what is left of the last one moves into `input`.
    bool const has_rest = !self.input.empty();
    if (has_rest)
        self.input += bytes;
    std::string_view const unread = has_rest ? std::string_view(self.input) : bytes;
    std::size_t const used = server_impl::request_reader(self, unread).serve_all();
    if (self.closing) {
        self.input = {};
    } else {
        if (has_rest)
            self.input.erase(0, used);
        else
            self.input = unread.substr(used);
        self.read_at -= used;
        for (auto& piece : self.pieces)
            piece.at -= used;
    }
    server_impl::tell_dirty(self.server); // Last: it may destroy *this.
}

std::string& server_engine::client::output() noexcept { return session_->output; }
bool server_engine::client::wants_close() const noexcept { return session_->closing; }
std::uint64_t server_engine::client::id() const noexcept { return session_->id; }
void server_engine::client::on_output(std::function<void()> changed) { session_->on_output = std::move(changed); }

} // namespace fairlead::redis
