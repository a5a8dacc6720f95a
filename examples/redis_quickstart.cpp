// Talks to a Redis or Valkey server: redis_quickstart [host:port | unix:/path]. Without an address it talks to the
// embedded server, inside the same process.
//
// Run as a test:

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>

#include <exception>
#include <iostream>
#include <optional>
#include <string>

using namespace fairlead;

awaitable<void> visit(redis::connection& conn) {
    redis::request req; // A pipeline: three commands, one write.
    req.push("SET", "visits", 41);
    req.push("INCR", "visits");
    req.push("GET", "nobody");

    redis::response<redis::ignore_t, long, std::optional<std::string>> resp;
    co_await conn.async_exec(req, resp);

    std::cout << "visits: " << std::get<1>(resp).value() << '\n';
    std::cout << "nobody: " << std::get<2>(resp).value().value_or("(nil)") << '\n';
}

int main(int argc, char** argv) {
    io_context ctx;
    std::optional<redis::server> embedded;
    if (argc < 2)
        embedded.emplace(ctx);

    redis::connection conn(ctx);
    redis::config cfg;
    cfg.address = argc < 2 ? embedded->address() : argv[1];

    int status = 0;
    co_spawn(ctx, visit(conn), [&](std::exception_ptr failure) {
        conn.cancel();
        if (!failure)
            return;
        status = 1;
        try {
            std::rethrow_exception(failure);
        } catch (std::exception const& e) {
            std::cerr << e.what() << '\n';
        }
    });
    conn.async_run(cfg, [&](error_code ec) { // Returns when the connection ends, and says why.
        if (ec != error::operation_aborted)
            std::cerr << cfg.address << ": " << ec.message() << ' ' << conn.server_text() << '\n';
        if (embedded)
            embedded->stop();
    });
    ctx.run();
    return status;
}
