// The program of docs/guide/time-limits.md: limits for an operation, for a coroutine, and until a point in time.
// Clean-up that a limit does not end.
//
// Run as a test:
#include <fairlead/coro/shield.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/cancel_after.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::as_tuple, fairlead::cancel_after, fairlead::cancel_at, fairlead::ip::tcp;

void expect(bool holds, char const* claim) {
    if (!holds)
        throw std::runtime_error(claim);
    std::printf("%s\n", claim);
}

/// Sends three of the eight bytes that the client waits for, and then nothing.
awaitable<void> stall(tcp::acceptor& acceptor, tcp::socket& peer) {
    peer = co_await acceptor.async_accept();
    co_await async_write(peer, fairlead::buffer(std::string_view("123")));
}

awaitable<void> limit_an_operation(tcp::socket& server) {
    char data[8];
    auto [ec, n] = co_await async_read(server, fairlead::buffer(data), cancel_after(50ms, as_tuple));
    expect(ec == fairlead::error::operation_aborted, "a limit ends the read with operation_aborted");
    expect(n <= 3, "n says how many bytes it had until then");
    co_await async_write(server, fairlead::buffer(std::string_view("go on\n")));
    expect(server.is_open(), "the socket is as usable as before");
}

awaitable<std::string> ask(tcp::socket& server) {
    std::string in;
    co_await async_write(server, fairlead::buffer(std::string_view("how are you?\n")));
    auto const n = co_await async_read_until(server, fairlead::dynamic_buffer(in), '\n');
    co_return in.substr(0, n);
}

awaitable<void> limit_a_coroutine(tcp::socket& server) {
    fairlead::error_code why;
    try {
        co_await cancel_after(20ms, ask(server));
    } catch (fairlead::system_error const& e) {
        why = e.code();
    }
    expect(why == fairlead::error::operation_aborted, "a limit around a coroutine ends the operation it awaits");
}

awaitable<void> say_goodbye(tcp::socket& server, bool& said) {
    co_await async_write(server, fairlead::buffer(std::string_view("goodbye\n")));
    said = true;
}

awaitable<void> ask_and_say_goodbye(tcp::socket& server, bool& said) {
    std::exception_ptr thrown;
    try {
        co_await ask(server);
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await fairlead::shield(cancel_after(2s, say_goodbye(server, said)));
    if (thrown)
        std::rethrow_exception(thrown);
}

awaitable<void> clean_up(tcp::socket& server) {
    bool said = false;
    fairlead::error_code why;
    try {
        co_await cancel_after(20ms, ask_and_say_goodbye(server, said));
    } catch (fairlead::system_error const& e) {
        why = e.code();
    }
    expect(why == fairlead::error::operation_aborted, "the limit of the whole has expired");
    expect(said, "what is shielded is done all the same");
}

awaitable<void> limit_several(tcp::socket& server) {
    auto const deadline = fairlead::steady_clock::now() + 20ms;
    char byte;
    int attempts = 0;
    fairlead::error_code ec;
    while (!ec && ++attempts != 100)
        std::tie(ec, std::ignore) =
            co_await server.async_read_some(fairlead::buffer(&byte, 1), cancel_at(deadline, as_tuple));
    expect(ec == fairlead::error::operation_aborted, "a deadline is shared by operations that follow one another");
}

awaitable<void> tick(int& ticks) {
    fairlead::steady_timer timer(co_await fairlead::this_coro::executor, 5ms);
    for (; ticks != 3; ++ticks) {
        co_await timer.async_wait();
        timer.expires_at(timer.expiry() + 5ms); // From the last tick, not from now: the ticks do not drift.
    }
}

awaitable<void> all(tcp::endpoint where) {
    tcp::socket server(co_await fairlead::this_coro::executor);
    co_await server.async_connect(where, cancel_after(10s));
    co_await limit_an_operation(server);
    co_await limit_a_coroutine(server);
    co_await clean_up(server);
    co_await limit_several(server);
    int ticks = 0;
    co_await tick(ticks);
    expect(ticks == 3, "a timer ticks");
}

int main() {
    fairlead::io_context ctx(1);
    tcp::acceptor acceptor(ctx, tcp::endpoint(fairlead::ip::address_v4::loopback(), 0));
    tcp::socket peer(ctx);
    co_spawn(ctx, stall(acceptor, peer), fairlead::rethrow);
    co_spawn(ctx, all(acceptor.local_endpoint()), fairlead::rethrow);
    ctx.run();
}
