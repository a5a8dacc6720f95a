// The cost of awaiting two operations together, counted with callgrind.
//
//   groups read N            one byte of many that are there
//   groups any_read N        the same beside a timer: when_any, decided at once
//   groups exchange N        two coroutines that send a byte to and fro, so that each read waits: 2 N reads
//   groups any_exchange N    the same, each read beside a timer
//   groups due N             two timers that are due, one after the other
//   groups all_due N         two timers that are due, together: when_all
#include "even_clock.hpp"

#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/write.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

awaitable<void> read_bytes(socket_type& from, socket_type& to, bool beside_a_timer, std::size_t n) {
    std::string const all(n, 'x');
    co_await async_write(to, buffer(all));
    steady_timer limit(from.get_executor());
    char byte;
    for (std::size_t i = 0; i != n; ++i) {
        if (beside_a_timer) {
            limit.expires_after(std::chrono::hours(1));
            co_await when_any(from.async_read_some(buffer(&byte, 1)), limit.async_wait());
        } else {
            co_await from.async_read_some(buffer(&byte, 1));
        }
    }
}

awaitable<void> send_to_and_fro(socket_type& s, bool begins, bool beside_a_timer, std::size_t n) {
    steady_timer limit(s.get_executor());
    char byte = 'x';
    for (std::size_t i = 0; i != n; ++i) {
        if (begins)
            co_await async_write(s, buffer(&byte, 1));
        if (beside_a_timer) {
            limit.expires_after(std::chrono::hours(1));
            co_await when_any(s.async_read_some(buffer(&byte, 1)), limit.async_wait());
        } else {
            co_await s.async_read_some(buffer(&byte, 1));
        }
        if (!begins)
            co_await async_write(s, buffer(&byte, 1));
    }
}

awaitable<void> wait_for_two(io_context& context, bool together, std::size_t n) {
    steady_timer a(context), b(context);
    for (std::size_t i = 0; i != n; ++i) {
        a.expires_after(std::chrono::seconds(0));
        b.expires_after(std::chrono::seconds(0));
        if (together) {
            co_await when_all(a.async_wait(), b.async_wait());
        } else {
            co_await a.async_wait();
            co_await b.async_wait();
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    std::string_view const mode = argv[1];
    auto const n = static_cast<std::size_t>(std::atol(argv[2]));
    io_context context(1);
    socket_type a(context), b(context);
    connect_pair(a, b);
    if (mode.ends_with("due")) {
        co_spawn(context, wait_for_two(context, mode == "all_due", n), detached);
    } else if (mode.ends_with("exchange")) {
        co_spawn(context, send_to_and_fro(a, true, mode == "any_exchange", n), detached);
        co_spawn(context, send_to_and_fro(b, false, mode == "any_exchange", n), detached);
    } else {
        co_spawn(context, read_bytes(a, b, mode == "any_read", n), detached);
    }
    context.run();
}
