// The cost of waiting for another coroutine, and of not having to: each object of the room `sync` that is no channel.
//
//   locks ROW N
//     ROW      lock             a coroutine locks a mutex that is free, and unlocks it
//              lock_handed      two coroutines want one mutex; the one that has it gives way once, so the other waits
//              lock_threads     two contexts with a thread each lock one mutex
//              shared           a coroutine locks a shared mutex that is free for reading, and unlocks it
//              shared_handed    a reader and a writer want one shared mutex; the one that has it gives way once
//              permit_threads   two contexts with a thread each take the permit of one semaphore
//              turns_threads    two such contexts give each other permits by turns
//              event            two coroutines wake each other by turns
//              condition        two coroutines wait by turns for a number that a mutex guards
//              latch            ten count a latch down, and it is waited for
//              barrier          ten coroutines meet
//              once             something that has been done is asked for
//              rate             a token is there
//     N        locks, permits, turns, counts, arrivals or tokens in all
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/scope/async_once.hpp>
#include <fairlead/sync/barrier.hpp>
#include <fairlead/sync/condition_variable.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/sync/latch.hpp>
#include <fairlead/sync/mutex.hpp>
#include <fairlead/sync/rate_limiter.hpp>
#include <fairlead/sync/semaphore.hpp>
#include <fairlead/sync/shared_mutex.hpp>
#include <fairlead/token/detached.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <thread>
#include <utility>

namespace {

using namespace fairlead;

std::latch both_run{2};

awaitable<void> lock_and_unlock(mutex& m, long n, bool gives_way) {
    for (; n > 0; --n) {
        co_await m.async_lock();
        if (gives_way)
            co_await this_coro::yield();
        m.unlock();
    }
}
awaitable<void> read_and_unlock(shared_mutex& m, long n, bool gives_way) {
    for (; n > 0; --n) {
        co_await m.async_lock_shared();
        if (gives_way)
            co_await this_coro::yield();
        m.unlock_shared();
    }
}
awaitable<void> write_and_unlock(shared_mutex& m, long n) {
    for (; n > 0; --n) {
        co_await m.async_lock();
        co_await this_coro::yield();
        m.unlock();
    }
}
awaitable<void> take_and_give(semaphore& from, semaphore& to, long n) {
    for (; n > 0; --n) {
        co_await from.async_acquire();
        to.release();
    }
}
/// One of two threads, which begin together.
awaitable<void> of_two_threads(awaitable<void> f) {
    both_run.arrive_and_wait();
    co_await std::move(f);
}
awaitable<void> wake_each_other(event& mine, event& other, long n) {
    for (; n > 0; --n) {
        co_await mine.async_wait();
        mine.reset();
        other.set();
    }
}
awaitable<void> take_turns(mutex& m, condition_variable& changed, int& turn, int mine, long n) {
    for (; n > 0; --n) {
        auto guard = co_await m.async_guard();
        while (turn != mine)
            co_await changed.async_wait(guard);
        turn = 1 - mine;
        changed.notify_one();
    }
}
awaitable<void> count_down(io_context& context, long n) {
    for (; n > 0; n -= 10) {
        latch ten(context, 10);
        for (int i = 0; i != 10; ++i)
            ten.count_down();
        co_await ten.async_wait();
    }
}
awaitable<void> meet(barrier& b, long n) {
    for (; n > 0; --n)
        co_await b.async_arrive_and_wait();
}
awaitable<void> do_nothing() { co_return; }
awaitable<void> ask(async_once& once, long n) {
    for (; n > 0; --n)
        co_await once.call(do_nothing);
}
awaitable<void> take_tokens(rate_limiter& r, long n) {
    for (; n > 0; --n)
        co_await r.async_acquire();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    io_context context(1), other(1);
    mutex m(context);
    shared_mutex s(context);
    semaphore one(context, 1), none(context, 0);
    event first(context, true), second(context);
    condition_variable changed(context);
    int turn = 0;
    barrier ten(context, 10);
    async_once once(context);
    auto const in_time = static_cast<std::size_t>(n > 0 ? n : 1);
    rate_limiter rate(context, {.tokens = 1, .period = std::chrono::hours(1), .burst = in_time});
    if (is("lock")) {
        co_spawn(context, lock_and_unlock(m, n, false), detached);
    } else if (is("lock_handed")) {
        co_spawn(context, lock_and_unlock(m, n / 2, true), detached);
        co_spawn(context, lock_and_unlock(m, n / 2, true), detached);
    } else if (is("lock_threads")) {
        co_spawn(context, of_two_threads(lock_and_unlock(m, n / 2, false)), detached);
        co_spawn(other, of_two_threads(lock_and_unlock(m, n / 2, false)), detached);
    } else if (is("shared")) {
        co_spawn(context, read_and_unlock(s, n, false), detached);
    } else if (is("shared_handed")) {
        co_spawn(context, read_and_unlock(s, n / 2, true), detached);
        co_spawn(context, write_and_unlock(s, n / 2), detached);
    } else if (is("permit_threads")) {
        co_spawn(context, of_two_threads(take_and_give(one, one, n / 2)), detached);
        co_spawn(other, of_two_threads(take_and_give(one, one, n / 2)), detached);
    } else if (is("turns_threads")) {
        co_spawn(context, of_two_threads(take_and_give(one, none, n / 2)), detached);
        co_spawn(other, of_two_threads(take_and_give(none, one, n / 2)), detached);
    } else if (is("event")) {
        co_spawn(context, wake_each_other(first, second, n / 2), detached);
        co_spawn(context, wake_each_other(second, first, n / 2), detached);
    } else if (is("condition")) {
        co_spawn(context, take_turns(m, changed, turn, 0, n / 2), detached);
        co_spawn(context, take_turns(m, changed, turn, 1, n / 2), detached);
    } else if (is("latch")) {
        co_spawn(context, count_down(context, n), detached);
    } else if (is("barrier")) {
        for (int i = 0; i != 10; ++i)
            co_spawn(context, meet(ten, n / 10), detached);
    } else if (is("once")) {
        co_spawn(context, ask(once, n), detached);
    } else if (is("rate")) {
        co_spawn(context, take_tokens(rate, n), detached);
    } else {
        return 2;
    }
    if (std::strstr(argv[1], "threads")) {
        auto is_waited_for = make_work_guard(context); // by the coroutine of the other context
        std::thread runs_other([&other, &is_waited_for] {
            other.run();
            is_waited_for.reset();
        });
        context.run();
        runs_other.join();
    } else {
        context.run();
    }
}
