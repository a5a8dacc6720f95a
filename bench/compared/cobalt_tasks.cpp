// Rows of tasks.cpp and locks.cpp for Boost.Cobalt: wait_group, and a channel whose messages are permits. A message for
// a coroutine that waits can be taken by one that does not, after which both have it. So there is no `permit_handed`.
//
//   cobalt_tasks ROW N
//     ROW      scope, permit, event
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/cobalt/channel.hpp>
#include <boost/cobalt/promise.hpp>
#include <boost/cobalt/spawn.hpp>
#include <boost/cobalt/task.hpp>
#include <boost/cobalt/this_thread.hpp>
#include <boost/cobalt/wait_group.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace {

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;
using permits = cobalt::channel<void>;

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
cobalt::task<void> put(permits& s) { co_await s.write(); }
cobalt::task<void> take_and_give_back(permits& s, long n) {
    for (; n > 0; --n) {
        co_await s.read();
        co_await s.write();
    }
}
cobalt::task<void> wake_each_other(permits& mine, permits& other, long n) {
    for (; n > 0; --n) {
        co_await mine.read();
        co_await other.write();
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    long const n = std::atol(argv[2]);
    auto const is = [argv](char const* row) { return std::strcmp(argv[1], row) == 0; };
    asio::io_context context(1);
    cobalt::this_thread::set_executor(context.get_executor());
    permits one(1, context.get_executor()), other(1, context.get_executor());
    if (is("scope")) {
        cobalt::spawn(context, spawn_and_wait(n), asio::detached);
    } else if (is("permit")) {
        cobalt::spawn(context, put(one), asio::detached);
        cobalt::spawn(context, take_and_give_back(one, n), asio::detached);
    } else if (is("event")) {
        cobalt::spawn(context, put(one), asio::detached);
        cobalt::spawn(context, wake_each_other(one, other, n / 2), asio::detached);
        cobalt::spawn(context, wake_each_other(other, one, n / 2), asio::detached);
    } else {
        return 2;
    }
    context.run();
}
