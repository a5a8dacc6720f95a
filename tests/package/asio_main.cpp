// A program that was written for Asio, and is compiled with the package instead.
#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>

#include <cstdio>

namespace asio { // Programs that specialise a trait reopen the namespace.
struct marker {};
} // namespace asio

asio::awaitable<void> talk(asio::ip::tcp::socket a, asio::ip::tcp::socket b, bool& right) {
    char bytes[5];
    co_await asio::async_write(a, asio::buffer("hello", 5), asio::use_awaitable);
    auto [ec, n] = co_await asio::async_read(b, asio::buffer(bytes), asio::as_tuple(asio::use_awaitable));
    right = !ec && n == 5;
}

int main() {
    asio::io_context context;
    asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    asio::ip::tcp::socket a(context);
    a.connect(acceptor.local_endpoint());
    bool right = false;
    asio::co_spawn(context, talk(std::move(a), acceptor.accept(), right), asio::detached);
    context.run();
    std::puts(right ? "asio: ok" : "asio: wrong");
    return right ? 0 : 1;
}
