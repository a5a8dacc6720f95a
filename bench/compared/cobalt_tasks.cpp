// The row `scope` of tasks.cpp for Boost.Cobalt: wait_group.
//
//   cobalt_tasks scope N
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/cobalt/promise.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>
#include <boost/cobalt/this_thread.hpp>
#include <boost/cobalt/wait_group.hpp>

#include <algorithm>
#include <cstdlib>

namespace {

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;

cobalt::promise<void> end_at_once() { co_return; }
cobalt::task<void> spawn_and_wait(long n) {
    while (n > 0) {
        long const some = std::min(n, 100L);
        n -= some;
        cobalt::wait_group all;
        for (long i = 0; i != some; ++i)
            all.push_back(end_at_once());
        co_await all.wait();
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    asio::io_context context(1);
    cobalt::this_thread::set_executor(context.get_executor());
    cobalt::spawn(context, spawn_and_wait(std::atol(argv[2])), asio::detached);
    context.run();
}
