// As echo.cpp, over TLS: connected pairs, 64-byte messages back and forth, one message under way in each pair. One
// source for Fairlead (through the headers of fairlead::asio_compat) and for Asio.
//
//   tls_echo ROW MESSAGES PAIRS
//     ROW       callback or coroutine
//     MESSAGES  in all, both directions counted
#include "descriptors.hpp"
#include "tls_contexts.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

using tcp = asio::ip::tcp;
using tls_stream = asio::ssl::stream<tcp::socket>;
using side = asio::ssl::stream_base::handshake_type;

constexpr std::size_t message_size = 64;
long ended = 0; ///< ends that have written all their messages

struct session {
    tls_stream stream;
    long left;
    std::array<char, message_size> data{};
};

void do_write(std::unique_ptr<session> self, std::size_t n);
void do_read(std::unique_ptr<session> self) {
    auto& stream = self->stream;
    auto const into = asio::buffer(self->data);
    stream.async_read_some(into, [self = std::move(self)](auto error, std::size_t n) mutable {
        if (!error)
            do_write(std::move(self), n);
    });
}
void do_write(std::unique_ptr<session> self, std::size_t n) {
    auto& stream = self->stream;
    auto const from = asio::buffer(self->data, n);
    asio::async_write(stream, from, [self = std::move(self)](auto error, std::size_t) mutable {
        if (!error && --self->left > 0)
            do_read(std::move(self));
        else if (!error)
            ++ended;
    });
}
void begin(std::unique_ptr<session> self, side s) {
    auto& stream = self->stream;
    stream.async_handshake(s, [self = std::move(self), s](auto error) mutable {
        if (error)
            return;
        if (s == tls_stream::client)
            do_write(std::move(self), message_size);
        else
            do_read(std::move(self));
    });
}

asio::awaitable<void> echo(tls_stream stream, long messages, side s) {
    std::array<char, message_size> data{};
    co_await stream.async_handshake(s, asio::use_awaitable);
    for (long i = 0; i != messages; ++i) {
        std::size_t n = message_size;
        if (i != 0 || s != tls_stream::client)
            n = co_await stream.async_read_some(asio::buffer(data), asio::use_awaitable);
        co_await asio::async_write(stream, asio::buffer(data, n), asio::use_awaitable);
    }
    ++ended;
}

void connect(tcp::socket& a, tcp::socket& b) {
    tcp::acceptor acceptor(a.get_executor(), tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
    a.set_option(tcp::no_delay(true));
    b.set_option(tcp::no_delay(true));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    raise_descriptor_limit();
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    int const pairs = std::atoi(argv[3]);
    long const each = std::atol(argv[2]) / (2 * pairs);
    tls::identities const those;
    tls::contexts contexts(those);
    asio::io_context context(1);
    for (int i = 0; i != pairs; ++i) {
        tcp::socket a(context), b(context);
        connect(a, b);
        tls_stream client(std::move(a), contexts.client), server(std::move(b), contexts.server);
        tls::expect_server(client);
        if (with_coroutines) {
            asio::co_spawn(context, echo(std::move(client), each, tls_stream::client), asio::detached);
            asio::co_spawn(context, echo(std::move(server), each, tls_stream::server), asio::detached);
        } else {
            begin(std::make_unique<session>(std::move(client), each), tls_stream::client);
            begin(std::make_unique<session>(std::move(server), each), tls_stream::server);
        }
    }
    context.run();
    return ended != 2 * pairs;
}
