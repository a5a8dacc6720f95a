// Prints the bytes of coroutine frames, for the budgets: a name and a number on each line.
#include <bench/frame_bytes.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

FAIRLEAD_NOINLINE seen_frame one_read(socket_type& s, mutable_buffer b) { co_await s.async_read_some(b); }

FAIRLEAD_NOINLINE seen_frame eight_transfers(socket_type& s, mutable_buffer b) {
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
    co_await s.async_read_some(b);
    co_await s.async_write_some(b);
}

FAIRLEAD_NOINLINE seen_frame echo(socket_type s) {
    char data[64];
    for (;;) {
        auto const n = co_await s.async_read_some(buffer(data));
        co_await async_write(s, buffer(data, n));
    }
}

FAIRLEAD_NOINLINE seen_frame echo_lines(socket_type s) {
    std::string text;
    for (;;) {
        auto const n = co_await async_read_until(s, dynamic_buffer(text), '\n');
        co_await async_write(s, buffer(text.data(), n));
        text.erase(0, n);
    }
}

awaitable<int> child() { co_return 1; }
FAIRLEAD_NOINLINE seen_frame every_second(io_context& c) {
    steady_timer timer(c);
    for (;;) {
        timer.expires_after(std::chrono::seconds(1));
        co_await timer.async_wait();
        if (co_await child() == 0)
            co_await this_coro::yield();
    }
}

} // namespace

int main() {
    io_context c(1);
    socket_type s(c);
    char bytes[1];
    auto const b = buffer(bytes);
    auto const print = [](char const* name, std::size_t n) { std::printf("%s\t%zu\n", name, n); };
    print("one_read", frame_bytes([&] { return one_read(s, b); }));
    print("eight_transfers", frame_bytes([&] { return eight_transfers(s, b); }));
    print("echo", frame_bytes([&] { return echo(socket_type(c)); }));
    print("echo_lines", frame_bytes([&] { return echo_lines(socket_type(c)); }));
    print("every_second", frame_bytes([&] { return every_second(c); }));
}
