// A client and its server in a simulated world: the server is played by hand, or is the shadow of a real one. Every
// scene runs in many worlds, which cut reads and writes anywhere and run things in any order.
#pragma once

#include <gtest/gtest.h>

#include <sim/redis_world.hpp>

#include <fairlead/redis/connection.hpp>
#include <fairlead/sim/seeds.hpp>
#include <support/scale.hpp>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {

using namespace std::chrono_literals;

inline std::uint64_t worlds() { return scaled(150, 20); }

// ---- a server played by hand

using command_words = std::vector<std::string>;

/// One connection of such a server. Throws when the client has gone.
class hand {
public:
    explicit hand(ip::tcp::socket& s) : socket_(s) {}

    /// Reads the next command.
    awaitable<command_words> next() {
        command_words words;
        for (bool whole = false; !whole;) {
            if (at_ == count_) {
                auto const p = parser_.parse_some(std::string_view(in_).substr(used_), nodes_);
                used_ += p.consumed;
                at_ = 0;
                count_ = p.nodes;
                if (p.what == resp3::status::failed)
                    throw std::runtime_error("the client sent no RESP");
                if (count_ == 0) {
                    in_.erase(0, std::exchange(used_, 0));
                    auto const before = in_.size();
                    in_.resize(before + 4096);
                    auto reading = socket_.async_read_some(buffer(in_.data() + before, 4096));
                    auto const n = co_await std::move(reading);
                    in_.resize(before + n);
                }
                continue;
            }
            auto const& n = nodes_[at_++];
            if (n.kind != resp3::type::array)
                words.emplace_back(n.value);
            whole = n.last;
        }
        co_return words;
    }
    awaitable<void> skip(std::size_t commands) {
        for (; commands != 0; --commands) {
            auto reading = next();
            co_await std::move(reading);
        }
    }
    awaitable<void> send(std::string bytes) {
        auto writing = async_write(socket_, buffer(bytes));
        co_await std::move(writing);
    }
    awaitable<void> greet() {
        auto reading = next();
        auto const hello = co_await std::move(reading);
        EXPECT_EQ(hello[0], "HELLO");
        auto answering = send("%1\r\n+proto\r\n:3\r\n");
        co_await std::move(answering);
    }
    awaitable<void> rest(std::chrono::nanoseconds d) {
        steady_timer t(socket_.get_executor(), d);
        auto waiting = t.async_wait();
        co_await std::move(waiting);
    }

private:
    ip::tcp::socket& socket_;
    std::string in_;
    std::size_t used_ = 0;
    resp3::parser parser_;
    std::array<resp3::node, 64> nodes_;
    std::size_t at_ = 0, count_ = 0;
};

inline std::string bulk(std::string_view text) {
    std::string s;
    resp3::append_blob_string(s, text);
    return s;
}
inline constexpr std::string_view news = ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n";

/// The script of the server on its connection number `generation`; at its end the connection is closed.
using script = std::function<awaitable<void>(hand&, int generation)>;

inline awaitable<void> play(io_context& context, script const& s) {
    ip::tcp::acceptor acceptor(context, {ip::tcp::v6(), 6379});
    for (int generation = 0;; ++generation) {
        ip::tcp::socket socket(context);
        auto accepting = acceptor.async_accept(socket);
        co_await std::move(accepting);
        hand h(socket);
        try {
            auto playing = s(h, generation);
            co_await std::move(playing);
        } catch (system_error const&) { // The client has gone: so be it.
        }
    }
}

// ---- the client's side

/// A client's host in a world, and its time.
struct client_host {
    client_host(sim::world& w, io_context& c) : world(w), context(c) {}
    client_host(client_host const&) = delete;
    client_host& operator=(client_host const&) = delete;

    awaitable<void> rest(std::chrono::nanoseconds d) {
        steady_timer t(context, d);
        auto waiting = t.async_wait();
        co_await std::move(waiting);
    }
    awaitable<void> until(std::function<bool()> condition) {
        for (int i = 0; !condition(); ++i) {
            if (i == 100'000)
                throw std::runtime_error("it never happens");
            auto resting = rest(1ms);
            co_await std::move(resting);
        }
    }

    sim::world& world;
    io_context& context;
};

struct scene : client_host {
    scene(sim::world& w, io_context& c) : client_host(w, c), connection(c) { config.address = "10.0.0.1"; }

    auto starting() {
        ended = false;
        return [this](error_code ec) {
            end = ec;
            ended = true;
            ended_at = world.elapsed();
        };
    }
    /// Connects once, in the background.
    void start() { connection.async_run(config, starting()); }
    /// Connects with the configuration of the last time.
    void start_again() { connection.async_run(starting()); }
    template <class Response> awaitable<error_code> ask(redis::request const& req, Response& into) {
        error_code ec;
        auto executing = connection.async_exec(req, into, redirect_error(ec));
        co_await std::move(executing);
        co_return ec;
    }
    awaitable<std::string> echo(std::string text) {
        redis::request req;
        req.push("ECHO", text);
        std::string answer;
        auto asking = ask(req, answer);
        auto const ec = co_await std::move(asking);
        co_return ec ? ec.message() : answer;
    }

    redis::config config;
    redis::connection connection;
    bool ended = true;
    error_code end;
    std::chrono::nanoseconds ended_at{};
};

/// A request whose end a test looks at later.
template <class Response = redis::generic_response> struct asked {
    explicit asked(scene& s) : of(s) {}
    asked(asked const&) = delete;
    asked& operator=(asked const&) = delete;
    void start() {
        of.connection.async_exec(request, response, [this](error_code ec, std::size_t) {
            end = ec;
            ++completions;
        });
    }
    bool done() const { return completions != 0; }

    scene& of;
    redis::request request;
    Response response;
    error_code end;
    int completions = 0;
};

inline awaitable<void> run_scene(sim::world& w, io_context& context, std::function<awaitable<void>(scene&)> app) {
    scene s(w, context);
    auto resting = s.rest(100ms); // until the server listens
    co_await std::move(resting);
    auto playing = app(s);
    co_await std::move(playing);
    s.connection.cancel();
    auto ending = s.until([&] { return s.ended; });
    co_await std::move(ending);
    EXPECT_EQ(s.connection.pending(), 0U);
}

inline void finish(sim::world& w, std::chrono::nanoseconds within = 100s) {
    if (!w.run_for(within))
        throw std::runtime_error("not done");
}

/// In each world: a server that is played, and a client. `prepare(world)` comes first.
inline void play_and_ask(script const& server, std::function<awaitable<void>(scene&)> const& app,
                         std::function<void(sim::world&)> const& prepare = {}) {
    sim::for_each_seed(worlds(), [&](sim::world& w) {
        if (prepare)
            prepare(w);
        auto& redis = w.add_server("redis", [&server](sim::host& h) { return play(h.context(), server); });
        w.add_host("app", [&](sim::host& h) { return run_scene(w, h.context(), app); });
        finish(w);
        redis.kill(); // It refers to what the body owns.
    });
}

/// In each world: a shadow server, and a client. `prepare(world, shadow, redis host)` comes first.
using preparation = std::function<void(sim::world&, shadow_redis&, sim::host&)>;
inline void serve_and_ask(shadow_listener* listener, preparation const& prepare,
                          std::function<awaitable<void>(scene&, shadow_redis&)> const& app) {
    sim::for_each_seed(worlds(), [&](sim::world& w) {
        auto const server = std::make_shared<shadow_redis>(w.seed(), listener);
        auto& redis = w.add_server("redis", [server](sim::host& h) { return server->serve(h.context()); });
        prepare(w, *server, redis);
        w.add_host("app", [&w, server, &app](sim::host& h) {
            return run_scene(w, h.context(), [server, &app](scene& s) { return app(s, *server); });
        });
        finish(w);
        redis.kill();
    });
}

/// Counts executions, and keeps what else it is told.
struct counting_listener : shadow_listener {
    void executed(std::uint32_t, tag t) override { ++executions[t.request]; }
    void answered(std::uint32_t, tag, std::string_view) override {}
    void offended(std::uint32_t, std::string_view what) override { throw std::runtime_error(std::string(what)); }
    std::map<std::uint64_t, int> executions;
};

} // namespace fairlead::test
