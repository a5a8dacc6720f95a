// The UNIX row of echo.cpp for Boost.Cobalt: cobalt_echo MESSAGES PAIRS
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/cobalt/op.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>
#include <boost/cobalt/this_thread.hpp>

#include <array>
#include <cstdlib>

namespace {

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;
using socket_type = asio::local::stream_protocol::socket;

constexpr std::size_t message_size = 64;

cobalt::task<void> echo(socket_type socket, long messages, bool begins) {
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

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    int const pairs = std::atoi(argv[2]);
    long const each = std::atol(argv[1]) / (2 * pairs);
    asio::io_context context(1);
    cobalt::this_thread::set_executor(context.get_executor());
    for (int i = 0; i != pairs; ++i) {
        socket_type a(context), b(context);
        asio::local::connect_pair(a, b);
        cobalt::spawn(context, echo(std::move(a), each, true), asio::detached);
        cobalt::spawn(context, echo(std::move(b), each, false), asio::detached);
    }
    context.run();
}
