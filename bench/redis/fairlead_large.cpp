// Small calls beside large ones, on a redis::client: redis_fairlead_large shared|apart and then as workload.hpp says,
// mode small. With "apart" the large calls go out with set_apart().
#include "latencies.hpp"
#include "workload.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/token/adapters.hpp>

namespace {

using namespace fairlead;
using workload::insist;

awaitable<void> read_large(redis::client& db, bool is_apart, bool const& goes_on) {
    redis::request req;
    req.push("GET", workload::large_key);
    req.set_apart(is_apart);
    std::string value;
    while (goes_on) {
        auto const [ec, n] = co_await db.async_exec(req, value, as_tuple);
        insist(!goes_on || (!ec && n == workload::large_size), "GET gave another value");
    }
}

awaitable<void> read_small(redis::client& db, workload::settings const& s, bool is_apart) {
    bool goes_on = true;
    std::string const text(workload::small_size, 's');
    co_await db.set(workload::small_key, text);
    co_await db.setrange(workload::large_key, workload::large_size - 1, "x");
    for (long i = 0; i != s.callers; ++i)
        co_spawn(db.get_executor(), read_large(db, is_apart, goes_on), detached);

    redis::request req;
    req.push("GET", workload::small_key);
    std::string value;
    for (workload::latencies all(s.n);;) {
        all.begin();
        co_await db.async_exec(req, value);
        all.end();
        insist(value == text, "GET gave another value");
        if (all.is_full()) {
            all.print();
            break;
        }
    }
    goes_on = false;
    db.cancel();
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way is missing");
    bool const is_apart = std::strcmp(argv[1], "apart") == 0;
    workload::settings const s(argc - 1, argv + 1);
    if (!s.is_small())
        return workload::skipped;
    io_context context;
    redis::config config;
    config.address = s.host + ":" + s.port;
    redis::client db(context, config);
    co_spawn(context, read_small(db, s, is_apart), detached);
    db.async_run([](error_code ec) { insist(ec == error::operation_aborted, "the server is not there"); });
    context.run();
}
