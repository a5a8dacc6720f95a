// The rows of channels.cpp for Asio, and the row `oneshot` of messages.cpp.
//
//   asio_channels ROW N
#include <asio.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using numbers = asio::experimental::channel<void(asio::error_code, long)>;
using numbers_of_threads = asio::experimental::concurrent_channel<void(asio::error_code, long)>;

template <class Channel> asio::awaitable<void> send(Channel& to, long n) {
    for (long i = 1; i <= n; ++i)
        co_await to.async_send(asio::error_code(), i, asio::use_awaitable);
}
template <class Channel> asio::awaitable<void> receive(Channel& from, long n, long& sum) {
    for (; n > 0; --n)
        sum += co_await from.async_receive(asio::use_awaitable);
}
asio::awaitable<void> send_to_itself(asio::io_context& context, long n, long& sum) {
    for (long i = 1; i <= n; ++i) {
        numbers one(context, 1);
        one.try_send(asio::error_code(), i);
        sum += co_await one.async_receive(asio::use_awaitable);
    }
}
asio::awaitable<void> by_turns(numbers& both, long n, long& sum) {
    for (long i = 1; i <= n; ++i) {
        both.try_send(asio::error_code(), i);
        both.try_receive([&sum](asio::error_code, long got) { sum += got; });
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
    asio::io_context context(1);
    numbers through(context, is("none") ? 0 : is("one") ? 1 : 64);
    if (is("try")) {
        asio::co_spawn(context, by_turns(through, n, sum), asio::detached);
        context.run();
    } else if (is("oneshot")) {
        asio::co_spawn(context, send_to_itself(context, n, sum), asio::detached);
        context.run();
    } else if (is("threads")) {
        // Both contexts are used by two threads: without the hint of one.
        asio::io_context first, second;
        numbers_of_threads between(first, 64);
        asio::co_spawn(first, receive(between, n, sum), asio::detached);
        asio::co_spawn(second, send(between, n), asio::detached);
        std::thread runs_second([&second] { second.run(); });
        first.run();
        runs_second.join();
    } else {
        asio::co_spawn(context, receive(through, n, sum), asio::detached);
        asio::co_spawn(context, send(through, n), asio::detached);
        context.run();
    }
    return sum == n * (n + 1) / 2 ? 0 : 1;
}
