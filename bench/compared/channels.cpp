// The cost of a message from one coroutine to another.
//
//   channels ROW N
//     ROW      try        one coroutine sends and receives without waiting, by turns
//              none       a channel without a buffer; one coroutine sends, another receives
//              one        a buffer of one message
//              many       a buffer of 64 messages
//              threads    the buffer of 64 messages, between two contexts with a thread each
//     N        messages in all
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/sync/concurrent_channel.hpp>
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

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    long sum = 0;
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    io_context context(1);
    numbers through(context, is("none") ? 0 : is("one") ? 1 : 64);
    if (is("try")) {
        co_spawn(context, by_turns(through, n, sum), detached);
        context.run();
    } else if (is("threads")) {
        io_context other(1);
        co_spawn(context, receive(through, n, sum), detached);
        co_spawn(other, send(through, n), detached);
        std::thread runs_other([&other] { other.run(); });
        context.run();
        runs_other.join();
    } else {
        co_spawn(context, receive(through, n, sum), detached);
        co_spawn(context, send(through, n), detached);
        context.run();
    }
    return sum == n * (n + 1) / 2 ? 0 : 1;
}
