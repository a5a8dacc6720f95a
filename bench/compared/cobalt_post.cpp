// The await row of post.cpp for Boost.Cobalt, which has no yield of its own. There one gives way by a post with its
// token, to the coroutine's executor.
//
//   cobalt_post use_op N FLOWS
#include <boost/asio/buffer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
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

cobalt::task<void> await_posts(asio::io_context& context, long n, int& flows) {
    for (; n != 0; --n)
        co_await asio::post(cobalt::use_op);
    if (--flows == 0)
        context.stop(); // The socket would wait for ever.
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    int flows = std::atoi(argv[3]);
    long const each = std::atol(argv[2]) / flows;
    asio::io_context context(1);
    cobalt::this_thread::set_executor(context.get_executor());
    socket_type waiting(context), silent(context);
    asio::local::connect_pair(waiting, silent);
    std::array<char, 1> data{};
    waiting.async_read_some(asio::buffer(data), [](auto, std::size_t) {});
    for (int i = flows; i != 0; --i)
        cobalt::spawn(context, await_posts(context, each, flows), asio::detached);
    context.run();
}
