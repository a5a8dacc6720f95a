// The coroutine rows of echo.cpp for Boost.Cobalt.
//
//   cobalt_echo use_op MESSAGES PROTOCOL PAIRS
#include "descriptors.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/cobalt/op.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>
#include <boost/cobalt/this_thread.hpp>

#include <array>
#include <cstdlib>
#include <cstring>

namespace {

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;

constexpr std::size_t message_size = 64;

template <class Socket> cobalt::task<void> echo(Socket socket, long messages, bool begins) {
    std::array<char, message_size> data{};
    try {
        for (long i = 0; i != messages; ++i) {
            std::size_t n = message_size;
            if (i != 0 || !begins)
                n = co_await socket.async_read_some(asio::buffer(data), cobalt::use_op);
            co_await asio::async_write(socket, asio::buffer(data, n), cobalt::use_op);
        }
    } catch (std::exception const&) { // The other end is done.
    }
}

void connect(asio::local::stream_protocol::socket& a, asio::local::stream_protocol::socket& b) {
    asio::local::connect_pair(a, b);
}
void connect(asio::ip::tcp::socket& a, asio::ip::tcp::socket& b) {
    asio::ip::tcp::acceptor acceptor(a.get_executor(), asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
    a.set_option(asio::ip::tcp::no_delay(true));
    b.set_option(asio::ip::tcp::no_delay(true));
}

template <class Protocol> void run(long each, int pairs) {
    asio::io_context context(1);
    cobalt::this_thread::set_executor(context.get_executor());
    for (int i = 0; i != pairs; ++i) {
        typename Protocol::socket a(context), b(context);
        connect(a, b);
        cobalt::spawn(context, echo(std::move(a), each, true), asio::detached);
        cobalt::spawn(context, echo(std::move(b), each, false), asio::detached);
    }
    context.run();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    raise_descriptor_limit();
    int const pairs = std::atoi(argv[4]);
    long const each = std::atol(argv[2]) / (2 * pairs);
    if (std::strcmp(argv[3], "unix") == 0)
        run<asio::local::stream_protocol>(each, pairs);
    else
        run<asio::ip::tcp>(each, pairs);
}
