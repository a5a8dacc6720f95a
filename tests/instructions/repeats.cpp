// The subject of callgrind: N times async_read_until that finds its delimiter in the buffer.
//
//   repeats read_until N            awaited in a coroutine
//   repeats read_until_repeated N   as one sender, with repeat_until()
#include "even_clock.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/sender/repeat.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/post.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

awaitable<void> read_awaited(socket_type& stream, std::string& text, long n) {
    while (n-- > 0)
        co_await async_read_until(stream, dynamic_buffer(text), '\n');
}

struct last_receiver {
    using receiver_concept = execution::receiver_tag;
    void set_value() noexcept {}
    template <class Error> void set_error(Error&&) noexcept { std::abort(); }
    void set_stopped() noexcept { std::abort(); }
};
auto read_repeated(socket_type& stream, std::string& text, long n) {
    return execution::connect(
        execution::repeat_until([&stream, &text] { return async_read_until(stream, dynamic_buffer(text), '\n'); },
                                [n](std::size_t) mutable { return --n == 0; }),
        last_receiver());
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    auto const n = std::atol(argv[2]);
    io_context context(1);
    socket_type stream(context);
    std::string text = "Hello, world!\n";
    auto repeated = read_repeated(stream, text, n);
    if (std::strcmp(argv[1], "read_until") == 0)
        co_spawn(context, read_awaited(stream, text, n), detached);
    else if (std::strcmp(argv[1], "read_until_repeated") == 0)
        post(context, [&] { repeated.start(); });
    else
        return 2;
    context.run();
}
