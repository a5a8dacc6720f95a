// The subject of callgrind: N messages of 64 bytes through a UNIX pair, awaited.
//
//   erased echo N       through its sockets
//   erased echo_any N   through any_stream
//
// Apart from the others: what g++ takes inline depends on all that a program has.
#include "even_clock.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/any_stream.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

template <class Stream> awaitable<void> exchange(io_context& context, long n) {
    socket_type one(context), other(context);
    connect_pair(one, other);
    Stream a(std::move(one)), b(std::move(other));
    char from[64] = {}, into[64];
    for (long i = 0; i != n; ++i) {
        co_await async_write(b, buffer(from));
        co_await a.async_read_some(buffer(into));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    io_context context;
    long const n = std::atol(argv[2]);
    if (std::string_view(argv[1]) == "echo")
        co_spawn(context, exchange<socket_type>(context, n), detached);
    else
        co_spawn(context, exchange<any_stream>(context, n), detached);
    context.run();
}
