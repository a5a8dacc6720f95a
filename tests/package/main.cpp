// Something of each library: a coroutine and a timer, a command for a server, a simulated world. And each object of the
// room sync, whose classes a program and the library share.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis_server/engine.hpp>
#include <fairlead/resp3/writer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/sync/barrier.hpp>
#include <fairlead/sync/broadcast.hpp>
#include <fairlead/sync/condition_variable.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/sync/latch.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/sync/mutex.hpp>
#include <fairlead/sync/rate_limiter.hpp>
#include <fairlead/sync/semaphore.hpp>
#include <fairlead/sync/shared_mutex.hpp>
#include <fairlead/sync/watch.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace {

fairlead::awaitable<void> wait_a_moment(bool& done) {
    fairlead::steady_timer timer(co_await fairlead::this_coro::executor, std::chrono::milliseconds(1));
    co_await timer.async_wait();
    done = true;
}

fairlead::awaitable<void> hand_things_over(fairlead::io_context& context, int& steps) {
    fairlead::mutex mutex(context);
    fairlead::shared_mutex shared(context);
    fairlead::semaphore permits(context, 1);
    fairlead::event event(context, true);
    fairlead::latch latch(context, 0);
    fairlead::barrier barrier(context, 1);
    fairlead::condition_variable changed(context);
    fairlead::rate_limiter rate(context, {.tokens = 1, .period = std::chrono::seconds(1), .burst = 1});
    auto [sender, receiver] = fairlead::make_channel<int>(context, 1);
    co_await mutex.async_lock();
    mutex.unlock();
    co_await shared.async_lock();
    shared.unlock();
    co_await permits.async_acquire();
    co_await latch.async_wait();
    co_await barrier.async_arrive_and_wait();
    co_await rate.async_acquire();
    changed.notify_all();
    co_await sender.async_send(7);
    steps += *co_await receiver.next();
    auto both = fairlead::when_all(event.async_wait(), event.async_wait());
    co_await std::move(both);
    auto either = fairlead::when_any(event.async_wait(), event.async_wait());
    co_await std::move(either);
    co_await fairlead::with_scope([&steps](fairlead::task_scope<>& scope) -> fairlead::awaitable<void> {
        co_await scope.spawn(
            [](int& n) -> fairlead::awaitable<void> {
                ++n;
                co_return;
            },
            std::ref(steps));
    });
}

bool check(bool good, char const* what) {
    if (!good)
        std::printf("wrong: %s\n", what);
    return good;
}

} // namespace

int main() {
    bool done = false;
    fairlead::io_context context(1);
    fairlead::co_spawn(context, wait_a_moment(done), fairlead::detached);
    int steps = 0;
    fairlead::co_spawn(context, hand_things_over(context, steps), fairlead::detached);
    context.run();

    std::string command;
    fairlead::resp3::append_command(command, "SET", "key", 42);
    fairlead::redis::server_engine engine;
    fairlead::redis::server_engine::client client(engine);
    client.feed(command);

    fairlead::sim::world const one(7), same(7);

    bool caught = false;
    try {
        fairlead::impl::base::throw_error(fairlead::error::eof, "read");
    } catch (fairlead::system_error const& e) {
        caught = e.code() == fairlead::error::eof;
    }

    bool const good = check(done, "coroutine") & check(steps == 8, "sync") &
                      check(command.starts_with("*3\r\n"), "redis") &
                      check(client.output() == "+OK\r\n", "redis_server") &
                      check(one.digest() == same.digest(), "sim") & check(caught, "error");
    return good ? 0 : 1;
}
