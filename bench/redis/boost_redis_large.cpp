// Boost.Redis with small calls beside large ones on one connection: redis_boost_large MODE ... as workload.hpp says.
#include "latencies.hpp"
#include "workload.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/src.hpp>

#include <exception>

namespace {

namespace asio = boost::asio;
namespace redis = boost::redis;
using workload::insist;

asio::awaitable<void> read_large(redis::connection& connection, bool const& goes_on) {
    redis::request req;
    req.push("GET", workload::large_key);
    redis::response<std::string> resp;
    while (goes_on) {
        std::get<0>(resp).value().clear();
        auto const [ec, n] = co_await connection.async_exec(req, resp, asio::as_tuple(asio::deferred));
        insist(!goes_on || (!ec && n >= workload::large_size), "GET gave another value");
    }
}

asio::awaitable<void> read_small(redis::connection& connection, workload::settings const& s) {
    bool goes_on = true;
    std::string const text(workload::small_size, 's');
    redis::request prepare;
    prepare.push("SET", workload::small_key, text);
    prepare.push("SETRANGE", workload::large_key, workload::large_size - 1, "x");
    co_await connection.async_exec(prepare, redis::ignore, asio::deferred);
    auto const executor = co_await asio::this_coro::executor;
    for (long i = 0; i != s.callers; ++i)
        asio::co_spawn(executor, read_large(connection, goes_on), asio::detached);

    redis::request req;
    req.push("GET", workload::small_key);
    redis::response<std::string> resp;
    for (workload::latencies all(s.n);;) {
        std::get<0>(resp).value().clear();
        all.begin();
        co_await connection.async_exec(req, resp, asio::deferred);
        all.end();
        insist(std::get<0>(resp).value() == text, "GET gave another value");
        if (all.is_full()) {
            all.print();
            break;
        }
    }
    goes_on = false;
    connection.cancel();
}

} // namespace

int main(int argc, char** argv) {
    workload::settings const s(argc, argv);
    if (!s.is_small())
        return workload::skipped;
    asio::io_context context(1);
    redis::connection connection(context);
    redis::config config;
    config.addr.host = s.host;
    config.addr.port = s.port;
    asio::co_spawn(context, read_small(connection, s), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    connection.async_run(config, redis::logger{redis::logger::level::disabled}, asio::detached);
    context.run();
}
