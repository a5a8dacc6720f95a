// A client in a simulated world, and a server that is played by hand.
#pragma once

#include <fairlead/redis/client.hpp>
#include <sim/redis_scene.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {

using redis::event_kind;

/// A client in a world, and what it told.
struct client_scene : client_host {
    client_scene(sim::world& w, io_context& c, redis::config_view const& cfg, redis::client_options o)
        : client_host(w, c),
          client(c, cfg, noting(std::move(o))) {}

    redis::client_options noting(redis::client_options o) {
        o.on_event = [this](redis::client_event const& e) {
            events.push_back(e.kind);
            last_pause = e.pause;
            if (heard)
                heard(e);
        };
        return o;
    }
    void start() {
        ended.reset();
        client.async_run([this](error_code ec) { ended = ec; });
    }
    std::size_t count(event_kind k) const { return static_cast<std::size_t>(std::ranges::count(events, k)); }
    /// It has told so after the latest loss.
    bool is_restored() const {
        auto const at = std::ranges::find_if(events.rbegin(), events.rend(), [](event_kind k) {
            return k == event_kind::restored || k == event_kind::lost || k == event_kind::subscriptions_lost;
        });
        return at != events.rend() && *at == event_kind::restored;
    }

    std::vector<event_kind> events;
    std::chrono::milliseconds last_pause{};
    std::function<void(redis::client_event const&)> heard;
    std::optional<error_code> ended;
    redis::client client; // Last: it tells of its end.
};

/// A request whose end a test looks at later.
struct client_call {
    explicit client_call(auto const&... words) { request.push(words...); }
    client_call(client_call const&) = delete;
    client_call& operator=(client_call const&) = delete;
    void start(redis::client& c) {
        c.async_exec(request, response, [this](error_code ec, std::size_t) {
            end = ec;
            ++completions;
        });
    }
    bool is_done() const { return completions != 0; }

    redis::request request;
    redis::result<std::string> response;
    error_code end = fairlead::error::in_progress;
    int completions = 0;
};

using client_body = std::function<awaitable<void>(client_scene&)>;

struct client_settings {
    redis::config_view config{.address = "10.0.0.1"};
    redis::client_options options{};
};

inline awaitable<void> run_client_scene(sim::world& w, io_context& context, client_body const& body,
                                        client_settings const& s) {
    client_scene scene(w, context, s.config, s.options);
    auto resting = scene.rest(100ms); // until the server listens
    co_await std::move(resting);
    auto playing = body(scene);
    co_await std::move(playing);
    if (!scene.ended) {
        scene.client.cancel();
        auto ending = scene.until([&] { return scene.ended.has_value(); });
        co_await std::move(ending);
    }
    EXPECT_EQ(scene.client.pending(), 0U);
}

inline void play_and_use(script const& server, client_body const& body, client_settings const& s = {},
                         std::function<void(sim::world&)> const& prepare = {}) {
    sim::for_each_seed(worlds(), [&](sim::world& w) {
        if (prepare)
            prepare(w);
        auto& redis = w.add_server("redis", [&server](sim::host& h) { return play(h.context(), server); });
        w.add_host("app", [&](sim::host& h) { return run_client_scene(w, h.context(), body, s); });
        finish(w);
        redis.kill(); // It refers to what the body owns.
    });
}

inline awaitable<void> answer_all(hand& h, std::vector<std::string>& heard) {
    for (;;) {
        auto reading = h.next();
        auto const words = co_await std::move(reading);
        heard.push_back(words[0] + (words.size() > 1 ? ' ' + words[1] : ""));
        auto answering = h.send(bulk(words.size() > 1 ? words[1] : words[0]));
        co_await std::move(answering);
    }
}

} // namespace fairlead::test
