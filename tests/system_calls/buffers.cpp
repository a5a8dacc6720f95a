// The subject of one_buffer.py: how a buffer, or a sequence of them, is handed to the system.
//
//   buffers tcp|unix single|sequence N     moves 4 N messages of 64 bytes through a connection, in each way that there
//   is
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace {

using namespace fairlead;
using ip::tcp;

template <class Socket, class Out, class In> awaitable<void> exchange(Socket& a, Socket& b, Out out, In in, int n) {
    for (int i = 0; i != n; ++i) {
        co_await async_write(b, out);
        co_await async_read(a, in);
        co_await b.async_write_some(out);
        co_await a.async_read_some(in);
    }
}
template <class Socket, class Out, class In> void callbacks(Socket& a, Socket& b, Out const& out, In const& in, int n) {
    async_write(b, out, [&a, &b, out, in, n](error_code, std::size_t) {
        async_read(a, in, [&a, &b, out, in, n](error_code, std::size_t) {
            if (n > 1)
                callbacks(a, b, out, in, n - 1);
        });
    });
}
template <class Socket, class Out, class In>
void run(io_context& context, Socket& a, Socket& b, Out const& out, In const& in, int n) {
    for (int i = 0; i != n; ++i) {
        write(b, out);
        read(a, in);
    }
    callbacks(a, b, out, in, n);
    co_spawn(context, exchange(a, b, out, in, n), [](std::exception_ptr e) {
        if (e)
            std::terminate();
    });
    context.run();
}
template <class Socket> void run(io_context& context, Socket& a, Socket& b, char const* buffers, int n) {
    char from[64] = {}, into[64];
    if (std::strcmp(buffers, "single") == 0)
        run(context, a, b, const_buffer(from, 64), mutable_buffer(into, 64), n);
    else
        run(context, a, b, std::array<const_buffer, 2>{const_buffer(from, 32), const_buffer(from + 32, 32)},
            std::array<mutable_buffer, 2>{mutable_buffer(into, 32), mutable_buffer(into + 32, 32)}, n);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    io_context context(1);
    if (std::strcmp(argv[1], "tcp") == 0) {
        tcp::acceptor acceptor(context, {ip::address_v4::loopback(), 0});
        tcp::socket b(context);
        b.connect(acceptor.local_endpoint());
        auto a = acceptor.accept();
        run(context, a, b, argv[2], std::atoi(argv[3]));
    } else {
        local::stream_protocol::socket a(context), b(context);
        connect_pair(a, b);
        run(context, a, b, argv[2], std::atoi(argv[3]));
    }
}
