// A server that answers lines, with a limit for everything: connections, the time of a request, the time between two.
// SIGTERM or SIGINT ends it: it takes no more connections, lets the running requests finish, and cuts what takes longer
// than ten seconds.
//
//   example_draining_server [port]               port 0, the default, takes a free one
//   example_draining_server 0 check              its own client: two connections, of which one is cut
//
// Run as a test: 0 check
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::as_tuple, fairlead::cancel_after, fairlead::ip::tcp;
using scope = fairlead::task_scope<>;

struct limits {
    std::size_t connections = 1000;
    std::chrono::milliseconds request = 2s;
    std::chrono::milliseconds idle = 30s;
    std::chrono::milliseconds drain = 10s;
};

/// "sleep" takes longer than anybody waits.
awaitable<void> answer(tcp::socket& peer, std::string const& line) {
    if (line == "sleep\n") {
        fairlead::steady_timer timer(peer.get_executor(), 1h);
        co_await timer.async_wait();
    }
    co_await async_write(peer, fairlead::buffer(line));
}

awaitable<void> session(tcp::socket peer, limits const& of) {
    std::string text;
    for (;;) {
        auto [ec, n] =
            co_await async_read_until(peer, fairlead::dynamic_buffer(text), '\n', cancel_after(of.idle, as_tuple));
        if (ec)
            co_return; // The peer has finished, or said nothing for too long.
        std::string const line = text.substr(0, n);
        text.erase(0, n);
        auto [failure] = co_await co_spawn(peer.get_executor(), answer(peer, line), cancel_after(of.request, as_tuple));
        if (failure)
            co_return;
    }
}

awaitable<void> accept_all(tcp::acceptor& acceptor, scope& sessions, limits const& of) {
    for (;;) {
        auto [ec, peer] = co_await acceptor.async_accept(as_tuple);
        if (!ec)
            co_await sessions.spawn(session, std::move(peer), std::cref(of)); // Waits while there are too many.
    }
}

/// Returns how many sessions were cut.
awaitable<std::size_t> serve(tcp::acceptor& acceptor, limits const& of) {
    fairlead::scope_options const options{.at_most = of.connections, .failures = fairlead::on_failure::is_dropped};
    co_return co_await with_scope(options, [&](scope& sessions) -> awaitable<std::size_t> {
        fairlead::signal_set asked_to_end(acceptor.get_executor(), SIGTERM, SIGINT);
        co_await when_any(accept_all(acceptor, sessions, of), asked_to_end.async_wait());
        acceptor.close(); // New clients are refused, and can go to another server.
        std::printf("draining, %zu sessions\n", sessions.running());
        co_return co_await sessions.drain(of.drain);
    });
}

awaitable<void> check(tcp::endpoint server) {
    auto const& executor = co_await fairlead::this_coro::executor;
    tcp::socket quick(executor), slow(executor);
    co_await quick.async_connect(server);
    co_await slow.async_connect(server);
    co_await async_write(slow, fairlead::buffer(std::string_view("sleep\n")));
    for (std::string const line : {"one\n", "two\n"}) {
        co_await async_write(quick, fairlead::buffer(line));
        std::string text;
        co_await async_read_until(quick, fairlead::dynamic_buffer(text), '\n');
        std::printf("%s: %s", text == line ? "right" : "WRONG", text.c_str());
    }
    quick.shutdown(tcp::socket::shutdown_send);
    char byte;
    co_await quick.async_read_some(fairlead::buffer(&byte, 1), as_tuple); // Its session has ended when this has.
    std::raise(SIGTERM);
    auto [ec, n] = co_await slow.async_read_some(fairlead::buffer(&byte, 1), as_tuple);
    std::printf("the slow one: %s\n", ec.message().c_str());
}

int main(int argc, char** argv) {
    auto const port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    bool const checks = argc > 2;
    limits of;
    if (checks)
        of = {.connections = 2, .request = 1h, .idle = 1h, .drain = 50ms};
    fairlead::io_context ctx(1);
    tcp::acceptor acceptor(
        ctx, tcp::endpoint(checks ? fairlead::ip::address_v4::loopback() : fairlead::ip::address_v4(), port));
    auto const where = acceptor.local_endpoint();
    std::printf("listening on %s\n", where.to_string().c_str());
    std::size_t cut = 0;
    co_spawn(ctx, serve(acceptor, of), [&](std::exception_ptr e, std::size_t n) {
        if (e)
            std::rethrow_exception(e);
        cut = n;
        std::printf("ended, %zu sessions cut\n", n);
    });
    if (checks)
        co_spawn(ctx, check(where), fairlead::rethrow);
    ctx.run();
    return checks && cut != 1;
}
