// Rows of tasks.cpp and locks.cpp for Asio. It has neither a semaphore nor a mutex; its programs use a channel, whose
// messages are the permits.
//
//   asio_tasks ROW N
//     ROW      permit, permit_handed, permit_threads, turns_threads, event
#include <asio.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>

#include <cstdlib>
#include <cstring>
#include <latch>
#include <thread>

namespace {

using permits = asio::experimental::channel<void(asio::error_code)>;
using permits_of_threads = asio::experimental::concurrent_channel<void(asio::error_code)>;

asio::awaitable<void> take_and_give_back(permits& s, long n, bool gives_way) {
    auto const executor = co_await asio::this_coro::executor;
    for (; n > 0; --n) {
        co_await s.async_receive(asio::use_awaitable);
        if (gives_way)
            co_await asio::post(executor, asio::use_awaitable);
        s.try_send(asio::error_code());
    }
}
asio::awaitable<void> wake_each_other(permits& mine, permits& other, long n) {
    for (; n > 0; --n) {
        co_await mine.async_receive(asio::use_awaitable);
        other.try_send(asio::error_code());
    }
}

std::latch both_run{2};

asio::awaitable<void> take_and_give(permits_of_threads& from, permits_of_threads& to, long n) {
    both_run.arrive_and_wait();
    for (; n > 0; --n) {
        co_await from.async_receive(asio::use_awaitable);
        to.try_send(asio::error_code());
    }
}
/// The permit is given back, or to the other thread.
void between_threads(long n, bool by_turns) {
    // Both contexts are used by two threads: without the hint of one.
    asio::io_context first, second;
    permits_of_threads one(first, 1), other(first, 1);
    auto& next = by_turns ? other : one;
    one.try_send(asio::error_code());
    asio::co_spawn(first, take_and_give(one, next, n), asio::detached);
    asio::co_spawn(second, take_and_give(next, one, n), asio::detached);
    auto is_waited_for = asio::make_work_guard(first); // by the coroutine of the other context
    std::thread runs_second([&second, &is_waited_for] {
        second.run();
        is_waited_for.reset();
    });
    first.run();
    runs_second.join();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    asio::io_context context(1);
    permits one(context, 1), other(context, 1);
    one.try_send(asio::error_code());
    if (is("permit")) {
        asio::co_spawn(context, take_and_give_back(one, n, false), asio::detached);
    } else if (is("permit_handed")) {
        asio::co_spawn(context, take_and_give_back(one, n / 2, true), asio::detached);
        asio::co_spawn(context, take_and_give_back(one, n / 2, true), asio::detached);
    } else if (is("permit_threads") || is("turns_threads")) {
        between_threads(n / 2, is("turns_threads"));
    } else if (is("event")) {
        asio::co_spawn(context, wake_each_other(one, other, n / 2), asio::detached);
        asio::co_spawn(context, wake_each_other(other, one, n / 2), asio::detached);
    } else {
        return 2;
    }
    context.run();
}
