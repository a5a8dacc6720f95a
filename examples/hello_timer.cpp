// The smallest programs: a timer, once with a callback and once awaited. run() returns when nothing is left to do.
//
// Run as a test:
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::error_code;

awaitable<void> count_down(int from) {
    fairlead::steady_timer timer(co_await fairlead::this_coro::executor);
    for (int left = from; left != 0; --left) {
        std::printf("%d ...\n", left);
        timer.expires_after(10ms);
        co_await timer.async_wait(); // throws system_error; with as_tuple it would return the error
    }
    std::puts("awaited: go");
}

int main() {
    fairlead::io_context ctx(1);

    // With a callback: the timer outlives the wait, and the handler is called once, inside run().
    fairlead::steady_timer timer(ctx, 15ms);
    timer.async_wait([](error_code ec) { std::printf("called back: %s\n", ec ? ec.message().c_str() : "in time"); });

    // Awaited: the coroutine keeps what it needs in its frame, and looks like a loop because it is one.
    co_spawn(ctx, count_down(3), fairlead::rethrow); // what it throws leaves run()

    ctx.run();
}
