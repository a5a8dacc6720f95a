// The Redis client of Fairlead: redis_fairlead coroutine|callback and then as workload.hpp says.
#include "workload.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
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

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a token is missing");
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    workload::settings const s(argc - 1, argv + 1);

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
