// redis::client: redis_fairlead_client WAY and then as workload.hpp says, mode calls.
//
//   untyped       requests and responses of the caller's, as redis_fairlead does with a connection
//   typed         db.set() and db.get()
//   limited       untyped, with config::request_timeout
//   set_timeout   untyped, each request with a limit of its own
//   cancel_after  untyped, each call with the token cancel_after
//   typed_limited          typed, with config::request_timeout
//   typed_cancel_after     typed, each call with the token cancel_after
//   check_order, wait_when_full      untyped, with this setting
//   waits         untyped, with wait_when_full and room for half of the callers
//   statistics    untyped, and the calls are counted by command
//   lease         each caller has a lease and keeps it
//   lease_each    each caller takes a lease for each call
//   set_apart     untyped, each request with set_apart()
#include "workload.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/redis/call_statistics.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/redis/lease.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using workload::insist;

constexpr auto limit = 10s; // Of calls that take a millisecond at most: it is never over.

/// Ends the client once all is done.
struct count_down {
    redis::client& db;
    long left;
    void operator()() {
        if (--left == 0)
            db.cancel();
    }
};

/// `server` is a client or a lease, `req` has the settings of all requests.
template <class Server, class... Token>
awaitable<void> call_untyped(Server& server, std::string key, long n, redis::request req, Token... token) {
    std::string value;
    for (long i = 0; i != n; ++i) {
        req.clear();
        if (i % 2 == 0) {
            req.push("SET", key, workload::value);
            co_await server.async_exec(req, redis::ignore, token...);
        } else {
            req.push("GET", key);
            co_await server.async_exec(req, value, token...);
            insist(value == workload::value, "GET gave another value");
        }
    }
}

awaitable<void> call_typed(redis::client& db, std::string key, long n) {
    for (long i = 0; i != n; ++i) {
        if (i % 2 == 0) {
            co_await db.set(key, workload::value);
        } else {
            auto const value = co_await db.get(key);
            insist(value == workload::value, "GET gave another value");
        }
    }
}

awaitable<void> call_typed_for(redis::client& db, std::string key, long n) {
    for (long i = 0; i != n; ++i) {
        if (i % 2 == 0) {
            auto setting = redis::cmd::set(key, workload::value);
            co_await db.async_exec(std::move(setting), cancel_after(limit));
        } else {
            auto getting = redis::cmd::get(key);
            auto const value = co_await db.async_exec(std::move(getting), cancel_after(limit));
            insist(value == workload::value, "GET gave another value");
        }
    }
}

awaitable<void> call_leased(redis::client& db, std::string key, long n) {
    redis::lease own = co_await db.acquire();
    redis::request settings;
    co_await call_untyped(own, std::move(key), n, std::move(settings));
}

awaitable<void> call_leased_each(redis::client& db, std::string key, long n) {
    redis::request req;
    std::string value;
    for (long i = 0; i != n; ++i) {
        redis::lease own = co_await db.acquire();
        req.clear();
        if (i % 2 == 0) {
            req.push("SET", key, workload::value);
            co_await own.async_exec(req, redis::ignore);
        } else {
            req.push("GET", key);
            co_await own.async_exec(req, value);
            insist(value == workload::value, "GET gave another value");
        }
    }
}

awaitable<void> call(redis::client& db, std::string_view way, std::string key, long n, count_down& done) {
    redis::request settings;
    settings.set_apart(way == "set_apart");
    if (way == "set_timeout")
        settings.set_timeout(limit);
    if (way == "typed" || way == "typed_limited")
        co_await call_typed(db, std::move(key), n);
    else if (way == "typed_cancel_after")
        co_await call_typed_for(db, std::move(key), n);
    else if (way == "cancel_after")
        co_await call_untyped(db, std::move(key), n, std::move(settings), cancel_after(limit));
    else if (way == "lease")
        co_await call_leased(db, std::move(key), n);
    else if (way == "lease_each")
        co_await call_leased_each(db, std::move(key), n);
    else
        co_await call_untyped(db, std::move(key), n, std::move(settings));
    done();
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way is missing");
    std::string_view const way = argv[1];
    workload::settings const s(argc - 1, argv + 1);
    if (!s.is_calls())
        return workload::skipped;

    io_context context;
    redis::config config;
    config.address = s.host + ":" + s.port;
    if (way == "limited" || way == "typed_limited")
        config.request_timeout = limit;
    config.check_order = way == "check_order";
    config.wait_when_full = way == "wait_when_full" || way == "waits";
    if (way == "waits")
        config.requests_max = static_cast<std::size_t>(std::max(s.callers / 2, 1L));
    redis::client_options options;
    if (way == "statistics")
        options.statistics = std::make_shared<redis::call_statistics>();

    redis::client db(context, config, options);
    count_down done{db, s.callers};
    for (long i = 0; i != s.callers; ++i)
        co_spawn(context, call(db, way, workload::key_of(i), s.share(i), done), detached);
    db.async_run([](error_code ec) { insist(ec == error::operation_aborted, "the server is not there"); });
    context.run();
    insist(done.left == 0, "not all was done");
}
