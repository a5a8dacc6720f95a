// The program of docs/guide/threads-and-pools.md: who runs where, with one thread, with several, and with a pool.
//
// Run as a test:
#include <fairlead/coro/offload.hpp>
#include <fairlead/coro/resume_on.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/token/post.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using fairlead::awaitable;

void expect(bool holds, char const* claim) {
    if (!holds)
        throw std::runtime_error(claim);
    std::printf("%s\n", claim);
}

bool runs_in(fairlead::io_context& ctx) { return ctx.get_executor().running_in_this_thread(); }

awaitable<void> move_work(fairlead::io_context& loop, fairlead::thread_pool& pool) {
    co_await post(pool);
    expect(runs_in(loop), "post(pool) goes to the pool and comes back");

    bool computed_in_loop = true;
    auto compute = [&] {
        computed_in_loop = runs_in(loop);
        return 6 * 7;
    };
    int const result = co_await offload(pool, compute);
    expect(result == 42 && !computed_in_loop, "offload(pool, f): f runs in the pool");
    expect(runs_in(loop), "and the coroutine goes on at home");

    co_await resume_on(pool);
    bool const moved = !runs_in(loop);
    co_await resume_on(loop);
    expect(moved && runs_in(loop), "resume_on(pool): the coroutine itself moves, until resume_on(loop)");
}

/// `total` belongs to a strand. So nothing locks it, although four threads run the loop.
awaitable<void> count(long& total) {
    for (int i = 0; i != 20; ++i) {
        long const before = total;
        std::this_thread::sleep_for(100us); // Stands for work. Without the strand other threads would count meanwhile.
        total = before + 1;
        co_await fairlead::this_coro::yield();
    }
}

long count_on_a_strand() {
    fairlead::io_context ctx;
    auto const strand = make_strand(ctx);
    long total = 0;
    for (int i = 0; i != 8; ++i)
        co_spawn(strand, count(total), fairlead::rethrow);
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i)
        threads.emplace_back([&] { ctx.run(); });
    threads.clear(); // joins them
    return total;
}

int main() {
    fairlead::thread_pool pool(2); // Outlives what runs on it.
    fairlead::io_context loop(1);
    co_spawn(loop, move_work(loop, pool), fairlead::rethrow);
    loop.run();
    expect(count_on_a_strand() == 160, "coroutines on a strand run one at a time");
}
