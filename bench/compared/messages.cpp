// The cost of the channels that keep one message, or the last ones.
//
//   messages ROW N
//     ROW      oneshot         a coroutine makes a channel for one message, sends it, and receives it
//              oneshot_handed  it makes the channel and waits; another coroutine sends
//              watch           a coroutine sets a value and gives way, another gets each
//              broadcast       a coroutine sends a message and gives way, ten others receive each
//     N        messages received, in all
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/broadcast.hpp>
#include <fairlead/sync/oneshot.hpp>
#include <fairlead/sync/watch.hpp>
#include <fairlead/token/detached.hpp>

#include <cstdlib>
#include <cstring>
#include <optional>

namespace {

using namespace fairlead;
using place = std::optional<oneshot_sender<long>>;

awaitable<void> send_to_itself(io_context& context, long n, long& sum) {
    for (long i = 1; i <= n; ++i) {
        auto [sender, receiver] = make_oneshot<long>(context);
        sender.send(i);
        auto const got = co_await receiver.next();
        sum += *got;
    }
}
awaitable<void> make_and_receive(io_context& context, place& p, long n, long& sum) {
    for (; n > 0; --n) {
        auto [sender, receiver] = make_oneshot<long>(context);
        p.emplace(std::move(sender));
        auto const got = co_await receiver.next();
        sum += *got;
    }
}
awaitable<void> send_what_is_asked(place& p, long n) {
    for (long i = 1; i <= n;) {
        if (p) {
            p->send(i++);
            p.reset();
        }
        co_await this_coro::yield();
    }
}
template <class Sender> awaitable<void> send_and_give_way(Sender to, long n) {
    for (long i = 1; i <= n; ++i) {
        to.send(i);
        co_await this_coro::yield();
    }
}
awaitable<void> watch(watch_receiver<long> from, long& sum) {
    while (auto const got = co_await from.next())
        sum += *got;
}
awaitable<void> receive(broadcast_receiver<long> from, long& sum) {
    while (auto const got = co_await from.next())
        sum += got->value;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long n = std::atol(argv[2]);
    long sum = 0;
    long receivers = 1;
    place asked;
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    io_context context(1);
    if (is("oneshot")) {
        co_spawn(context, send_to_itself(context, n, sum), detached);
    } else if (is("oneshot_handed")) {
        co_spawn(context, make_and_receive(context, asked, n, sum), detached);
        co_spawn(context, send_what_is_asked(asked, n), detached);
    } else if (is("watch")) {
        auto ends = make_watch<long>(context, 0);
        co_spawn(context, watch(std::move(ends.second), sum), detached);
        co_spawn(context, send_and_give_way(std::move(ends.first), n), detached);
    } else if (is("broadcast")) {
        receivers = 10;
        n /= receivers;
        broadcast_sender<long> to(context.get_executor(), 64);
        for (int i = 0; i != receivers; ++i)
            co_spawn(context, receive(to.subscribe(), sum), detached);
        co_spawn(context, send_and_give_way(std::move(to), n), detached);
    } else {
        return 2;
    }
    context.run();
    return sum == receivers * (n * (n + 1) / 2) ? 0 : 1;
}
