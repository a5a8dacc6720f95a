// The Redis client of Fairlead: redis_fairlead coroutine|callback|subscription and then as workload.hpp says. With
// "subscription" each channel has a subscription of its own, and a coroutine that takes its messages.
#include "workload.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/token/adapters.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using workload::insist;

/// Ends the connection once all is done.
struct count_down {
    redis::connection& connection;
    long left;
    void operator()(long n = 1) {
        left -= n;
        if (left == 0)
            connection.cancel();
    }
};

awaitable<void> call(redis::connection& connection, std::string key, long n, count_down& done) {
    redis::request req;
    std::string value;
    for (long i = 0; i != n; ++i) {
        req.clear();
        if (i % 2 == 0) {
            req.push("SET", key, workload::value);
            co_await connection.async_exec(req, redis::ignore);
        } else {
            req.push("GET", key);
            co_await connection.async_exec(req, value);
            insist(value == workload::value, "GET gave another value");
        }
    }
    done();
}

struct caller {
    redis::connection& connection;
    std::string key;
    long left;
    count_down& done;
    bool gets = false;
    redis::request req{};
    std::string value{};

    void next() {
        if (left-- == 0)
            return done();
        req.clear();
        if (!std::exchange(gets, !gets)) {
            req.push("SET", key, workload::value);
            connection.async_exec(req, redis::ignore, [this](error_code ec, std::size_t) {
                insist(!ec, "SET failed");
                next();
            });
        } else {
            req.push("GET", key);
            connection.async_exec(req, value, [this](error_code ec, std::size_t) {
                insist(!ec && value == workload::value, "GET gave another value");
                next();
            });
        }
    }
};

awaitable<void> publish(redis::connection& connection, long n, count_down& done) {
    redis::request req;
    for (long i = 0; i != n; ++i) {
        req.clear();
        req.push("PUBLISH", workload::channel, workload::value);
        co_await connection.async_exec(req, redis::ignore);
    }
    done();
}

awaitable<void> run_scripts(redis::connection& connection, long n, count_down& done) {
    redis::request req;
    req.push("EVAL", workload::script, 0, workload::value);
    for (long i = 0; i != n; ++i)
        co_await connection.async_exec(req, redis::ignore);
    done();
}

awaitable<void> receive(redis::connection& connection, long n, count_down& done) {
    redis::request subscribe;
    subscribe.push("SUBSCRIBE", workload::channel);
    co_await connection.async_exec(subscribe, redis::ignore);
    redis::generic_response pushes;
    for (long left = n + 1; left > 0;) { // The first one confirms the subscription.
        co_await connection.async_receive(pushes);
        left -= static_cast<long>(pushes.messages());
    }
    done();
}

// ---- the subscriptions of a client

struct subscribers {
    workload::settings const& s;
    redis::client client;
    long subscribed = 0;
    long left;

    subscribers(io_context& context, workload::settings const& w)
        : s(w),
          client(context, config_of(w).view(), {.subscription_buffer = 64 * 1024}), // Under callgrind it is slow.
          left(w.messages()) {}

    struct texts {
        std::string address;
        redis::config_view view() const { return {.address = address}; }
    };
    static texts config_of(workload::settings const& w) { return {w.host + ":" + w.port}; }

    awaitable<void> follow(std::string channel) {
        auto sub = co_await client.subscribe(channel);
        if (++subscribed == s.callers)
            co_spawn(client.get_executor(), publish_all(), detached);
        while (auto const m = co_await sub.next()) {
            insist(m->lost() == 0 && m->payload().size() == workload::value.size(), "a message was lost");
            if (--left == 0)
                client.cancel();
        }
    }
    awaitable<void> publish_all() {
        redis::request req;
        req.push("EVAL", s.script_for_all(), 0, workload::value, s.callers);
        for (long i = 0; i != s.scripts(); ++i)
            co_await client.async_exec(req, redis::ignore);
    }
};

void run_subscribers(workload::settings const& s) {
    io_context context;
    subscribers all(context, s);
    for (auto const& channel : s.channels())
        co_spawn(context, all.follow(channel), detached);
    all.client.async_run([&](error_code ec) {
        insist(ec == error::operation_aborted, "the connection was lost");
        context.stop();
    });
    context.run();
    insist(all.left == 0, "not all was done");
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a token is missing");
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    workload::settings const s(argc - 1, argv + 1);
    if (std::strcmp(argv[1], "subscription") == 0) {
        run_subscribers(s);
        return 0;
    }

    io_context context;
    redis::connection connection(context);
    redis::config config;
    config.address = s.host + ":" + s.port;

    count_down done{connection, s.is_calls() ? s.callers : s.is_publish() ? s.callers + 1 : 2};
    std::vector<std::unique_ptr<caller>> callers;
    if (s.is_calls()) {
        for (long i = 0; i != s.callers; ++i) {
            if (with_coroutines)
                co_spawn(context, call(connection, workload::key_of(i), s.share(i), done), detached);
            else
                callers.push_back(std::make_unique<caller>(connection, workload::key_of(i), s.share(i), done));
        }
        for (auto& c : callers)
            c->next();
    } else {
        co_spawn(context, receive(connection, s.messages(), done), detached);
        if (s.is_pushes())
            co_spawn(context, run_scripts(connection, s.scripts(), done), detached);
        else
            for (long i = 0; i != s.callers; ++i)
                co_spawn(context, publish(connection, s.share(i), done), detached);
    }
    connection.async_run(config,
                         [&](error_code ec) { insist(ec == error::operation_aborted, "the connection was lost"); });
    context.run();
    insist(done.left == 0, "not all was done");
}
