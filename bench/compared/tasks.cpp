// The cost of a semaphore between coroutines, and of tasks in a scope.
//
//   tasks ROW N
//     ROW      permit         a coroutine takes a permit that is free, and gives it back
//              permit_handed  two coroutines want one permit; the one that has it gives way once, so the other waits
//              scope          tasks that end at once are spawned, a hundred at a time, and waited for
//     N        permits, or tasks, in all
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/sync/semaphore.hpp>
#include <fairlead/token/detached.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

using namespace fairlead;

awaitable<void> take_and_give_back(semaphore& s, long n, bool gives_way) {
    for (; n > 0; --n) {
        co_await s.async_acquire();
        if (gives_way)
            co_await this_coro::yield();
        s.release();
    }
}

awaitable<void> end_at_once() { co_return; }
awaitable<void> spawn_and_wait(long n) {
    while (n > 0) {
        long const some = std::min(n, 100L);
        n -= some;
        co_await with_scope([some](task_scope<>& s) -> awaitable<void> {
            for (long i = 0; i != some; ++i)
                co_await s.spawn(end_at_once);
        });
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    io_context context(1);
    semaphore one(context, 1);
    if (is("permit")) {
        co_spawn(context, take_and_give_back(one, n, false), detached);
    } else if (is("permit_handed")) {
        co_spawn(context, take_and_give_back(one, n / 2, true), detached);
        co_spawn(context, take_and_give_back(one, n / 2, true), detached);
    } else if (is("scope")) {
        co_spawn(context, spawn_and_wait(n), detached);
    } else {
        return 2;
    }
    context.run();
}
