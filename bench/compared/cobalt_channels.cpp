// The rows of channels.cpp for Boost.Cobalt, whose channels belong to one thread, and the row `oneshot` of
// messages.cpp.
//
//   cobalt_channels none|one|many|oneshot N
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/cobalt/channel.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>
#include <boost/cobalt/this_thread.hpp>

#include <cstdlib>
#include <cstring>

namespace {

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;

cobalt::task<void> send(cobalt::channel<long>& to, long n) {
    for (long i = 1; i <= n; ++i)
        co_await to.write(i);
}
cobalt::task<void> receive(cobalt::channel<long>& from, long n, long& sum) {
    for (; n > 0; --n)
        sum += co_await from.read();
}
cobalt::task<void> send_to_itself(long n, long& sum) {
    for (long i = 1; i <= n; ++i) {
        cobalt::channel<long> one(1);
        co_await one.write(i);
        sum += co_await one.read();
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    long sum = 0;
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    asio::io_context context(1);
    cobalt::this_thread::set_executor(context.get_executor());
    cobalt::channel<long> through(is("none") ? 0 : is("one") ? 1 : 64, context.get_executor());
    if (is("oneshot")) {
        cobalt::spawn(context, send_to_itself(n, sum), asio::detached);
    } else {
        cobalt::spawn(context, receive(through, n, sum), asio::detached);
        cobalt::spawn(context, send(through, n), asio::detached);
    }
    context.run();
    return sum == n * (n + 1) / 2 ? 0 : 1;
}
