// Something of each library: a coroutine and a timer, a command for a server, a simulated world.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis_server/engine.hpp>
#include <fairlead/resp3/writer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdio>
#include <string>

namespace {

fairlead::awaitable<void> wait_a_moment(bool& done) {
    fairlead::steady_timer timer(co_await fairlead::this_coro::executor, std::chrono::milliseconds(1));
    co_await timer.async_wait();
    done = true;
}

bool check(bool good, char const* what) {
    if (!good)
        std::printf("wrong: %s\n", what);
    return good;
}

} // namespace

int main() {
    bool done = false;
    fairlead::io_context context(1);
    fairlead::co_spawn(context, wait_a_moment(done), fairlead::detached);
    context.run();

    std::string command;
    fairlead::resp3::append_command(command, "SET", "key", 42);
    fairlead::redis::server_engine engine;
    fairlead::redis::server_engine::client client(engine);
    client.feed(command);

    fairlead::sim::world const one(7), same(7);

    bool caught = false;
    try {
        fairlead::impl::base::throw_error(fairlead::error::eof, "read");
    } catch (fairlead::system_error const& e) {
        caught = e.code() == fairlead::error::eof;
    }

    bool const good = check(done, "coroutine") & check(command.starts_with("*3\r\n"), "redis") &
                      check(client.output() == "+OK\r\n", "redis_server") &
                      check(one.digest() == same.digest(), "sim") & check(caught, "error");
    return good ? 0 : 1;
}
