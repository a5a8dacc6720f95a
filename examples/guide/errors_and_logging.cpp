// The program of docs/guide/errors-and-logging.md: an error as an exception, as a value, and where nobody awaits it.
//
// Run as a test:
#include <fairlead/coro/detached_exception_hook.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/ip.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

using fairlead::awaitable, fairlead::as_tuple, fairlead::error_code, fairlead::ip::tcp;

void expect(bool holds, char const* claim) {
    if (!holds)
        throw std::runtime_error(claim);
    std::printf("%s\n", claim);
}

/// An address where nobody listens.
tcp::endpoint nobody(fairlead::io_context& ctx) {
    tcp::acceptor once(ctx, tcp::endpoint(fairlead::ip::address_v4::loopback(), 0));
    return once.local_endpoint();
}

awaitable<void> connect(tcp::endpoint where) {
    tcp::socket socket(co_await fairlead::this_coro::executor);
    co_await socket.async_connect(where);
}

awaitable<void> as_exception(tcp::endpoint where) {
    std::string text;
    try {
        co_await connect(where);
    } catch (fairlead::system_error const& e) {
        expect(e.code() == fairlead::error::connection_refused, "code() says what happened");
        text = e.what();
    }
    expect(text == "connect to " + where.to_string() + ": Connection refused",
           "what() says also what failed, and where");
}

awaitable<void> as_value(tcp::endpoint where) {
    tcp::socket socket(co_await fairlead::this_coro::executor);
    auto [ec] = co_await socket.async_connect(where, as_tuple);
    expect(ec == fairlead::error::connection_refused, "as_tuple: the error stands beside the values");

    error_code failure;
    tcp::socket another(socket.get_executor());
    co_await another.async_connect(where, fairlead::redirect_error(failure));
    expect(failure == ec, "redirect_error: it goes into a variable");

    auto [exception] = co_await co_spawn(socket.get_executor(), connect(where), as_tuple);
    expect(exception != nullptr, "of a coroutine it is an exception_ptr");
}

std::string logged;

void log_failure(std::exception_ptr e) noexcept {
    try {
        std::rethrow_exception(e);
    } catch (std::exception const& x) {
        logged = x.what();
    } catch (...) {
        logged = "no std::exception";
    }
}

int main() {
    fairlead::io_context ctx(1);
    auto const where = nobody(ctx);
    co_spawn(ctx, as_exception(where), fairlead::rethrow);
    co_spawn(ctx, as_value(where), fairlead::rethrow);
    ctx.run();

    fairlead::set_detached_exception_hook(log_failure);
    ctx.restart();
    co_spawn(ctx, connect(where), fairlead::detached);
    ctx.run();
    expect(logged.ends_with("Connection refused"), "the hook hears of what a detached coroutine throws");

    ctx.restart();
    co_spawn(ctx, connect(where), fairlead::rethrow);
    bool thrown = false;
    try {
        ctx.run();
    } catch (fairlead::system_error const&) {
        thrown = true;
    }
    expect(thrown, "with rethrow it leaves run()");
}
