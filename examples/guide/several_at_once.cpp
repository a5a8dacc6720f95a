// The program of docs/guide/several-at-once.md: groups, races and scopes.
//
// Run as a test:
#include <fairlead/coro/shield.hpp>
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

using namespace std::chrono_literals;
using fairlead::awaitable;

void expect(bool holds, char const* claim) {
    if (!holds)
        throw std::runtime_error(claim);
    std::printf("%s\n", claim);
}

int running = 0, running_max = 0;

/// Takes so long, and returns a number.
awaitable<int> job(std::chrono::milliseconds duration, int number) {
    struct counted {
        counted() { running_max = std::max(running_max, ++running); }
        ~counted() { --running; }
    } const here;
    fairlead::steady_timer timer(co_await fairlead::this_coro::executor, duration);
    co_await timer.async_wait();
    co_return number;
}
awaitable<int> failing_job() {
    co_await job(1ms, 0);
    throw std::runtime_error("no luck");
}

awaitable<void> wait_for_all() {
    auto [one, two] = co_await when_all(job(2ms, 1), job(1ms, 2));
    expect(one == 1 && two == 2, "when_all: the values in the order of the parts");

    std::vector<awaitable<int>> jobs;
    for (int i = 0; i != 10; ++i)
        jobs.push_back(job(1ms, i));
    std::vector<int> const numbers = co_await when_all(std::move(jobs));
    expect(numbers.size() == 10 && numbers[7] == 7, "when_all of a range: a vector");

    bool caught = false;
    try {
        co_await when_all(failing_job(), job(1h, 1));
    } catch (std::runtime_error const&) {
        caught = true;
    }
    expect(caught && running == 0, "the first failure ends the others, and nothing runs when it is thrown");

    auto [good, bad] = co_await when_all_settled(job(5ms, 1), failing_job());
    expect(good.has_value() && bad.error(), "when_all_settled: an outcome of each, and nobody is ended");
}

awaitable<void> wait_for_any() {
    fairlead::steady_timer patience(co_await fairlead::this_coro::executor, 1h);
    auto won = co_await when_any(job(1ms, 1), patience.async_wait());
    expect(won.index() == 0 && won.get<0>().value() == 1, "when_any: the first to end");
    expect(!won.get<1>().has_value(), "the other has been asked to end, and has ended");

    auto raced = co_await when_any(failing_job(), shield(job(5ms, 2)));
    expect(raced.index() == 1 && raced.get<0>().error(), "a value wins over the failure that came first");

    auto succeeded = co_await when_any_success(failing_job(), job(5ms, 2));
    expect(succeeded.index() == 1, "when_any_success: the first that does not fail");
}

awaitable<void> take_as_they_come() {
    running_max = 0;
    fairlead::scope_options const options{.at_most = 3};
    int const sum = co_await fairlead::with_scope<int>(options, [](fairlead::task_scope<int>& jobs) -> awaitable<int> {
        for (int i = 1; i <= 10; ++i)
            co_await jobs.spawn(job, 1ms, i); // Waits while three of them run.
        int total = 0;
        while (auto ended = co_await jobs.next())
            total += ended->value();
        co_return total;
    });
    expect(sum == 55, "a scope has the results in the order in which tasks end");
    expect(running_max <= 3, "no more tasks than allowed ran at once");
}

awaitable<void> all() {
    co_await wait_for_all();
    co_await wait_for_any();
    co_await take_as_they_come();
}

int main() {
    fairlead::io_context ctx(1);
    co_spawn(ctx, all(), fairlead::rethrow);
    ctx.run();
}
