#include "load.hpp"

#include "allocations.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/token/adapters.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <unistd.h>
#include <vector>

namespace demo {
namespace {

using namespace fairlead;
using std::chrono::milliseconds;

constexpr int fields = 4; ///< of each caller's hash
constexpr std::uint64_t pushes_per_batch = 16;

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

/// A small generator: the demonstration draws the same commands on every computer.
class sequence {
public:
    explicit sequence(std::uint64_t seed) noexcept : state_(seed) {}
    std::uint32_t next() noexcept {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::uint32_t>(state_ >> 33);
    }

private:
    std::uint64_t state_;
};

/// What all coroutines of the load see.
struct scene {
    /// The end of a connection says more than the requests that it took with it.
    enum class cause : unsigned char { request, connection };

    options const& opt;
    figures& f;
    io_context& ctx;
    redis::connection shared;  ///< the one connection of all callers and of the subscriber
    redis::connection publish; ///< the publisher's
    std::string prefix;
    std::uint64_t issued = 0;
    std::uint64_t done = 0;
    std::uint64_t callers_left = 0;
    cause failed_for = cause::request;
    bool publishing = true;
    bool publisher_ended = false;
    bool subscribed = false;
    std::uint64_t begun_ns = 0;
    std::uint64_t ended_ns = 0;
    // At the end of the warm-up:
    std::uint64_t warm_at = 0;
    std::uint64_t warm_calls = 0;
    std::uint64_t warm_allocations = 0;

    scene(options const& o, figures& to, io_context& c) : opt(o), f(to), ctx(c), shared(c), publish(c) {
        prefix = "fairlead-demo:" + std::to_string(getpid()) + ":";
    }
    void fail(std::string why, cause of = cause::request) {
        if (f.failure.empty() || (of == cause::connection && failed_for == cause::request)) {
            f.failure = std::move(why);
            failed_for = of;
        }
        publishing = false;
        shared.cancel();
        publish.cancel();
    }
    void wrong() noexcept { ++f.wrong_replies; }
    bool next_command() noexcept { return f.failure.empty() && issued < opt.commands && ++issued; }
    void finished_command(std::uint64_t latency) noexcept {
        f.latency.add(latency);
        if (++done == warm_at) {
            warm_calls = ctx.counters().system_calls;
            warm_allocations = allocations_of_this_thread();
        }
    }
};

std::string describe(char const* what, error_code const& ec) { return std::string(what) + ": " + ec.message(); }

/// One of the many: it knows its own keys and what must be in them, and nothing of the others.
struct caller {
    scene& s;
    std::size_t index;
    sequence random;
    std::string key_a, key_b, key_counter, key_hash;
    std::string value_a, value_b;
    std::uint64_t counter = 0;
    std::string field_values[fields];

    caller(scene& all, std::size_t i) : s(all), index(i), random(i * 2 + 1) {
        auto const base = s.prefix + std::to_string(i);
        key_a = base + ":a";
        key_b = base + ":b";
        key_counter = base + ":n";
        key_hash = base + ":h";
    }
    void new_value(std::string& v) {
        char text[32];
        auto const end = std::to_chars(text, text + sizeof text, std::uint64_t{random.next()} << 20 | index).ptr;
        v.assign(text, end);
        v.append(32 - v.size() % 32, 'x');
    }
    command draw() {
        unsigned total = 0;
        for (auto w : s.opt.mix)
            total += w;
        auto r = random.next() % total;
        for (std::size_t i = 0; i != command_count; ++i) {
            if (r < s.opt.mix[i])
                return static_cast<command>(i);
            r -= s.opt.mix[i];
        }
        return command::get;
    }
};

/// Sets up the caller's keys, issues its commands one after the other, and checks each reply.
awaitable<void> call(scene& s, std::size_t index) {
    caller me(s, index);
    redis::request req;
    redis::response<redis::ignore_t, redis::ignore_t, redis::ignore_t, redis::ignore_t> prepared;
    me.new_value(me.value_a);
    me.new_value(me.value_b);
    req.push("SET", me.key_a, me.value_a);
    req.push("SET", me.key_b, me.value_b);
    req.push("SET", me.key_counter, 0);
    for (auto& v : me.field_values)
        me.new_value(v);
    req.push("HSET", me.key_hash, "f0", me.field_values[0], "f1", me.field_values[1], "f2", me.field_values[2], "f3",
             me.field_values[3]);
    {
        auto [ec, n] = co_await s.shared.async_exec(req, prepared, as_tuple);
        if (ec) {
            s.fail(describe("setting up the keys", ec));
            co_return;
        }
    }
    redis::response<std::string> text;
    redis::response<std::uint64_t> number;
    redis::generic_response nodes;
    while (s.next_command()) {
        req.clear();
        command const c = me.draw();
        std::uint64_t const begun = now_ns();
        error_code ec;
        bool right = false;
        switch (c) {
        case command::set: {
            bool const a = me.random.next() % 2 == 0;
            me.new_value(a ? me.value_a : me.value_b);
            req.push("SET", a ? me.key_a : me.key_b, a ? me.value_a : me.value_b);
            auto [e, n] = co_await s.shared.async_exec(req, text, as_tuple);
            ec = e;
            right = !ec && std::get<0>(text).has_value() && *std::get<0>(text) == "OK";
            break;
        }
        case command::get: {
            bool const a = me.random.next() % 2 == 0;
            req.push("GET", a ? me.key_a : me.key_b);
            auto [e, n] = co_await s.shared.async_exec(req, text, as_tuple);
            ec = e;
            right = !ec && std::get<0>(text).has_value() && *std::get<0>(text) == (a ? me.value_a : me.value_b);
            break;
        }
        case command::incr: {
            req.push("INCR", me.key_counter);
            auto [e, n] = co_await s.shared.async_exec(req, number, as_tuple);
            ec = e;
            ++me.counter;
            right = !ec && std::get<0>(number).has_value() && *std::get<0>(number) == me.counter;
            break;
        }
        case command::mget: {
            req.push("MGET", me.key_a, me.key_b);
            auto [e, n] = co_await s.shared.async_exec(req, nodes, as_tuple);
            ec = e;
            right = !ec && nodes.size() == 3 && nodes[1].value == me.value_a && nodes[2].value == me.value_b;
            break;
        }
        case command::hgetall: {
            req.push("HGETALL", me.key_hash);
            auto [e, n] = co_await s.shared.async_exec(req, nodes, as_tuple);
            ec = e;
            right = !ec && nodes.size() == 1 + 2 * fields;
            for (std::size_t i = 0; right && i != fields; ++i) {
                auto const name = nodes[1 + 2 * i].value; // in the server's order
                right = name.size() == 2 && name[0] == 'f' && name[1] >= '0' && name[1] < '0' + fields &&
                        nodes[2 + 2 * i].value == me.field_values[name[1] - '0'];
            }
            break;
        }
        }
        if (ec) {
            s.fail(describe(command_names[static_cast<std::size_t>(c)], ec));
            break;
        }
        if (!right)
            s.wrong();
        s.finished_command(now_ns() - begun);
    }
    // Leave nothing behind on a server that is not ours.
    if (s.f.failure.empty()) {
        req.clear();
        req.push("DEL", me.key_a, me.key_b, me.key_counter, me.key_hash);
        redis::ignore_t dropped;
        co_await s.shared.async_exec(req, dropped, as_tuple);
    }
    if (--s.callers_left == 0) {
        s.ended_ns = now_ns();
        s.publishing = false;
    }
}

/// Sends numbered messages for as long as the load lasts, on its own connection; then a last one that says how many.
awaitable<void> publish(scene& s) {
    auto const channel = s.prefix + "news";
    redis::request req;
    redis::generic_response replies;
    while (s.publishing) {
        req.clear();
        for (std::uint64_t i = 0; i != pushes_per_batch; ++i)
            req.push("PUBLISH", channel, s.f.pushes_sent + i);
        auto [ec, n] = co_await s.publish.async_exec(req, replies, as_tuple);
        if (ec) {
            s.fail(describe("PUBLISH", ec));
            co_return;
        }
        s.f.pushes_sent += pushes_per_batch;
        // As many as there is time for would measure the server: about one message for every hundred commands.
        while (s.publishing && s.f.pushes_sent * 100 > s.done + pushes_per_batch * 100) {
            steady_timer pause(s.ctx, milliseconds(1));
            co_await pause.async_wait();
        }
    }
}

/// Receives what is published, on the connection that the callers use, and checks the order.
awaitable<void> subscribe(scene& s) {
    auto const channel = s.prefix + "news";
    redis::request req;
    req.push("SUBSCRIBE", channel);
    redis::generic_response none; // The confirmation comes as a push.
    {
        auto [ec, n] = co_await s.shared.async_exec(req, none, as_tuple);
        if (ec) {
            s.fail(describe("SUBSCRIBE", ec));
            co_return;
        }
    }
    s.subscribed = true;
    redis::generic_response pushes;
    for (;;) {
        auto [ec, n] = co_await s.shared.async_receive(pushes, as_tuple);
        if (ec)
            co_return; // the connection is being closed
        for (std::size_t i = 0; i != pushes.size(); ++i) {
            auto const head = pushes[i];
            if (head.kind != resp3::type::push || head.size != 3 || pushes[i + 1].value != "message")
                continue;
            auto const text = pushes[i + 3].value;
            std::uint64_t got = 0;
            std::from_chars(text.data(), text.data() + text.size(), got);
            if (pushes[i + 2].value != channel || got != s.f.pushes_received)
                ++s.f.pushes_out_of_order;
            ++s.f.pushes_received;
        }
    }
}

awaitable<void> keep_running(scene& s, redis::connection& c, redis::config cfg, char const* whose) {
    auto [ec] = co_await c.async_run(std::move(cfg), as_tuple);
    if (ec != error::operation_aborted) {
        auto text = describe(whose, ec);
        if (!c.server_text().empty())
            text += " (" + c.server_text() + ")";
        s.fail(std::move(text), scene::cause::connection);
    }
}

awaitable<void> show_progress(scene& s) {
    bool const terminal = isatty(2) != 0;
    unsigned shown = 0;
    while (s.f.failure.empty() && (s.callers_left != 0 || s.begun_ns == 0)) {
        steady_timer tick(s.ctx, milliseconds(100));
        co_await tick.async_wait();
        auto const percent = static_cast<unsigned>(s.done * 100 / s.opt.commands);
        if (terminal) {
            char bar[41];
            for (unsigned i = 0; i != 40; ++i)
                bar[i] = i * 100 < percent * 40 ? '#' : '.';
            bar[40] = 0;
            std::fprintf(stderr, "\r[%s] %3u %%  %llu commands", bar, percent, static_cast<unsigned long long>(s.done));
        } else if (percent / 25 != shown / 25) {
            std::fprintf(stderr, "%u %%\n", percent / 25 * 25);
        }
        shown = percent;
    }
    if (terminal)
        std::fprintf(stderr, "\r%70s\r", "");
}

awaitable<void> direct(scene& s, redis::config cfg) {
    co_spawn(s.ctx, keep_running(s, s.shared, cfg, "the shared connection"), detached);
    co_spawn(s.ctx, keep_running(s, s.publish, cfg, "the publisher's connection"), detached);
    co_spawn(s.ctx, show_progress(s), detached);
    co_spawn(s.ctx, subscribe(s), detached);
    while (!s.subscribed && s.f.failure.empty()) {
        steady_timer soon(s.ctx, milliseconds(1));
        co_await soon.async_wait();
    }
    if (!s.f.failure.empty())
        co_return;
    s.callers_left = s.opt.callers;
    s.begun_ns = now_ns();
    for (std::size_t i = 0; i != s.opt.callers; ++i)
        co_spawn(s.ctx, call(s, i), detached);
    co_spawn(s.ctx, publish(s), [&s](std::exception_ptr const&) { s.publisher_ended = true; });
    // The publisher's last messages, and the reply to them, may still be on their way when the last caller has
    // finished.
    auto waited = 0;
    while (s.f.failure.empty() && (!s.publisher_ended || s.f.pushes_received != s.f.pushes_sent) && waited != 5000) {
        steady_timer soon(s.ctx, milliseconds(1));
        co_await soon.async_wait();
        if (!s.publishing)
            ++waited;
    }
    s.shared.cancel();
    s.publish.cancel();
}

} // namespace

void run_load(options const& o, std::string const& address, figures& f) {
    io_context ctx(1);
    scene s(o, f, ctx);
    s.warm_at = o.commands / 10 ? o.commands / 10 : 1;
    redis::config cfg;
    cfg.address = address;
    cfg.health_check_interval = std::chrono::seconds(5); // Somebody looks on: a server that hangs is noticed after ten.
    co_spawn(ctx, direct(s, cfg), detached);
    ctx.run();

    f.callers = o.callers;
    f.commands = s.done;
    if (s.begun_ns)
        f.seconds = static_cast<double>((s.ended_ns ? s.ended_ns : now_ns()) - s.begun_ns) * 1e-9;
    auto const c = s.shared.counters();
    f.requests_written = c.requests;
    f.writes = c.writes;
    f.measured_commands = s.done > s.warm_at ? s.done - s.warm_at : 0;
    f.system_calls = ctx.counters().system_calls - s.warm_calls;
    f.allocations = allocations_of_this_thread() - s.warm_allocations;
    f.yields_budget = ctx.yields().budget;
    f.yields_deadline = ctx.yields().deadline;
    f.yields_remote = ctx.yields().remote;
}

} // namespace demo
