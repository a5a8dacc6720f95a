// A client with typed commands, and a server that is played by hand, in many simulated worlds.
#pragma once

#include <sim/redis_scene.hpp>

#include <fairlead/redis/client.hpp>

#include <functional>
#include <string>
#include <vector>

namespace fairlead::test {

/// The things of a test of typed commands in a world.
struct typed_scene : client_host {
    typed_scene(sim::world& w, io_context& c, redis::config_view const& cfg, redis::client_options const& options)
        : client_host(w, c),
          db(c, cfg, options) {}

    redis::client db;
};
using typed_body = std::function<awaitable<void>(typed_scene&)>;

inline awaitable<void> run_typed(sim::world& w, io_context& context, typed_body const& body,
                                 redis::config_view const& cfg, redis::client_options const& options) {
    typed_scene s(w, context, cfg, options);
    auto resting = s.rest(100ms); // until the server listens
    co_await std::move(resting);
    bool is_over = false;
    s.db.async_run([&](error_code) { is_over = true; });
    auto playing = body(s);
    co_await std::move(playing);
    s.db.cancel();
    auto ending = s.until([&] { return is_over; });
    co_await std::move(ending);
    EXPECT_EQ(s.db.pending(), 0U);
}

inline awaitable<void> play_connection(ip::tcp::socket socket, script const& s, int generation) {
    hand h(socket);
    try {
        auto playing = s(h, generation);
        co_await std::move(playing);
    } catch (system_error const&) { // The client has gone: so be it.
    }
}
/// As play(), with all connections at the same time.
inline awaitable<void> play_at_once(io_context& context, script const& s) {
    ip::tcp::acceptor acceptor(context, {ip::tcp::v6(), 6379});
    for (int generation = 0;; ++generation) {
        ip::tcp::socket socket(context);
        auto accepting = acceptor.async_accept(socket);
        co_await std::move(accepting);
        co_spawn(context, play_connection(std::move(socket), s, generation), detached);
    }
}

inline void play_typed(script const& server, typed_body const& body,
                       redis::config_view const& cfg = {.address = "10.0.0.1"}, bool is_at_once = false,
                       redis::client_options const& options = {.pause_min = 5ms, .pause_max = 20ms}) {
    sim::for_each_seed(worlds(), [&](sim::world& w) {
        auto& redis = w.add_server("redis", [&server, is_at_once](sim::host& h) {
            return is_at_once ? play_at_once(h.context(), server) : play(h.context(), server);
        });
        w.add_host("app", [&](sim::host& h) { return run_typed(w, h.context(), body, cfg, options); });
        finish(w);
        redis.kill(); // It refers to what the body owns.
    });
}

/// The words of a command with spaces between them.
inline std::string line_of(command_words const& words) {
    std::string line;
    for (auto const& each : words)
        line.append(line.empty() ? "" : " ").append(each);
    return line;
}

/// The reply of a server to a command; empty: it closes the connection.
using typed_answer = std::function<std::string(std::string const& line, int generation)>;
/// A server that answers, and writes down all that it hears.
inline script typed_server(std::vector<std::string>& heard, typed_answer const& answer) {
    return [&heard, answer](hand& h, int generation) -> awaitable<void> {
        auto greeting = h.greet();
        co_await std::move(greeting);
        if (generation == 0)
            heard.clear();
        for (;;) {
            auto reading = h.next();
            auto const words = co_await std::move(reading);
            heard.push_back(line_of(words));
            auto reply = answer(heard.back(), generation);
            if (reply.empty())
                co_return;
            auto replying = h.send(std::move(reply));
            co_await std::move(replying);
        }
    };
}

} // namespace fairlead::test
