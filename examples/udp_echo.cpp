// A UDP echo server. With a number of datagrams it is its own client: sends so many, checks what comes back, and ends.
//
//   example_udp_echo [port [datagrams]]        port 0, the default, takes a free one
//
// Run as a test: 0 1000
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using fairlead::awaitable, fairlead::ip::udp;

awaitable<void> echo(udp::socket& socket) {
    char data[65536]; // no datagram is larger
    udp::endpoint sender;
    for (;;) {
        auto [ec, n] = co_await socket.async_receive_from(fairlead::buffer(data), sender, fairlead::as_tuple);
        if (ec == fairlead::error::operation_aborted)
            co_return;
        if (!ec) // else it was lost, as datagrams may be
            co_await socket.async_send_to(fairlead::buffer(data, n), sender, fairlead::as_tuple);
    }
}

awaitable<void> ask(udp::socket& server, int datagrams, int& answers) {
    udp::socket socket(co_await fairlead::this_coro::executor);
    co_await socket.async_connect(server.local_endpoint()); // hears the server alone
    for (int i = 0; i != datagrams; ++i) {
        std::string const question = "datagram " + std::to_string(i);
        co_await socket.async_send(fairlead::buffer(question));
        char data[64];
        auto const n = co_await socket.async_receive(fairlead::buffer(data));
        answers += std::string_view(data, n) == question;
    }
    server.cancel();
}

int main(int argc, char** argv) {
    auto const port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    int const datagrams = argc > 2 ? std::atoi(argv[2]) : 0;
    fairlead::io_context ctx(1);
    udp::socket socket(ctx, datagrams != 0 ? udp::endpoint(fairlead::ip::address_v4::loopback(), port)
                                           : udp::endpoint(udp::v4(), port));
    std::printf("listening on %s\n", socket.local_endpoint().to_string().c_str());
    int answers = 0;
    co_spawn(ctx, echo(socket), fairlead::rethrow); // errors leave run(), and end the program
    if (datagrams != 0)
        co_spawn(ctx, ask(socket, datagrams, answers), fairlead::rethrow);
    ctx.run();
    std::printf("%d of %d answers\n", answers, datagrams);
    return answers == datagrams ? 0 : 1;
}
