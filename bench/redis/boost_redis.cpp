// The client of Boost.Redis, as its examples use it: coroutines, one io_context, its defaults. Its arguments are those
// of workload.hpp; with "limited" before them each call has the token cancel_after.
#include "workload.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/src.hpp>

#include <chrono>
#include <exception>

namespace {

namespace asio = boost::asio;
namespace redis = boost::redis;
using workload::insist;

struct count_down {
    redis::connection& connection;
    long left;
    void operator()() {
        if (--left == 0)
            connection.cancel();
    }
};

/// `token` gives the token of one call.
asio::awaitable<void> call(redis::connection& connection, std::string key, long n, auto token, count_down& done) {
    redis::request req;
    redis::response<std::string> resp;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (long i = 0; i != n; ++i) {
        req.clear();
        if (i % 2 == 0) {
            req.push("SET", key, workload::value);
            co_await connection.async_exec(req, redis::ignore, token(timer));
        } else {
            req.push("GET", key);
            std::get<0>(resp).value().clear();
            co_await connection.async_exec(req, resp, token(timer));
            insist(std::get<0>(resp).value() == workload::value, "GET gave another value");
        }
    }
    done();
}

asio::awaitable<void> publish(redis::connection& connection, long n, count_down& done) {
    redis::request req;
    for (long i = 0; i != n; ++i) {
        req.clear();
        req.push("PUBLISH", workload::channel, workload::value);
        co_await connection.async_exec(req, redis::ignore, asio::deferred);
    }
    done();
}

asio::awaitable<void> run_scripts(redis::connection& connection, workload::settings const& s, count_down& done) {
    redis::request req;
    req.push("EVAL", s.script_for_all(), 0, workload::value, s.callers);
    for (long i = 0; i != s.scripts(); ++i)
        co_await connection.async_exec(req, redis::ignore, asio::deferred);
    done();
}

asio::awaitable<void> receive(redis::connection& connection, redis::generic_response& pushes,
                              workload::settings const& s, count_down& done) {
    redis::request subscribe;
    auto const channels = s.channels();
    subscribe.push_range("SUBSCRIBE", channels);
    co_await connection.async_exec(subscribe, redis::ignore, asio::deferred);
    long left = s.messages() + static_cast<long>(channels.size()); // The first ones confirm the subscriptions.
    while (left > 0) {
        co_await connection.async_receive(asio::deferred);
        --left;
        boost::system::error_code ec; // Its documentation takes further ones without suspending.
        for (; left > 0 && connection.receive(ec) != 0 && !ec; --left) {
        }
        pushes.value().clear();
    }
    done();
}

} // namespace

int main(int argc, char** argv) {
    bool const is_limited = argc == 6 && std::strcmp(argv[1], "limited") == 0;
    workload::settings const s(is_limited ? argc - 1 : argc, is_limited ? argv + 1 : argv);
    asio::io_context context(1);
    redis::connection connection(context);
    redis::config config;
    config.addr.host = s.host;
    config.addr.port = s.port;

    redis::generic_response pushes;
    connection.set_receive_response(pushes);
    count_down done{connection, s.is_calls() ? s.callers : s.is_publish() ? s.callers + 1 : 2};
    auto const ended = [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    };
    if (s.is_calls()) {
        // This version of its async_exec names no executor for the timer of cancel_after, so it is given one.
        auto const limited = [](asio::steady_timer& timer) {
            return asio::cancel_after(timer, std::chrono::seconds(10), asio::deferred);
        };
        auto const unlimited = [](asio::steady_timer&) { return asio::deferred; };
        for (long i = 0; i != s.callers; ++i) {
            if (is_limited)
                asio::co_spawn(context, call(connection, workload::key_of(i), s.share(i), limited, done), ended);
            else
                asio::co_spawn(context, call(connection, workload::key_of(i), s.share(i), unlimited, done), ended);
        }
    } else {
        asio::co_spawn(context, receive(connection, pushes, s, done), ended);
        if (s.is_pushes())
            asio::co_spawn(context, run_scripts(connection, s, done), ended);
        else
            for (long i = 0; i != s.callers; ++i)
                asio::co_spawn(context, publish(connection, s.share(i), done), ended);
    }
    connection.async_run(config, redis::logger{redis::logger::level::disabled}, asio::detached);
    context.run();
    insist(done.left == 0, "not all was done");
}
