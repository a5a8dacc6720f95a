// A client that outlives its server: calls wait, those that only read are repeated, a subscription comes back.
// redis_service [host:port]. Without an address it talks to the embedded server, and ends its connections twice.
//
// Run as a test:

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis_server/server.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

using namespace fairlead;
using namespace std::chrono_literals;

/// Tells what the client lives through.
void log(redis::client_event const& e) {
    if (e.kind == redis::event_kind::lost || e.kind == redis::event_kind::failed)
        std::cout << "  " << e.why.message() << "; next attempt in " << e.pause.count() << " ms\n";
    if (e.kind == redis::event_kind::restored)
        std::cout << "  connected again\n";
}

awaitable<void> serve(redis::client& db, std::optional<redis::server>& embedded) {
    auto subscribing = db.subscribe("visits");
    auto visits = co_await std::move(subscribing);
    for (int i = 0; i != 3; ++i) {
        redis::request visit;
        visit.push("INCR", "count");
        visit.push("PUBLISH", "visits", "somebody came");
        redis::response<long, redis::ignore_t> counted;
        co_await db.async_exec(visit, counted); // Has the client's limit.

        auto next = visits.next();
        auto const message = co_await std::move(next);
        std::cout << message->channel() << ": " << message->payload() << ", number "
                  << std::get<0>(counted).value() << '\n';
        if (embedded && i != 2)
            embedded->disconnect_clients();

        redis::request look;
        look.push("GET", "count");
        look.set_timeout(10s); // For this one.
        long count = 0;
        co_await db.async_exec(look, count); // It only reads: it is sent anew when its connection is lost.
        std::cout << "there were " << count << '\n';
    }
}

int main(int argc, char** argv) {
    io_context ctx;
    std::optional<redis::server> embedded;
    if (argc < 2)
        embedded.emplace(ctx);
    std::string const address = argc < 2 ? embedded->address() : argv[1];
    redis::client db(ctx, {.address = address, .request_timeout = 5s}, {.pause_min = 10ms, .on_event = log});

    int status = 0;
    db.async_run([&](error_code ec) { // Returns when it is cancelled, or cannot go on.
        if (ec != error::operation_aborted)
            std::cerr << address << ": " << ec.message() << ' ' << db.server_text() << '\n';
        if (embedded)
            embedded->stop();
    });
    co_spawn(ctx, serve(db, embedded), [&](std::exception_ptr failure) {
        db.cancel();
        if (!failure)
            return;
        status = 1;
        try {
            std::rethrow_exception(failure);
        } catch (std::exception const& e) {
            std::cerr << e.what() << '\n';
        }
    });
    ctx.run();
    return status;
}
