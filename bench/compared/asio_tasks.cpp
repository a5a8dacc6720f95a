// The rows of tasks.cpp for Asio. It has no semaphore; its programs use a channel, whose messages are the permits.
//
//   asio_tasks ROW N
//     ROW      permit, permit_handed
#include <asio.hpp>
#include <asio/experimental/channel.hpp>

#include <cstdlib>
#include <cstring>

namespace {

using permits = asio::experimental::channel<void(asio::error_code)>;

asio::awaitable<void> take_and_give_back(permits& s, long n, bool gives_way) {
    auto const executor = co_await asio::this_coro::executor;
    for (; n > 0; --n) {
        co_await s.async_receive(asio::use_awaitable);
        if (gives_way)
            co_await asio::post(executor, asio::use_awaitable);
        s.try_send(asio::error_code());
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    bool const handed = std::strcmp(argv[1], "permit_handed") == 0;
    asio::io_context context(1);
    permits one(context, 1);
    one.try_send(asio::error_code());
    asio::co_spawn(context, take_and_give_back(one, handed ? n / 2 : n, handed), asio::detached);
    if (handed)
        asio::co_spawn(context, take_and_give_back(one, n / 2, true), asio::detached);
    context.run();
}
