// As idle.cpp, with TLS: the memory of a server's connection that has shaken hands and reads into 64 bytes, and nothing
// comes. One source for Fairlead (through the headers of fairlead::asio_compat) and for Asio.
//
//   tls_idle ROW N
//     ROW  callback or coroutine
//     N    connections, a UNIX pair each; fewer where the system does not allow as many descriptors, which is then said
#include "tls_contexts.hpp"
#include "tls_idle_clients.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

using protocol = asio::local::stream_protocol;
using tls_stream = asio::ssl::stream<protocol::socket>;
using message = std::array<char, 64>;

int agreed = 0;

struct session {
    tls_stream stream;
    message data{};
};
void begin(session* one) {
    one->stream.async_handshake(tls_stream::server, [one](auto error) {
        if (error)
            return;
        ++agreed;
        one->stream.async_read_some(asio::buffer(one->data), [one](auto, std::size_t) { delete one; });
    });
}

asio::awaitable<void> serve(tls_stream stream) {
    message data;
    co_await stream.async_handshake(tls_stream::server, asio::use_awaitable);
    ++agreed;
    co_await stream.async_read_some(asio::buffer(data), asio::use_awaitable);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    tls::identities const those;
    tls::contexts contexts(those);
    auto const open = begin_tls_clients(those, std::atoi(argv[2]));
    asio::io_context context(1);
    auto const before = own_bytes();
    for (int fd : open.fds) {
        tls_stream stream(protocol::socket(context, protocol(), fd), contexts.server);
        if (with_coroutines)
            asio::co_spawn(context, serve(std::move(stream)), asio::detached);
        else
            begin(new session{std::move(stream)});
        for (int const had = agreed; agreed == had;)
            context.run_one();
    }
    context.poll();
    print_each(before, open);
}
