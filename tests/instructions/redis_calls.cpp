// The subject of callgrind: N times GET, awaited, from a server of this program that answers without looking.
//
//   redis_calls get_connection N   of a connection
//   redis_calls get_client N       of a client
//   redis_calls get_typed N        ... as a typed command, which is made anew for each call
//   redis_calls get_within N       ... with a limit for each
//   redis_calls get_typed_cancel_after N   ... with the token cancel_after
//   redis_calls get_cancel_after N         get_client, with the token cancel_after
//   redis_calls set_typed N        ... and SET with two options; the answer is read as OK
//   redis_calls get_counted N      of a client with statistics
//   redis_calls get_hooked N       of a client with hooks that do nothing
#include "even_clock.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/redis/call_statistics.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

/// One answer for each read: a lone caller's commands come one by one.
awaitable<void> answer(socket_type s, std::string_view always) {
    char some[4096];
    std::string_view reply = "%1\r\n+proto\r\n:3\r\n";
    for (;;) {
        auto reading = s.async_read_some(buffer(some), as_tuple);
        auto const [ec, n] = co_await std::move(reading);
        if (ec)
            co_return;
        auto writing = async_write(s, buffer(reply), as_tuple);
        co_await std::move(writing);
        reply = always;
    }
}

awaitable<any_stream> connect_to(std::string_view always) {
    auto const executor = co_await this_coro::executor;
    socket_type here(executor), there(executor);
    connect_pair(here, there);
    co_spawn(executor, answer(std::move(there), always), detached);
    co_return any_stream(std::move(here));
}
awaitable<any_stream> connect(redis::address_parts) { return connect_to("$5\r\nvalue\r\n"); }
awaitable<any_stream> connect_for_set(redis::address_parts) { return connect_to("+OK\r\n"); }

template <class Client, class... Token> awaitable<void> get(Client& db, long n, Token... token) {
    redis::request req;
    req.push("GET", "key");
    std::string value;
    for (long i = 0; i != n; ++i)
        co_await db.async_exec(req, value, token...);
    db.cancel();
}

awaitable<void> get_typed(redis::client& db, long n) {
    for (long i = 0; i != n; ++i)
        co_await db.get("key");
    db.cancel();
}

awaitable<void> get_within(redis::client& db, long n) {
    for (long i = 0; i != n; ++i)
        co_await db.within(std::chrono::seconds(10)).get("key");
    db.cancel();
}

awaitable<void> get_typed_cancel_after(redis::client& db, long n) {
    for (long i = 0; i != n; ++i) {
        auto getting = redis::cmd::get("key");
        co_await db.async_exec(std::move(getting), cancel_after(std::chrono::seconds(10)));
    }
    db.cancel();
}

awaitable<void> set_typed(redis::client& db, long n) {
    auto const expiry = redis::options::ex(std::chrono::seconds(10));
    for (long i = 0; i != n; ++i)
        co_await db.set("key", "value", expiry, redis::options::nx);
    db.cancel();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string_view const what = argv[1];
    long const n = std::atol(argv[2]);
    io_context context(1);
    redis::connector const how(what == "set_typed" ? &connect_for_set : &connect);
    redis::config_view const cfg;
    if (what == "get_connection") {
        redis::connection connection(context, how);
        connection.async_run(cfg, [](error_code) {});
        co_spawn(context, get(connection, n), detached);
        context.run();
        return 0;
    }
    redis::client_options options;
    if (what == "get_counted")
        options.statistics = std::make_shared<redis::call_statistics>();
    if (what == "get_hooked") {
        options.before_call = [](redis::call_begin const&) { return std::uintptr_t(0); };
        options.after_call = [](redis::call_end const&, std::uintptr_t) {};
    }
    redis::client client(context, cfg, how, std::move(options));
    client.async_run([](error_code) {});
    if (what == "get_typed")
        co_spawn(context, get_typed(client, n), detached);
    else if (what == "get_within")
        co_spawn(context, get_within(client, n), detached);
    else if (what == "get_typed_cancel_after")
        co_spawn(context, get_typed_cancel_after(client, n), detached);
    else if (what == "get_cancel_after")
        co_spawn(context, get(client, n, cancel_after(std::chrono::seconds(10))), detached);
    else if (what == "set_typed")
        co_spawn(context, set_typed(client, n), detached);
    else
        co_spawn(context, get(client, n), detached);
    context.run();
}
