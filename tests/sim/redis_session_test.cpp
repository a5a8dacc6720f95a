// The client's session in a simulated world where everything goes wrong that a seed can think of. Callers come, give up
// and repeat, hosts die and return, links are cut, the server lies. A ledger knows what was asked for and what was
// done, and objects at once.
//
// Phase 1 has faults, and safety is checked all the time. Phase 2 is calm: whatever is healthy must be done soon, and
// nothing may be left behind.
#include <gtest/gtest.h>

#include <sim/redis_world.hpp>

#include <fairlead/redis/connection.hpp>
#include <fairlead/sim/seeds.hpp>
#include <support/scale.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

namespace fairlead::test {
namespace {

using namespace std::chrono_literals;

/// The end of a request, as its caller knows it.
enum class fate : std::uint8_t { pending, done, not_executed, unknown, abandoned };

/// The requests of each caller, the server's actions, and the answers to callers. Outlives all processes.
class call_ledger : public shadow_listener {
public:
    struct command {
        unsigned executed = 0;
        unsigned answered = 0;
        std::string reply;
    };
    struct entry {
        unsigned client = 0;
        std::size_t transaction_end = 0; ///< index of EXEC, if there is one
        fate known = fate::pending;
        std::vector<command> commands;
    };

    /// The first violation ends the run.
    [[noreturn]] void fail(std::string const& what) {
        if (failure_.empty())
            failure_ = what;
        throw std::runtime_error(failure_);
    }
    std::string const& failure() const { return failure_; }

    std::uint64_t issue(unsigned client, std::size_t commands) {
        entry e;
        e.client = client;
        e.commands.resize(commands);
        entries_.push_back(std::move(e));
        return entries_.size();
    }
    entry& at(std::uint64_t id) { return entries_.at(id - 1); }
    std::size_t size() const { return entries_.size(); }

    // ---- the server's side

    void executed(std::uint32_t session, tag t) override {
        auto& c = seen(session, t);
        if (++c.executed != 1)
            fail("executed twice: " + tag_text(t.request, t.index));
    }
    void answered(std::uint32_t session, tag t, std::string_view reply) override {
        auto& c = seen(session, t);
        if (++c.answered != 1)
            fail("sent twice: " + tag_text(t.request, t.index));
        c.reply = reply;
        // On one connection everything comes in the order in which it was asked for, a request as a whole.
        auto& last = last_of_session_[session];
        bool const follows = t.request == last.request ? t.index == last.index + 1 : t.index == 0;
        if (t.request < last.request || !follows)
            fail("out of order: " + tag_text(t.request, t.index) + " after " + tag_text(last.request, last.index));
        auto& client = client_of_session_.try_emplace(session, at(t.request).client).first->second;
        if (client != at(t.request).client)
            fail("on somebody else's connection: " + tag_text(t.request, t.index));
        last = t;
    }
    void offended(std::uint32_t, std::string_view what) override { fail("the client " + std::string(what)); }

    // ---- the callers' side

    /// Tells the ledger how a request ended; `replies` are those that the response holds, where it holds them all.
    void completed(std::uint64_t id, error_code const& ec, std::optional<std::vector<std::string>> const& replies) {
        auto& e = at(id);
        auto const name = "request " + std::to_string(id);
        if (e.known != fate::pending)
            fail(name + " completed twice");
        ++counts_[static_cast<std::size_t>(fate_of(id, ec))];
        e.known = fate_of(id, ec);
        if (e.known == fate::not_executed)
            for (auto const& c : e.commands)
                if (c.answered || c.executed)
                    fail(name + " was sent, but reported as " + ec.message());
        if (e.known != fate::done)
            return;
        for (std::size_t i = 0; i != e.commands.size(); ++i) {
            auto const& c = e.commands[i];
            if (!c.answered)
                fail(name + " is said to be done, but command " + std::to_string(i) + " was never sent");
            bool const should =
                c.reply == "QUEUED" ? e.commands[e.transaction_end].reply[0] == '[' : !c.reply.starts_with('-');
            if (should != (c.executed != 0))
                fail(name + ": command " + std::to_string(i) + " was answered by " + c.reply + " and executed " +
                     std::to_string(c.executed) + " times");
        }
        if (!replies)
            return;
        if (replies->size() != e.commands.size())
            fail(name + " got " + std::to_string(replies->size()) + " replies");
        for (std::size_t i = 0; i != replies->size(); ++i)
            if ((*replies)[i] != e.commands[i].reply)
                fail("somebody else's reply: command " + std::to_string(i) + " of " + name + " got " + (*replies)[i] +
                     ", not " + e.commands[i].reply);
    }

    /// The process that waited for them is gone.
    void abandon(unsigned client) {
        for (auto& e : entries_)
            if (e.client == client && e.known == fate::pending)
                e.known = fate::abandoned;
    }
    std::uint64_t count(fate f) const { return counts_[static_cast<std::size_t>(f)]; }
    std::string pending_ones() const {
        std::string text;
        for (std::size_t i = 0; i != entries_.size(); ++i)
            if (entries_[i].known == fate::pending)
                text += ' ' + std::to_string(i + 1);
        return text;
    }

    /// The state that the server's data must have, when nothing happens any more.
    void audit(shadow_redis const& server) {
        std::map<std::string, std::int64_t> increments;
        for (auto const& [key, text] : server.data()) {
            if (!key.starts_with("log:"))
                continue;
            // Appended by one caller after the other: each once, in order.
            std::uint64_t last = 0;
            for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1)) {
                auto const t = read_tag(std::string_view(text).substr(at));
                auto const& c = this->at(t.request).commands.at(t.index);
                if (t.request == last)
                    fail("appended twice: " + tag_text(t.request, t.index));
                if (!c.executed)
                    fail("in the data, but not executed: " + tag_text(t.request, t.index));
                last = t.request;
            }
        }
        if (auto const left = pending_ones(); !left.empty())
            fail("never completed:" + left);
    }

    int live = 0; ///< coroutines

private:
    fate fate_of(std::uint64_t id, error_code const& ec) {
        if (!ec || ec == redis::condition::refused_by_server || ec == R::incompatible_type ||
            ec == R::conversion_failed || ec.category() == resp3::get_error_category())
            return fate::done;
        if (ec == redis::condition::not_executed)
            return fate::not_executed;
        if (ec == R::maybe_executed)
            return fate::unknown;
        fail("request " + std::to_string(id) + " ended with " + ec.message());
    }
    command& seen(std::uint32_t session, tag t) {
        if (t.request == 0 || t.request > entries_.size() || t.index >= at(t.request).commands.size())
            fail("nobody asked for " + tag_text(t.request, t.index) + " on connection " + std::to_string(session));
        if (at(t.request).known == fate::not_executed)
            fail("reported as not executed, but sent: " + tag_text(t.request, t.index));
        return at(t.request).commands[t.index];
    }

    std::vector<entry> entries_;
    std::map<std::uint32_t, tag> last_of_session_;
    std::map<std::uint32_t, unsigned> client_of_session_;
    std::array<std::uint64_t, 5> counts_{};
    std::string failure_;
};

/// Counts a coroutine's frame. The ledger outlives all frames.
class live_frame {
public:
    explicit live_frame(call_ledger& b) : book_(b) { ++book_.live; }
    live_frame(live_frame const&) = delete;
    live_frame& operator=(live_frame const&) = delete;
    ~live_frame() { --book_.live; }

private:
    call_ledger& book_;
};

struct does_not_convert {};
error_code from_reply(redis::reply_reader&, does_not_convert&) { throw std::runtime_error("a program's own trouble"); }

/// The choices of a seed about a client.
struct client_options {
    unsigned number = 0;
    std::uint64_t callers = 0, requests = 0;
    std::uint32_t cancels = 0; ///< of 1024
    std::chrono::microseconds patience{};
    redis::config config;
};

/// A connection and all that use it. Lies in the frame of its host's program.
class client {
public:
    client(sim::host& h, std::uint64_t seed, call_ledger& book, client_options const& o)
        : context_(h.context()),
          book_(book),
          options_(o),
          seed_(seed * 16 + o.number),
          connection_(h.context()),
          changed_(h.context()) {}

    awaitable<void> live() {
        live_frame const here(book_);
        add_child(keep_connected());
        add_child(receive_pushes());
        for (std::uint64_t i = 0; i != options_.callers; ++i) {
            ++callers_;
            add_child(call(i));
        }
        for (;;) {
            if (callers_ == 0 && !ending_) {
                ending_ = true;
                connection_.cancel();
            }
            if (children_ == 0)
                break;
            changed_.expires_at(steady_clock::time_point::max());
            auto waiting = changed_.async_wait(as_tuple);
            co_await std::move(waiting);
        }
        if (connection_.pending() != 0)
            book_.fail("requests are pending although nobody waits: " + std::to_string(connection_.pending()));
        auto const c = connection_.counters();
        if (c.pushes < pushes_ + c.pushes_dropped)
            book_.fail("more pushes were handed out than came");
    }

private:
    /// One execution, with the memory that it needs.
    struct exchange {
        std::uint64_t id = 0;
        redis::request request;
        redis::generic_response generic;
        redis::response<std::string> text;
        redis::response<std::string, std::string> two_texts;
        redis::response<long> number; // does not fit
        redis::response<does_not_convert> thrower;
        enum class kind : std::uint8_t { generic, nothing, text, two_texts, number, thrower } into = kind::generic;
        bool is_done = false;
    };

    void add_child(awaitable<void> a) {
        ++children_;
        co_spawn(context_, std::move(a), [this](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(std::move(e));
            --children_;
            changed_.cancel();
        });
    }

    awaitable<void> sleep(std::chrono::nanoseconds d) {
        steady_timer t(context_, d);
        auto waiting = t.async_wait(as_tuple);
        co_await std::move(waiting);
    }

    /// Now and then a limit is as short as what it limits takes, so that both come in one turn.
    redis::config draw_limits(sim::random_stream& random) {
        auto config = options_.config;
        if (random.chance(300))
            config.connect_timeout = std::chrono::milliseconds(1 + random.below(10));
        if (random.chance(300))
            config.hello_timeout = std::chrono::milliseconds(1 + random.below(10));
        return config;
    }
    /// No limit is taken for reached before it is.
    void check_patience(redis::config const& config, error_code const& ec, std::chrono::nanoseconds took) {
        std::chrono::nanoseconds const least = ec == R::connect_timed_out ? config.connect_timeout
                                               : ec == R::hello_timed_out ? config.hello_timeout
                                               : ec == R::server_silent   ? 2 * config.health_check_interval
                                                                          : 0ms;
        if (took < least)
            book_.fail(ec.message() + " after " + std::to_string(took.count()) + " ns");
    }

    awaitable<void> keep_connected() {
        live_frame const here(book_);
        sim::random_stream random(seed_, 5000);
        redis::config config;
        bool is_configured = false;
        while (!ending_) {
            error_code ec;
            bool const is_same = std::exchange(is_configured, true) && random.chance(512);
            if (!is_same)
                config = draw_limits(random);
            auto const began = steady_clock::now();
            auto running =
                is_same ? connection_.async_run(redirect_error(ec)) : connection_.async_run(config, redirect_error(ec));
            co_await std::move(running);
            if (!ec)
                book_.fail("async_run ended without a reason");
            check_patience(config, ec, steady_clock::now() - began);
            if (ending_)
                break;
            auto sleeping = sleep(std::chrono::microseconds(random.below(30'000)));
            co_await std::move(sleeping);
        }
    }

    awaitable<void> receive_pushes() {
        live_frame const here(book_);
        redis::generic_response pushes;
        std::map<std::string, std::int64_t> next; // noise is numbered on each of the server's connections
        std::int64_t missing = 0;
        sim::random_stream random(seed_, 5001);
        while (!ending_) {
            auto receiving = connection_.async_receive(pushes, as_tuple);
            auto const [ec, n] = co_await std::move(receiving);
            if (ec)
                continue;
            if (n == 0 || n != pushes.messages())
                book_.fail("a wrong number of pushes");
            pushes_ += n;
            for (auto const& line : reply_lines(pushes)) {
                if (!line.starts_with("[3 noise ") && !line.starts_with("[3 message ") &&
                    !line.starts_with("[3 subscribe ") && !line.starts_with("[3 unsubscribe "))
                    book_.fail("not a push: " + line);
                if (!line.starts_with("[3 noise "))
                    continue;
                auto const space = line.rfind(' ');
                auto const number = std::stoll(line.substr(space + 1));
                auto& expected = next[line.substr(0, space)];
                missing += number - expected;
                if (number < expected || missing > static_cast<std::int64_t>(connection_.counters().pushes_dropped))
                    book_.fail("push " + line + " instead of number " + std::to_string(expected));
                expected = number + 1;
            }
            if (random.chance(100)) {
                auto sleeping = sleep(std::chrono::microseconds(random.below(5'000)));
                co_await std::move(sleeping);
            }
        }
    }

    void compose(exchange& x, std::uint64_t caller, sim::random_stream& random) {
        auto const shape = random.below(8);
        std::size_t const plain = shape == 0 ? 1 + random.below(6) : shape == 1 ? 2 : 1;
        bool const is_transaction = shape == 2;
        bool const subscribes = shape == 3 && random.chance(300);
        std::size_t const commands = is_transaction ? 2 + 1 + random.below(3) : plain;
        x.id = book_.issue(options_.number, commands);
        if (is_transaction)
            book_.at(x.id).transaction_end = commands - 1;
        auto& r = x.request;
        r.clear();
        std::string const log = "log:" + std::to_string(options_.number) + ':' + std::to_string(caller);
        bool appended = false;
        if (subscribes) {
            auto const n = random.below(3);
            if (n == 0)
                r.push("UNSUBSCRIBE");
            else if (n == 1)
                r.push("SUBSCRIBE", "news");
            else
                r.push("SUBSCRIBE", "news", "sport");
        }
        x.into = exchange::kind::generic;
        for (std::size_t i = 0; i != commands; ++i) {
            auto t = tag_text(x.id, static_cast<std::uint32_t>(i));
            if (is_transaction && (i == 0 || i + 1 == commands)) {
                r.push(i == 0 ? "MULTI" : "EXEC", t);
                continue;
            }
            auto const what = shape == 1 || shape == 7 ? 0 : random.below(8);
            if (random.chance(30))
                t += '|' + std::string(random.below(60'000), '.');
            switch (what) {
            case 0:
            case 1: r.push("ECHO", t); break;
            case 2: r.push("PING", t); break;
            case 3: r.push("SET", "shared", t); break;
            case 4: r.push("GET", "shared", t); break;
            case 5: r.push("INCR", "n", t); break;
            case 6: r.push("PUBLISH", "news", t); break;
            default:
                if (std::exchange(appended, true))
                    r.push("ECHO", t);
                else
                    r.push("APPEND", log, t);
            }
        }
        if (shape == 1)
            x.into = exchange::kind::two_texts;
        else if (shape == 7)
            x.into = random.chance(512)   ? exchange::kind::text
                     : random.chance(512) ? exchange::kind::number
                                          : exchange::kind::thrower;
        else if (random.chance(100))
            x.into = exchange::kind::nothing;
    }

    /// Calls f(response): each of them is another type.
    template <class F> decltype(auto) with_response(exchange& x, F f) {
        switch (x.into) {
        case exchange::kind::nothing: return f(redis::ignore);
        case exchange::kind::text: return f(x.text);
        case exchange::kind::two_texts: return f(x.two_texts);
        case exchange::kind::number: return f(x.number);
        case exchange::kind::thrower: return f(x.thrower);
        case exchange::kind::generic: break;
        }
        return f(x.generic);
    }

    void finished(exchange& x, error_code const& ec) {
        x.is_done = true;
        auto const text_of = [](auto const& r) { return r.has_error() ? '-' + r.error_text() : r.value(); };
        std::optional<std::vector<std::string>> replies;
        if (!ec && x.into == exchange::kind::generic)
            replies = reply_lines(x.generic);
        else if (!ec && x.into == exchange::kind::text)
            replies = {{text_of(std::get<0>(x.text))}};
        else if (!ec && x.into == exchange::kind::two_texts)
            replies = {{text_of(std::get<0>(x.two_texts)), text_of(std::get<1>(x.two_texts))}};
        else if (!ec && x.into == exchange::kind::number && !std::get<0>(x.number).has_error())
            book_.fail("a text was read into a number");
        book_.completed(x.id, ec, replies);
    }

    /// Gives it up after a while. `x` may be used for another request by then, or be gone.
    awaitable<void> give_up_later(std::shared_ptr<exchange> x, std::chrono::microseconds after) {
        live_frame const here(book_);
        auto const id = x->id;
        auto sleeping = sleep(after);
        co_await std::move(sleeping);
        if (x->is_done || x->id != id || connection_.cancel(x->request) == 1)
            co_return;
        auto waiting = sleep(1ms); // Then it has just been completed.
        co_await std::move(waiting);
        if (!x->is_done && x->id == id)
            book_.fail("request " + std::to_string(id) + " is pending, but cannot be cancelled");
    }

    awaitable<void> execute(std::shared_ptr<exchange> x) {
        error_code ec;
        auto executing = with_response(*x, [&](auto& response) { // One type, whatever the response is.
            return connection_.async_exec(x->request, response, redirect_error(ec));
        });
        co_await std::move(executing);
        finished(*x, ec);
    }

    void execute_with_callback(std::shared_ptr<exchange> x) {
        ++in_burst_;
        with_response(*x, [&](auto& response) {
            connection_.async_exec(x->request, response, [this, x](error_code ec, std::size_t) {
                --in_burst_;
                finished(*x, ec);
            });
        });
    }

    awaitable<void> call(std::uint64_t caller) {
        live_frame const here(book_);
        sim::random_stream random(seed_, 6000 + caller);
        auto x = std::make_shared<exchange>();
        for (std::uint64_t i = 0; i != options_.requests; ++i) {
            auto const way = random.below(8);
            if (way == 0) { // several at once, and nobody waits
                for (auto n = 1 + random.below(4); n != 0; --n) {
                    auto const one = std::make_shared<exchange>();
                    compose(*one, caller, random);
                    execute_with_callback(one);
                    if (random.chance(options_.cancels / 2) && !one->is_done)
                        connection_.cancel(one->request);
                }
            } else {
                compose(*x, caller, random);
                x->is_done = false;
                if (random.chance(options_.cancels))
                    add_child(give_up_later(x, std::chrono::microseconds(random.below(
                                                   static_cast<std::uint32_t>(options_.patience.count())))));
                auto executing = execute(x);
                co_await std::move(executing);
            }
            if (way != 1) {
                auto sleeping = sleep(std::chrono::microseconds(random.below(20'000)));
                co_await std::move(sleeping);
            }
        }
        while (in_burst_ != 0) {
            auto sleeping = sleep(5ms);
            co_await std::move(sleeping);
        }
        --callers_;
    }

    io_context& context_;
    call_ledger& book_;
    client_options options_;
    std::uint64_t seed_;
    redis::connection connection_;
    steady_timer changed_;
    std::uint64_t callers_ = 0, children_ = 0, in_burst_ = 0, pushes_ = 0;
    bool ending_ = false;
};

/// The common state of all programs of a world; kept by them, because they outlive the test's body.
struct session_world {
    explicit session_world(std::uint64_t seed) : server(seed, &book) {}
    call_ledger book;
    shadow_redis server;
};

awaitable<void> run_client(sim::host& h, std::shared_ptr<session_world> s, std::uint64_t seed, client_options o) {
    s->book.abandon(o.number); // of an earlier life
    client c(h, seed, s->book, o);
    auto living = c.live();
    co_await std::move(living);
}

redis::config draw_config(sim::world& w) {
    redis::config c;
    c.address = w.choose("by_name", 0, 1) == 0 ? "10.0.0.1" : "redis:6379";
    c.keep_unsent = w.choose("keep_unsent", 0, 1) != 0;
    c.cancel_if_not_connected = w.choose("not_connected", 0, 7) == 7;
    c.connect_timeout = 3s;
    c.hello_timeout = 2s;
    c.health_check_interval = std::chrono::milliseconds(500 << w.choose("health", 0, 2));
    c.database = static_cast<unsigned>(w.choose("database", 0, 1));
    if (w.choose("password", 0, 1) != 0)
        c.password = "secret";
    if (w.choose("few_pushes", 0, 3) == 3)
        c.pushes_max = 50;
    if (w.choose("few_requests", 0, 7) == 7)
        c.requests_max = 8;
    if (w.choose("small_reads", 0, 1) != 0)
        c.read_bytes_min = c.read_bytes_max = 1 + w.choose("read_bytes", 0, 200);
    return c;
}

/// Somebody pulls a plug, and puts it back.
void disturb(sim::world& w, std::vector<sim::host*> const& hosts, shadow_redis& server, std::uint64_t number) {
    sim::random_stream random(w.seed(), 7000 + number);
    auto const begin = std::chrono::microseconds(random.below(2'000'000));
    auto const length = std::chrono::microseconds(random.below(random.chance(512) ? 50'000 : 2'000'000));
    auto const end = begin + length;
    auto& redis = *hosts[0];
    auto& app = *hosts[1 + random.below(static_cast<std::uint32_t>(hosts.size() - 1))];
    bool const is_crash = random.chance(512);
    switch (random.below(8)) {
    case 0:
        w.at(begin, [&redis, is_crash] { is_crash ? redis.crash() : redis.kill(); });
        return w.at(end, [&redis] { redis.restart(); });
    case 1: w.at(begin, [&redis] { redis.pause(); }); return w.at(end, [&redis] { redis.resume(); });
    case 2:
        w.at(begin, [&w, &redis, &app] { w.partition(app, redis); });
        return w.at(end, [&w, &redis, &app] { w.heal(app, redis); });
    case 3:
        w.at(begin, [&w, &redis, &app] { w.partition_one_way(app, redis); });
        return w.at(end, [&w, &redis, &app] { w.heal(app, redis); });
    case 4:
        w.at(begin, [&w, &redis, &app] { w.partition_one_way(redis, app); });
        return w.at(end, [&w, &redis, &app] { w.heal(app, redis); });
    case 5: w.at(begin, [&app] { app.pause(); }); return w.at(end, [&app] { app.resume(); });
    case 6: // A caller of before is told nothing more; its request may still be done.
        if (hosts.size() == 2)
            return w.at(begin, [&server] { server.drop_clients(); });
        w.at(begin, [&h = *hosts[2], is_crash] { is_crash ? h.crash() : h.kill(); });
        return w.at(end, [&h = *hosts[2]] { h.restart(); });
    default: return w.at(begin, [&server] { server.drop_clients(); });
    }
}

/// How often each ending occurred, over all seeds of a test.
struct totals {
    std::uint64_t done = 0, not_executed = 0, unknown = 0, connections = 0, pushes = 0;
};

void live_through(sim::world& w, totals& all) {
    auto const s = std::make_shared<session_world>(w.seed());
    auto& server = s->server;

    // ---- phase 1
    constexpr std::array<std::array<std::uint32_t, 3>, wrongs> how_often{{{0, 20, 150},
                                                                          {0, 20, 200},
                                                                          {0, 50, 300},
                                                                          {0, 50, 300},
                                                                          {0, 50, 300},
                                                                          {0, 1, 6},
                                                                          {0, 2, 15},
                                                                          {0, 2, 15},
                                                                          {0, 1, 8},
                                                                          {0, 100, 500},
                                                                          {0, 100, 500},
                                                                          {0, 100, 500}}};
    for (std::size_t i = 0; i != wrongs; ++i)
        server.set(static_cast<wrong>(i), how_often[i][w.choose(wrong_names[i], 0, 2)]);
    client_options o;
    o.config = draw_config(w);
    server.password(o.config.password);
    server.resp2_only(w.choose("resp2", 0, 7) == 7);
    server.pushes_inside_exec(w.choose("pushes_inside_exec", 0, 3) == 3);
    o.number = 1;
    o.callers = w.choose("callers", 1, 20);
    o.requests = w.choose("requests", 1, 20);
    o.cancels = static_cast<std::uint32_t>(w.choose("cancels", 0, 3)) * 150;
    constexpr std::uint32_t patience[] = {100, 3'000, 200'000};
    o.patience = std::chrono::microseconds(patience[w.choose("patience", 0, 2)]);
    switch (w.choose("network", 0, 3)) {
    case 0: break;
    case 1: w.allow(sim::rule::reset); break;
    case 2:
        w.allow(sim::rule::refuse);
        w.allow(sim::rule::unanswered);
        w.allow(sim::rule::accept_error);
        break;
    default: w.allow_everything();
    }

    std::vector<sim::host*> hosts;
    hosts.push_back(&w.add_server("redis", [s](sim::host& h) { return s->server.serve(h.context()); }));
    auto const seed = w.seed();
    hosts.push_back(&w.add_host("app", [s, seed, o](sim::host& h) { return run_client(h, s, seed, o); }));
    if (w.choose("second_app", 0, 2) == 2) {
        auto second = o;
        second.number = 2;
        second.callers = w.choose("second_callers", 1, 4);
        hosts.push_back(
            &w.add_host("app2", [s, seed, second](sim::host& h) { return run_client(h, s, seed, second); }));
    }
    auto const disturbances = w.choose("disturbances", 0, 6);
    for (std::uint64_t i = 0; i != disturbances; ++i)
        disturb(w, hosts, server, i);
    w.run_for(4s);

    // ---- phase 2
    w.calm();
    server.behave();
    if (!w.run_for(60s))
        s->book.fail("not done after a minute of calm; pending:" + s->book.pending_ones());
    s->book.audit(server);
    all.done += s->book.count(fate::done);
    all.not_executed += s->book.count(fate::not_executed);
    all.unknown += s->book.count(fate::unknown);
    all.connections += server.connections();
    all.pushes += server.pushes();

    // ---- nothing is left
    for (auto* const h : hosts)
        h->kill();
    EXPECT_EQ(s->book.live, 0);
    EXPECT_EQ(server.live_sessions(), 0U);
}

TEST(RedisSession, EveryRequestHasOneTrueEndWhateverHappens) {
    totals all;
    auto const sum = sim::for_each_seed(scaled(2'000, 60), [&](sim::world& w) { live_through(w, all); });
    if (sum.seeds < 50 || all.done == 0) // one seed, or other processes counted
        return;
    EXPECT_GT(all.done, sum.seeds * 20);
    EXPECT_GT(all.not_executed, sum.seeds * 5);
    EXPECT_GT(all.unknown, sum.seeds * 5);
    EXPECT_GT(all.connections, sum.seeds * 2);
    EXPECT_GT(all.pushes, sum.seeds * 20);
}

// ---- what seeds have found

/// One caller who asks for one thing, on a connection that is ended afterwards.
awaitable<void> ask_once(io_context& context, redis::config config, std::string& answer, error_code& end) {
    redis::connection connection(context);
    bool ended = false;
    connection.async_run(config, [&](error_code ec) {
        end = ec;
        ended = true;
    });
    redis::request req;
    req.push("ECHO", "hello");
    error_code ec;
    auto executing = connection.async_exec(req, answer, redirect_error(ec));
    co_await std::move(executing);
    connection.cancel();
    steady_timer pause(context);
    while (!ended) {
        pause.expires_after(1ms);
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
    }
}

TEST(RedisSession, HelloMayBeAnsweredBeforeItsWriteIsSeenToBeDone) {
    // Then there was a second write with the record of the first, which was still queued.
    sim::for_each_seed(scaled(400, 200), [](sim::world& w) {
        w.set(sim::rule::reorder, sim::always);
        w.set(sim::rule::not_ready, 512);
        auto const server = std::make_shared<shadow_redis>(w.seed());
        server->password("secret");
        server->resp2_only(w.choose("resp2", 0, 1) != 0);
        w.add_server("redis", [server](sim::host& h) { return server->serve(h.context()); });
        std::string answer;
        error_code end;
        redis::config config;
        config.address = "10.0.0.1";
        config.password = w.choose("wrong_password", 0, 3) == 3 ? "guess" : "secret";
        bool const is_right = config.password == "secret";
        bool expired = false;
        w.add_host("app", [&](sim::host& h) -> awaitable<void> {
            steady_timer until_it_listens(h.context(), 100ms);
            auto waiting = until_it_listens.async_wait();
            co_await std::move(waiting);
            steady_timer bystander(h.context(), std::chrono::microseconds(100));
            bystander.async_wait([&](error_code) { expired = true; });
            auto asking = ask_once(h.context(), config, answer, end);
            if (!is_right) { // The request waits for a connection that never comes.
                redis::connection connection(h.context());
                auto running = connection.async_run(config, redirect_error(end));
                co_await std::move(running);
            } else {
                co_await std::move(asking);
            }
            while (!expired) {
                auto yielding = this_coro::yield();
                co_await std::move(yielding);
            }
        });
        if (!w.run_for(10s))
            throw std::runtime_error("not done");
        EXPECT_EQ(answer, is_right ? "hello" : "");
        EXPECT_EQ(end, is_right ? make_error_code(error::operation_aborted) : make_error_code(R::auth_refused));
    });
}

TEST(RedisSession, SilenceIsNoticedWhenThereIsNoRoomForAPing) {
    sim::for_each_seed(scaled(100, 20), [](sim::world& w) {
        w.set(sim::rule::spike, 0); // A server so far away is as good as silent.
        w.set(sim::rule::loss, 0);
        auto const server = std::make_shared<shadow_redis>(w.seed());
        auto& redis = w.add_server("redis", [server](sim::host& h) { return server->serve(h.context()); });
        error_code end;
        std::chrono::nanoseconds after{};
        std::vector<error_code> ends(5);
        w.add_host("app", [&](sim::host& h) -> awaitable<void> {
            redis::connection connection(h.context());
            redis::config config;
            config.address = "10.0.0.1";
            config.requests_max = ends.size();
            config.health_check_interval = 500ms;
            redis::request req;
            req.push("PING");
            steady_timer pause(h.context(), 100ms); // until it listens
            auto starting = pause.async_wait();
            co_await std::move(starting);
            connection.async_run(config, [&](error_code ec) {
                end = ec;
                after = w.elapsed();
            });
            pause.expires_after(4900ms);
            auto waiting = pause.async_wait();
            co_await std::move(waiting);
            for (auto& each : ends)
                connection.async_exec(req, redis::ignore, [&each](error_code ec, std::size_t) { each = ec; });
            pause.expires_after(5s);
            auto resting = pause.async_wait();
            co_await std::move(resting);
        });
        w.at(4990ms, [&redis] { redis.pause(); });
        if (!w.run_for(20s))
            throw std::runtime_error("not done");
        EXPECT_EQ(end, R::server_silent);
        EXPECT_LE(after, 5s + 2 * 500ms + 50ms);
        for (auto const& each : ends)
            EXPECT_TRUE(each == R::maybe_executed || each == R::too_many_requests) << each.message();
    });
}

} // namespace
} // namespace fairlead::test
