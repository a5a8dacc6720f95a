// A Redis server for tests: a shadow of the real one that remembers what it did, and misbehaves on demand.
//
// It shares no code with the client but the parser and the writer of resp3. So its memory can be held against the
// client's words. It runs on ordinary sockets, on a simulated host as on a real context. Data and memory
// belong to the object, not to the process: they outlive a kill, a crash and a restart of the host.
//
// Commands carry tags: a last argument "#7.2" says that this is command 2 of request 7. Where Redis takes no more
// arguments (INCR, GET, MULTI, EXEC) the shadow takes one more and ignores it.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/error.hpp>
#include <fairlead/redis/response.hpp>
#include <fairlead/resp3/parser.hpp>
#include <fairlead/resp3/writer.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include "../support/reply_lines.hpp" // A benchmark includes this without the paths of the tests.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {

using R = redis::error; ///< how most calls end here

/// Starts a coroutine whose exceptions leave run(): a test that throws has failed.
template <class Context> void spawn(Context& context, awaitable<void> a) {
    co_spawn(context, std::move(a), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(std::move(e));
    });
}

// ---- tags

struct tag {
    std::uint64_t request = 0; ///< 0: none
    std::uint32_t index = 0;
};

inline std::string tag_text(std::uint64_t request, std::uint32_t index) {
    return '#' + std::to_string(request) + '.' + std::to_string(index);
}

/// Characters behind the digits are padding.
inline tag read_tag(std::string_view text) {
    tag t;
    if (text.empty() || text[0] != '#')
        return {};
    auto const* const end = text.data() + text.size();
    auto const request = std::from_chars(text.data() + 1, end, t.request);
    if (request.ec != std::errc() || request.ptr == end || *request.ptr != '.')
        return {};
    return std::from_chars(request.ptr + 1, end, t.index).ec == std::errc() ? t : tag{};
}

// ---- what goes wrong

/// Each concerns one command, but for the last three: a connection.
enum class wrong : std::uint8_t {
    refuse,       ///< an error instead of an execution: LOADING, BUSY, OOM …
    late,         ///< the reply takes its time; what came before is sent meanwhile
    cut,          ///< a reply in two pieces, with a pause between them
    attribute,    ///< an attribute before a reply, or before an element of one
    push,         ///< a push before a reply
    flood,        ///< a thousand pushes before a reply
    close,        ///< closes in the middle of a reply
    garbage,      ///< sends what is no RESP
    silence,      ///< answers nothing any more
    greet_late,   ///< waits before it looks at HELLO
    refuse_hello, ///< does not want this client
    early_push,   ///< a push before anything else
};
inline constexpr std::size_t wrongs = 12;
inline constexpr std::array<char const*, wrongs> wrong_names{
    "server_refuse",  "server_late",       "server_cut",          "server_attribute",
    "server_push",    "server_flood",      "server_close",        "server_garbage",
    "server_silence", "server_greet_late", "server_refuse_hello", "server_early_push"};

/// Told of everything as it happens. The shadow's own is made for tests that only count.
class shadow_listener {
public:
    virtual ~shadow_listener() = default;
    /// The command took effect; of commands in a transaction when EXEC comes.
    virtual void executed(std::uint32_t session, tag t) = 0;
    /// The reply as a line of text: see reply_lines(). It need not arrive.
    virtual void answered(std::uint32_t session, tag t, std::string_view reply) = 0;
    /// The client did what it must not.
    virtual void offended(std::uint32_t session, std::string_view what) = 0;
};

class shadow_redis {
public:
    explicit shadow_redis(std::uint64_t seed, shadow_listener* listener = nullptr) : listener_(listener) {
        for (std::size_t i = 0; i != wrongs; ++i)
            chances_.emplace_back(seed, 2000 + i);
    }
    shadow_redis(shadow_redis const&) = delete;
    shadow_redis& operator=(shadow_redis const&) = delete;

    // ---- settings

    /// So many times of 1024.
    void set(wrong w, std::uint32_t of_1024) { rates_[static_cast<std::size_t>(w)] = of_1024; }
    /// From now on everything is done as it should be; who is silent already stays so.
    void behave() { rates_.fill(0); }
    void password(std::string p) { password_ = std::move(p); }
    /// As servers before 6.0: HELLO is unknown.
    void resp2_only(bool is) { resp2_only_ = is; }
    /// As servers before 7.2: a message for the publisher itself comes in the middle of EXEC's array, of which it is no
    /// element.
    void pushes_inside_exec(bool is) { pushes_inside_exec_ = is; }
    void listener(shadow_listener* l) { listener_ = l; }

    // ---- what it knows

    std::map<std::string, std::string, std::less<>> const& data() const { return data_; }
    std::string value_of(std::string_view key) const {
        auto const at = data_.find(key);
        return at == data_.end() ? std::string() : at->second;
    }
    std::uint64_t commands() const { return commands_; }
    std::uint64_t connections() const { return connections_; }
    std::uint64_t pushes() const { return pushes_; }
    std::size_t live_sessions() const { return sessions_.size(); }
    /// How often something went wrong on purpose.
    std::uint64_t times(wrong w) const { return times_[static_cast<std::size_t>(w)]; }

    // ---- the server

    /// Listens and serves until the context's coroutines are destroyed. Port 0: some port, see port().
    awaitable<void> serve(io_context& context, ip::tcp::endpoint at = {ip::tcp::v6(), 6379}) {
        steady_timer pause(context);
        ip::tcp::acceptor acceptor(context);
        for (error_code ec = error::no_descriptors; ec;) { // It may have to wait for one.
            ec.clear();
            acceptor.open(at.protocol(), ec);
            if (!ec)
                break;
            pause.expires_after(std::chrono::milliseconds(5));
            auto waiting = pause.async_wait(as_tuple);
            co_await std::move(waiting);
        }
        acceptor.set_option(socket_base::reuse_address(true));
        acceptor.bind(at);
        acceptor.listen();
        port_ = acceptor.local_endpoint().port();
        for (;;) {
            auto s = std::make_shared<session>(*this, context, ++connections_);
            auto accepting = acceptor.async_accept(s->socket, as_tuple);
            auto const [ec] = co_await std::move(accepting);
            if (!ec) {
                spawn(context, talk(std::move(s)));
                continue;
            }
            if (ec == error::operation_aborted)
                co_return;
            s.reset();
            pause.expires_after(std::chrono::milliseconds(5));
            auto waiting = pause.async_wait(as_tuple);
            co_await std::move(waiting);
        }
    }
    std::uint16_t port() const { return port_; }
    /// Closes all connections, as after CLIENT KILL.
    void drop_clients() {
        for (auto& [number, s] : sessions_)
            s->close_now();
    }
    /// Closes those that are subscribed to something.
    void drop_subscribers() {
        for (auto& [number, s] : sessions_)
            if (!s->channels.empty())
                s->close_now();
    }
    /// More than so many at a time are closed at once.
    void connections_max(std::size_t n) { connections_max_ = n; }
    /// Sends a push to everybody, whatever else goes on.
    void push_to_all() {
        for (auto& [number, s] : sessions_)
            if (s->greeted && s->is_resp3()) {
                push(*s);
                flush(s->shared_from_this());
            }
    }

private:
    struct session : std::enable_shared_from_this<session> {
        session(shadow_redis& of, io_context& c, std::uint64_t n)
            : server(of),
              context(c),
              number(static_cast<std::uint32_t>(n)),
              socket(c),
              pause(c) {}
        session(session const&) = delete;
        session& operator=(session const&) = delete;
        ~session() { server.sessions_.erase(number); }

        bool is_resp3() const { return version == resp3::version::resp3; }
        /// Where something goes that is not part of the reply under way.
        std::string& sink() { return held ? behind : out; }
        void close_now() {
            error_code ignored; // It is closed either way.
            socket.close(ignored);
        }

        shadow_redis& server;
        io_context& context;
        std::uint32_t number;
        ip::tcp::socket socket;
        steady_timer pause;

        std::string in;
        std::size_t used = 0;
        resp3::parser parser;
        std::array<resp3::node, 64> nodes;
        std::size_t node_at = 0, node_count = 0;
        std::string text;
        std::vector<std::pair<std::size_t, std::size_t>> places; // in text
        std::vector<std::string_view> words;

        std::string out, sending, behind;
        bool held = false; // half a reply is in `out`
        bool writing = false;
        bool closing = false; // once everything is written

        resp3::version version = resp3::version::resp2;
        bool greeted = false, authenticated = false, silent = false, deaf = false;
        bool in_transaction = false, transaction_broken = false;
        bool in_exec = false;
        std::string after_exec;
        std::vector<std::vector<std::string>> queued;
        std::set<std::string, std::less<>> channels;
        std::uint64_t push_number = 0;
        std::string line; // the reply as text
    };

    bool happens(wrong w) {
        auto const i = static_cast<std::size_t>(w);
        if (rates_[i] == 0 || !chances_[i].chance(rates_[i]))
            return false;
        ++times_[i];
        return true;
    }
    std::uint32_t draw(wrong w, std::uint32_t below) { return chances_[static_cast<std::size_t>(w)].below(below); }

    // ---- one connection

    awaitable<void> talk(std::shared_ptr<session> s) {
        constexpr std::size_t space = 4096;
        if (sessions_.size() >= connections_max_)
            co_return s->close_now();
        sessions_.emplace(s->number, s.get());
        if (happens(wrong::greet_late)) {
            s->pause.expires_after(std::chrono::milliseconds(draw(wrong::greet_late, 300)));
            auto waiting = s->pause.async_wait(as_tuple);
            co_await std::move(waiting);
        }
        for (;;) {
            auto const before = s->in.size();
            s->in.resize(before + space);
            auto reading = s->socket.async_read_some(buffer(s->in.data() + before, space), as_tuple);
            auto const [ec, n] = co_await std::move(reading);
            s->in.resize(before + n);
            if (ec)
                break;
            if (s->deaf) {
                s->in.clear();
                continue;
            }
            while (next_command(*s)) {
                auto const begin = s->out.size();
                handle(*s);
                if (auto const w = mishap(*s)) {
                    auto stumbling = stumble(s, *w, begin);
                    co_await std::move(stumbling);
                }
                if (s->silent)
                    s->out.resize(std::min(begin, s->out.size()));
                if (s->closing || s->deaf)
                    break;
            }
            flush(s);
            if (s->closing)
                co_return; // The writer closes.
        }
        s->close_now();
    }

    std::optional<wrong> mishap(session& s) {
        if (s.silent || !s.greeted)
            return std::nullopt;
        for (auto const w : {wrong::late, wrong::cut, wrong::close, wrong::garbage, wrong::silence})
            if (happens(w))
                return w;
        return std::nullopt;
    }

    /// The reply that begins at `begin` meets with an accident.
    awaitable<void> stumble(std::shared_ptr<session> s, wrong w, std::size_t begin) {
        auto const size = static_cast<std::uint32_t>(s->out.size() - begin);
        switch (w) {
        case wrong::close:
            s->out.resize(begin + draw(w, size + 1));
            s->closing = true;
            co_return;
        case wrong::garbage: {
            constexpr std::string_view no_resp[] = {"HTTP/1.1 400 Bad Request\r\n\r\n",
                                                    std::string_view("\x15\x03\x03\0\x02\x02\x50", 7), "$-2\r\n",
                                                    "%-5\r\n", std::string_view("\0\0", 2)};
            s->out.insert(begin, no_resp[draw(w, std::size(no_resp))]);
            co_return;
        }
        case wrong::silence:
            s->silent = true;
            s->deaf = draw(w, 2) != 0;
            s->out.resize(begin + draw(w, size + 1));
            flush(s);
            co_return;
        default: break;
        }
        // late, cut
        auto const kept = w == wrong::cut ? draw(w, size + 1) : 0;
        std::string rest = s->out.substr(begin + kept);
        s->out.resize(begin + kept);
        s->held = true;
        flush(s);
        s->pause.expires_after(std::chrono::microseconds(draw(w, w == wrong::late ? 50'000 : 3'000)));
        auto waiting = s->pause.async_wait(as_tuple);
        co_await std::move(waiting);
        s->held = false;
        s->out += rest;
        s->out += s->behind;
        s->behind.clear();
    }

    void flush(std::shared_ptr<session> s) {
        if (s->writing || (s->out.empty() && !s->closing))
            return;
        s->writing = true;
        auto& context = s->context;
        spawn(context, write_out(std::move(s)));
    }
    awaitable<void> write_out(std::shared_ptr<session> s) {
        error_code ec;
        while (!s->out.empty() && !ec) {
            s->sending.clear();
            s->sending.swap(s->out);
            auto writing = async_write(s->socket, buffer(s->sending), redirect_error(ec));
            co_await std::move(writing);
        }
        s->writing = false;
        if (ec || s->closing)
            s->close_now();
    }

    /// True: a command is in s.words.
    bool next_command(session& s) {
        for (;;) {
            while (s.node_at != s.node_count) {
                auto const& n = s.nodes[s.node_at++];
                if (n.kind == resp3::type::array) {
                    s.text.clear();
                    s.places.clear();
                } else {
                    s.places.emplace_back(s.text.size(), n.value.size());
                    s.text += n.value;
                }
                if (!n.last)
                    continue;
                s.words.clear();
                for (auto const& [at, size] : s.places)
                    s.words.push_back(std::string_view(s.text).substr(at, size));
                if (!s.words.empty())
                    return true;
            }
            auto const p = s.parser.parse_some(std::string_view(s.in).substr(s.used), s.nodes);
            s.used += p.consumed;
            s.node_at = 0;
            s.node_count = p.nodes;
            if (p.what == resp3::status::failed) {
                offended(s, "sent what is no RESP");
                s.closing = true;
                return false;
            }
            if (p.nodes == 0) {
                s.in.erase(0, s.used);
                s.used = 0;
                return false;
            }
        }
    }

    void offended(session const& s, std::string_view what) {
        if (listener_)
            listener_->offended(s.number, what);
    }

    // ---- replies, and the same as a line of text

    void say(session& s, std::string_view text) {
        resp3::append_simple_string(s.out, text);
        s.line += text;
    }
    void blob(session& s, std::string_view text) {
        resp3::append_blob_string(s.out, text);
        s.line += text;
    }
    void number(session& s, std::int64_t n) {
        resp3::append_number(s.out, n);
        s.line += std::to_string(n);
    }
    void null(session& s) {
        resp3::append_null(s.out, s.version);
        s.line += '_';
    }
    void refuse(session& s, std::string_view text) {
        resp3::append_simple_error(s.out, text);
        s.line += '-';
        s.line += text;
    }
    void push(session& s) {
        auto& to = s.sink();
        resp3::append_push_header(to, 3, s.version);
        resp3::append_blob_string(to, "noise");
        resp3::append_number(to, s.number);
        resp3::append_number(to, static_cast<std::int64_t>(s.push_number++));
        ++pushes_;
    }
    void attribute(session& s) {
        if (!s.is_resp3() || !happens(wrong::attribute))
            return;
        resp3::append_attribute_header(s.out, 1);
        resp3::append_simple_string(s.out, "ttl");
        resp3::append_array_header(s.out, 2);
        resp3::append_number(s.out, 1);
        resp3::append_blob_string(s.out, "x\r\n+OK\r\n");
    }

    // ---- commands

    void handle(session& s) {
        ++commands_;
        if (s.words[0] == "HELLO" || s.words[0] == "AUTH")
            return greet(s);
        auto const t = read_tag(s.words.back());
        if (!s.authenticated && (!password_.empty() || (!s.greeted && !resp2_only_))) {
            if (t.request != 0)
                offended(s, "sent a command before it was greeted: " + tag_text(t.request, t.index));
            resp3::append_simple_error(s.out, "NOAUTH Authentication required.");
            return;
        }
        s.greeted = true;
        if (s.is_resp3()) {
            if (happens(wrong::push))
                push(s);
            if (happens(wrong::flood))
                for (int i = 0; i != 1000; ++i)
                    push(s);
        }
        s.line.clear();
        attribute(s);
        dispatch(s, t);
        if (t.request != 0 && listener_)
            listener_->answered(s.number, t, s.line);
    }

    void greet(session& s) {
        if (s.words[0] == "AUTH") {
            s.authenticated = s.words.back() == password_;
            s.authenticated ? say(s, "OK") : refuse(s, "WRONGPASS invalid username-password pair");
            return;
        }
        if (resp2_only_)
            return refuse(s, "ERR unknown command 'HELLO'");
        s.version = resp3::version::resp3;
        if (happens(wrong::early_push))
            push(s);
        if (happens(wrong::refuse_hello)) {
            constexpr std::string_view reasons[] = {"LOADING Redis is loading the dataset in memory",
                                                    "ERR max number of clients reached",
                                                    "NOAUTH HELLO must be called with the client already authenticated",
                                                    "WRONGPASS invalid username-password pair or user is disabled."};
            return refuse(s, reasons[draw(wrong::refuse_hello, std::size(reasons))]);
        }
        bool good = password_.empty();
        for (std::size_t i = 2; i + 2 < s.words.size(); ++i)
            if (s.words[i] == "AUTH")
                good = s.words[i + 2] == password_;
        if (!good)
            return refuse(s, "WRONGPASS invalid username-password pair or user is disabled.");
        s.greeted = s.authenticated = true;
        attribute(s);
        resp3::append_map_header(s.out, 2, s.version);
        resp3::append_blob_string(s.out, "server");
        resp3::append_blob_string(s.out, "redis");
        resp3::append_blob_string(s.out, "proto");
        resp3::append_number(s.out, 3);
    }

    void dispatch(session& s, tag t) {
        auto const name = s.words[0];
        if (name == "EXEC")
            return exec(s, t);
        if (happens(wrong::refuse)) {
            constexpr std::string_view reasons[] = {
                "LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.",
                "OOM command not allowed when used memory > 'maxmemory'.", "NOAUTH Authentication required.",
                "READONLY You can't write against a read only replica."};
            s.transaction_broken = s.in_transaction;
            return refuse(s, reasons[draw(wrong::refuse, std::size(reasons))]);
        }
        if (name == "MULTI") {
            s.in_transaction = true;
            s.transaction_broken = false;
            s.queued.clear();
            executed(s, t);
            return say(s, "OK");
        }
        if (s.in_transaction) {
            s.queued.emplace_back(s.words.begin(), s.words.end());
            return say(s, "QUEUED");
        }
        execute(s, t);
    }

    void exec(session& s, tag t) {
        if (!s.in_transaction)
            return refuse(s, "ERR EXEC without MULTI");
        s.in_transaction = false;
        if (std::exchange(s.transaction_broken, false))
            return refuse(s, "EXECABORT Transaction discarded because of previous errors.");
        auto const commands = std::exchange(s.queued, {});
        resp3::append_array_header(s.out, commands.size());
        s.line += '[' + std::to_string(commands.size());
        s.in_exec = true;
        for (auto const& each : commands) {
            s.words.assign(each.begin(), each.end());
            s.line += ' ';
            attribute(s);
            execute(s, read_tag(s.words.back()));
        }
        s.in_exec = false;
        s.out += s.after_exec;
        s.after_exec.clear();
        executed(s, t);
    }

    void executed(session const& s, tag t) {
        if (t.request != 0 && listener_)
            listener_->executed(s.number, t);
    }

    void execute(session& s, tag t) {
        auto const name = s.words[0];
        if (!s.is_resp3() && !s.channels.empty()) { // as Redis: nothing else is executed, and a PING is answered so
            if (name == "PING") {
                resp3::append_array_header(s.out, 2);
                resp3::append_blob_string(s.out, "pong");
                return resp3::append_blob_string(s.out, "");
            }
            if (name != "SUBSCRIBE" && name != "UNSUBSCRIBE")
                return refuse(s, "ERR only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING are allowed in this context");
        }
        auto const argument = s.words.size() > 1 ? s.words[1] : std::string_view();
        auto const value = s.words.size() > 2 ? s.words[2] : std::string_view();
        executed(s, t);
        if (name == "ECHO")
            return blob(s, argument);
        if (name == "PING")
            return argument.empty() ? say(s, "PONG") : blob(s, argument);
        if (name == "GET") {
            auto const at = data_.find(argument);
            return at == data_.end() ? null(s) : blob(s, at->second);
        }
        if (name == "SET") {
            place(argument).assign(value);
            return say(s, "OK");
        }
        if (name == "APPEND") {
            auto& all = place(argument);
            all += value;
            return number(s, static_cast<std::int64_t>(all.size()));
        }
        if (name == "INCR") {
            auto& text = place(argument);
            std::int64_t n = 0;
            auto const r = std::from_chars(text.data(), text.data() + text.size(), n);
            if (!text.empty() && r.ptr != text.data() + text.size())
                return refuse(s, "ERR value is not an integer or out of range");
            text = std::to_string(++n);
            return number(s, n);
        }
        if (name == "PUBLISH")
            return number(s, publish(s, argument, value));
        if (name == "SUBSCRIBE" || name == "UNSUBSCRIBE")
            return subscribe(s, name == "SUBSCRIBE");
        if (name == "SELECT" || name == "CLIENT")
            return say(s, "OK");
        refuse(s, "ERR unknown command");
    }

    std::string& place(std::string_view key) {
        auto const at = data_.find(key);
        return at != data_.end() ? at->second : data_.emplace(key, std::string()).first->second;
    }

    std::int64_t publish(session& from, std::string_view channel, std::string_view message) {
        std::int64_t n = 0;
        for (auto& [number, s] : sessions_) {
            if (!s->channels.contains(channel) || s->silent)
                continue;
            std::string text;
            resp3::append_push_header(text, 3, s->version);
            resp3::append_blob_string(text, "message");
            resp3::append_blob_string(text, channel);
            resp3::append_blob_string(text, message);
            // To the publisher itself before the reply, which is not yet written.
            (s->in_exec && !pushes_inside_exec_ ? s->after_exec : s->sink()) += text;
            ++pushes_;
            ++n;
            if (s != &from)
                flush(s->shared_from_this());
        }
        return n;
    }

    void subscribe(session& s, bool in) {
        std::vector<std::string> channels(s.words.begin() + 1, s.words.end());
        bool const all = channels.empty();
        if (all)
            channels.assign(s.channels.begin(), s.channels.end());
        auto const confirm = [&](std::string_view const* channel) {
            resp3::append_push_header(s.out, 3, s.version);
            resp3::append_blob_string(s.out, in ? "subscribe" : "unsubscribe");
            if (channel)
                resp3::append_blob_string(s.out, *channel);
            else
                resp3::append_null(s.out, s.version);
            resp3::append_number(s.out, static_cast<std::int64_t>(s.channels.size()));
            ++pushes_;
        };
        for (auto const& each : channels) {
            in ? static_cast<void>(s.channels.insert(each)) : static_cast<void>(s.channels.erase(each));
            std::string_view const name = each;
            confirm(&name);
        }
        if (channels.empty())
            confirm(nullptr);
    }

    shadow_listener* listener_;
    std::vector<sim::random_stream> chances_;
    std::array<std::uint32_t, wrongs> rates_{};
    std::array<std::uint64_t, wrongs> times_{};
    std::string password_;
    bool resp2_only_ = false;
    bool pushes_inside_exec_ = false;
    std::uint16_t port_ = 0;
    std::size_t connections_max_ = static_cast<std::size_t>(-1);
    std::uint64_t commands_ = 0, connections_ = 0, pushes_ = 0;
    std::map<std::string, std::string, std::less<>> data_;
    std::map<std::uint32_t, session*> sessions_; // in the order in which they came
};

} // namespace fairlead::test
