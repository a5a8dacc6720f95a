// The cost of a message from one coroutine to another.
//
//   channels ROW N [handles | initiated]
//     ROW      try        one coroutine sends and receives without waiting, by turns
//              none       a channel without a buffer; one coroutine sends, another receives
//              one        a buffer of one message
//              many       a buffer of 64 messages
//              threads    the buffer of 64 messages, between two contexts with a thread each
//     N        messages in all
//     handles    those of make_channel in place of the channel with Asio's interface, with send() and next()
//     initiated  the same handles, with async_send() and async_next()
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/concurrent_channel.hpp>
#include <fairlead/sync/message_channel.hpp>
#include <fairlead/token/detached.hpp>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using namespace fairlead;
using numbers = experimental::concurrent_channel<void(error_code, long)>;

awaitable<void> send(numbers& to, long n) {
    for (long i = 1; i <= n; ++i)
        co_await to.async_send(error_code(), i);
}
awaitable<void> receive(numbers& from, long n, long& sum) {
    for (; n > 0; --n)
        sum += co_await from.async_receive();
}
awaitable<void> by_turns(numbers& both, long n, long& sum) {
    for (long i = 1; i <= n; ++i) {
        both.try_send(error_code(), i);
        both.try_receive([&sum](error_code, long got) { sum += got; });
    }
    co_return;
}

using sender = channel_sender<long>;
using receiver = channel_receiver<long>;

awaitable<void> send_by_handle(sender to, long n) {
    for (long i = 1; i <= n; ++i)
        co_await to.send(i);
}
awaitable<void> receive_by_handle(receiver from, long& sum) {
    while (auto const m = co_await from.next())
        sum += *m;
}
awaitable<void> send_initiated(sender to, long n) {
    for (long i = 1; i <= n; ++i)
        co_await to.async_send(i);
}
awaitable<void> receive_initiated(receiver from, long& sum) {
    while (auto const m = co_await from.async_next())
        sum += *m;
}
awaitable<void> by_turns_by_handle(sender to, receiver from, long n, long& sum) {
    for (long i = 1; i <= n; ++i) {
        to.try_send(i);
        sum += *from.try_next();
    }
    co_return;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4)
        return 2;
    long const n = std::atol(argv[2]);
    bool const is_initiated = argc == 4 && std::strcmp(argv[3], "initiated") == 0;
    bool const by_handle = argc == 4;
    long sum = 0;
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    io_context context(1), other(1);
    std::size_t const capacity = is("none") ? 0 : is("one") ? 1 : 64;
    numbers through(context, capacity);
    auto ends = make_channel<long>(context, capacity);
    auto& sends_in = is("threads") ? other : context;
    if (is("try")) {
        if (by_handle)
            co_spawn(context, by_turns_by_handle(std::move(ends.first), std::move(ends.second), n, sum), detached);
        else
            co_spawn(context, by_turns(through, n, sum), detached);
    } else if (is_initiated) {
        co_spawn(context, receive_initiated(std::move(ends.second), sum), detached);
        co_spawn(sends_in, send_initiated(std::move(ends.first), n), detached);
    } else if (by_handle) {
        co_spawn(context, receive_by_handle(std::move(ends.second), sum), detached);
        co_spawn(sends_in, send_by_handle(std::move(ends.first), n), detached);
    } else {
        co_spawn(context, receive(through, n, sum), detached);
        co_spawn(sends_in, send(through, n), detached);
    }
    std::thread runs_other;
    if (is("threads"))
        runs_other = std::thread([&other] { other.run(); });
    context.run();
    if (runs_other.joinable())
        runs_other.join();
    return sum == n * (n + 1) / 2 ? 0 : 1;
}
