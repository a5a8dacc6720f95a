// The program of docs/guide/redis.md: a small shop on Redis, in a hundred simulated networks in which the server is cut
// off and loses its power. With host:port it runs on that server.
//
// Run as a test:
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/consumer_group.hpp>
#include <fairlead/redis/script.hpp>
#include <fairlead/redis/value_stream.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace fairlead;
using namespace std::chrono_literals;
using namespace fairlead::redis::options;

// ---- the service: nothing in it knows of the simulation

constexpr char count_up[] = "local n = redis.call('INCR', KEYS[1]) "
                            "if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end "
                            "return n";
constexpr char release[] = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end "
                           "return 0";

class shop {
public:
    explicit shop(redis::client& db) : db_(db) {}

    /// Cache-aside: from Redis if it has the page, else rendered, and kept there for a minute.
    awaitable<std::string> page(std::string id) {
        auto const key = "page:" + id;
        auto const cached = co_await db_.get(key);
        if (cached)
            co_return *cached;
        ++rendered;
        std::string const text = "<h1>" + id + "</h1>";
        co_await db_.set(key, text, ex(60s));
        co_return text;
    }

    /// For readers who do not wait: Redis has 50 ms for an answer, and the page is rendered otherwise.
    awaitable<std::string> page_soon(std::string id) {
        auto const key = "page:" + id;
        auto const asking = redis::cmd::get(key);
        auto const [ec, cached] = co_await db_.within(50ms).async_exec(asking, as_tuple);
        if (ec && ec != redis::condition::timed_out)
            throw system_error(ec, "page");
        co_return !ec && cached ? *cached : "<h1>" + id + "</h1>";
    }

    /// Keeps a film in Redis, scene by scene: the client makes no copy of it.
    awaitable<void> keep_film(std::string name, std::vector<std::string> scenes) {
        std::uint64_t bytes = 0;
        for (auto const& each : scenes)
            bytes += each.size();
        auto const key = "film:" + name;
        auto const keeping = redis::cmd::set(key, redis::in_pieces, ex(1h));
        co_await redis::write_in_pieces(db_, keeping, bytes, std::move(scenes));
    }
    /// Shows a film, however large it is: nothing is read before it is asked for.
    awaitable<std::size_t> show_film(std::string name) {
        auto const key = "film:" + name;
        auto const showing = redis::cmd::get(key);
        auto film = co_await redis::read_in_pieces(db_, showing);
        std::size_t shown = 0;
        while (film && film->left() != 0) {
            auto const piece = co_await film->next();
            shown += piece.size(); // Here it would go to the browser.
        }
        co_return shown;
    }

    /// A limiter: three orders a minute for each user, however many processes there are.
    awaitable<bool> may_order(std::string user) {
        static redis::script const counting(count_up);
        auto const key = "limit:" + user;
        auto const n = co_await db_.eval<long>(counting, key, 60'000);
        co_return n <= 3;
    }

    /// Puts an order into the queue. An order that is put there twice is one order still: it has an id.
    awaitable<void> order(std::string id) {
        for (;;) {
            auto const put = redis::cmd::xadd("orders", "*", {{"id", id}});
            auto const [ec, entry] = co_await db_.async_exec(put, as_tuple);
            if (!ec)
                co_return;
            if (ec != redis::error::maybe_executed && ec != redis::condition::timed_out)
                throw system_error(ec, "order");
        }
    }

    /// A worker: takes orders out of the queue, one after the other, for as long as the service runs.
    awaitable<void> ship_orders(std::string worker) {
        redis::consumer_group orders(db_, "orders", "shipping", worker,
                                     {.block_for = 500ms, .claim_idle = 2s, .claim_interval = 1s});
        while (auto const next = co_await orders.next()) {
            std::string const id(*next->find("id"));
            shipped.insert(id); // Shipping it twice would do no harm here.
            co_await db_.async_exec(redis::cmd::publish("shipped", id), as_tuple); // Those who are away miss it.
            co_await orders.ack(*next); // An order that is not acknowledged comes again.
        }
    }

    /// Live updates: what workers publish, whichever process they are in.
    awaitable<void> follow_orders() {
        auto updates = co_await db_.subscribe("shipped");
        while (auto const update = co_await updates.next())
            followed.emplace(update->payload());
    }

    /// A lock: of all processes one writes the report. It ends by itself if that process does.
    awaitable<bool> write_report(std::string process) {
        static redis::script const releasing(release);
        bool const is_mine = co_await db_.set("lock:report", process, nx, px(10s));
        if (!is_mine)
            co_return false;
        co_await db_.incr("reports");
        co_await db_.eval<long>(releasing, "lock:report", process);
        co_return true;
    }

    int rendered = 0;
    std::set<std::string> shipped, followed;

private:
    redis::client& db_;
};

// ---- its test

void check(bool holds, char const* what) {
    if (!holds)
        throw std::runtime_error(what);
}

awaitable<void> rest(std::chrono::milliseconds d) {
    steady_timer pause(co_await this_coro::executor, d);
    co_await pause.async_wait();
}

awaitable<void> order_all(shop& s, int from, int to) {
    std::set<std::string> ids;
    for (int i = from; i != to; ++i) {
        auto const id = std::to_string(i);
        ids.insert(id);
        co_await s.order(id);
        co_await rest(100ms);
    }
    auto const are_shipped = [&] { return std::includes(s.shipped.begin(), s.shipped.end(), ids.begin(), ids.end()); };
    while (!are_shipped())
        co_await rest(10ms);
}

/// `run` tells one run of the service from the others, whose pages and counters the server still has.
awaitable<void> trade(shop& s, std::string run = {}) {
    auto const first = co_await s.page("tea" + run);
    auto const again = co_await s.page("tea" + run);
    check(first == again && s.rendered == 1, "a page is rendered each time");
    auto const soon = co_await s.page_soon("tea" + run);
    check(soon == first && s.rendered == 1, "a page that is there is not taken");
    int allowed = 0;
    for (int i = 0; i != 5; ++i)
        allowed += co_await s.may_order("ann" + run);
    check(allowed == 3, "the limiter does not count");
    bool const a = co_await s.write_report("a");
    bool const b = co_await s.write_report("b");
    check(a && b, "a lock was not released");
    std::vector<std::string> const scenes(20, std::string(500, 'x'));
    co_await s.keep_film("harvest" + run, scenes);
    auto const shown = co_await s.show_film("harvest" + run);
    auto const none = co_await s.show_film("sowing");
    check(shown == 10'000 && none == 0, "a film has another length");
}

/// With a real server: kill it meanwhile, and start it again.
awaitable<void> trade_for_a_while(shop& s, int orders) {
    auto const now = std::chrono::system_clock::now().time_since_epoch().count();
    co_await trade(s, std::to_string(now));
    for (int i = 0; i != orders; ++i) {
        co_await order_all(s, i, i + 1);
        std::printf("order %d is shipped\n", i);
    }
}

/// All of the service in one process: one client, and what goes on beside the requests of users.
awaitable<void> run(io_context& ctx, std::string address, std::function<awaitable<void>(shop&)> users) {
    redis::client db(ctx, {.address = address, .health_check_interval = 500ms, .request_timeout = 20s},
                     {.pause_min = 20ms, .pause_max = 200ms});
    shop s(db);
    co_await when_any(users(s), s.ship_orders("worker"), s.follow_orders(), db.async_run());
    check(!s.followed.empty(), "nobody heard of an order");
}

/// Stands for redis-server. It has no Lua: functions of the test stand for the scripts.
awaitable<void> serve(io_context& ctx) {
    redis::server server(ctx, {"0.0.0.0", 6379});
    server.add_script(count_up, [](redis::server_script_run& script) {
        auto n = script.run({"INCR", script.keys()[0]});
        if (n.integer() == 1)
            script.run({"PEXPIRE", script.keys()[0], script.arguments()[0]});
        return n;
    });
    server.add_script(release, [](redis::server_script_run& script) -> redis::server_value {
        bool const is_owner = script.run({"GET", script.keys()[0]}).text() == script.arguments()[0];
        return is_owner ? script.run({"DEL", script.keys()[0]}) : 0;
    });
    steady_timer never(ctx, steady_clock::time_point::max());
    co_await never.async_wait();
}

/// The network breaks for two seconds. Later the server is killed, and comes back without its data.
void outages_are_survived(sim::world& world) {
    auto const begin = std::chrono::milliseconds(world.choose("begin", 0, 500));
    auto& redis = world.add_server("redis", [](io_context& ctx) { return serve(ctx); });
    auto const users = [&](shop& s) -> awaitable<void> {
        co_await trade(s);
        auto const now = world.elapsed();
        world.at(now + begin, [&] { world.isolate(redis); });
        world.at(now + begin + 2s, [&] { world.heal(); });
        auto const asked_at = world.elapsed();
        auto const soon = co_await s.page_soon("tea");
        check(soon == "<h1>tea</h1>" && world.elapsed() - asked_at < 100ms, "a reader waits for Redis");
        co_await order_all(s, 0, 10);
        world.at(world.elapsed() + begin, [&] { redis.crash(); });
        world.at(world.elapsed() + begin + 1s, [&] { redis.restart(); });
        co_await rest(begin + 2s);
        co_await order_all(s, 10, 13);
    };
    world.add_host("app", [&](io_context& ctx) { return run(ctx, "redis:6379", users); });
    world.run();
}

int main(int argc, char** argv) {
    try {
        if (argc > 1) {
            io_context ctx;
            std::exception_ptr failure;
            int const orders = argc > 2 ? std::atoi(argv[2]) : 10;
            auto const users = [orders](shop& s) { return trade_for_a_while(s, orders); };
            co_spawn(ctx, run(ctx, argv[1], users), [&](std::exception_ptr e) { failure = e; });
            ctx.run();
            if (failure)
                std::rethrow_exception(failure);
        } else {
            auto const all = sim::for_each_seed(100, outages_are_survived);
            std::printf("%.0f simulated seconds in %.2f s\n", all.simulated_seconds, all.seconds);
        }
    } catch (std::exception const& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
