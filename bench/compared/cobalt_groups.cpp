// The rows of groups.cpp for Boost.Cobalt: race() and gather().
//
//   cobalt_groups ROW N
#include <boost/asio/buffer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/cobalt/gather.hpp>
#include <boost/cobalt/op.hpp>
#include <boost/cobalt/race.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>
#include <boost/cobalt/this_thread.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace {

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;
using namespace std::chrono_literals;
using socket_type = asio::local::stream_protocol::socket;

cobalt::task<void> send_to_and_fro(socket_type& s, bool begins, long n) {
    asio::steady_timer limit(s.get_executor());
    char byte = 'x';
    for (; n > 0; --n) {
        if (begins)
            co_await asio::async_write(s, asio::buffer(&byte, 1), cobalt::use_op);
        limit.expires_after(1h);
        co_await cobalt::left_race(s.async_read_some(asio::buffer(&byte, 1), cobalt::use_op),
                                   limit.async_wait(cobalt::use_op));
        if (!begins)
            co_await asio::async_write(s, asio::buffer(&byte, 1), cobalt::use_op);
    }
}

cobalt::task<void> wait_for_both(asio::io_context& context, long n) {
    asio::steady_timer a(context), b(context);
    for (; n > 0; --n) {
        a.expires_after(0s);
        b.expires_after(0s);
        co_await cobalt::gather(a.async_wait(cobalt::use_op), b.async_wait(cobalt::use_op));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    asio::io_context context(1);
    cobalt::this_thread::set_executor(context.get_executor());
    socket_type a(context), b(context);
    asio::local::connect_pair(a, b);
    if (std::strcmp(argv[1], "race") == 0) {
        cobalt::spawn(context, send_to_and_fro(a, true, n / 2), asio::detached);
        cobalt::spawn(context, send_to_and_fro(b, false, n / 2), asio::detached);
    } else {
        cobalt::spawn(context, wait_for_both(context, n), asio::detached);
    }
    context.run();
}
