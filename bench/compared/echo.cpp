// The echo of Asio 1.17's performance notes: connected pairs, 64-byte messages back and forth, one message under way in
// each pair. One source for Fairlead (through the headers of fairlead::asio_compat) and for Asio.
//
//   echo ROW MESSAGES PROTOCOL PAIRS
//     ROW       callback or coroutine
//     MESSAGES  in all, both directions counted
//     PROTOCOL  unix or tcp
#include "descriptors.hpp"

#include <asio.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

constexpr std::size_t message_size = 64;

template <class Protocol> struct session {
    typename Protocol::socket socket;
    long left;
    std::array<char, message_size> data{};
    session(asio::io_context& c, long n) : socket(c), left(n) {}
};

template <class Protocol> void do_write(std::unique_ptr<session<Protocol>> self, std::size_t n);
template <class Protocol> void do_read(std::unique_ptr<session<Protocol>> self) {
    auto& stream = self->socket;
    auto const into = asio::buffer(self->data);
    stream.async_read_some(into, [self = std::move(self)](auto error, std::size_t n) mutable {
        if (!error)
            do_write(std::move(self), n);
    });
}
template <class Protocol> void do_write(std::unique_ptr<session<Protocol>> self, std::size_t n) {
    auto& stream = self->socket;
    auto const from = asio::buffer(self->data, n);
    asio::async_write(stream, from, [self = std::move(self)](auto error, std::size_t) mutable {
        if (!error && --self->left > 0)
            do_read(std::move(self));
    });
}

template <class Socket> asio::awaitable<void> echo(Socket socket, long messages, bool begins) {
    std::array<char, message_size> data{};
    try {
        for (long i = 0; i != messages; ++i) {
            std::size_t n = message_size;
            if (i != 0 || !begins)
                n = co_await socket.async_read_some(asio::buffer(data), asio::use_awaitable);
            co_await asio::async_write(socket, asio::buffer(data, n), asio::use_awaitable);
        }
    } catch (std::exception const&) { // The other end is done.
    }
}

void connect(asio::local::stream_protocol::socket& a, asio::local::stream_protocol::socket& b) {
    asio::local::connect_pair(a, b);
}
void connect(asio::ip::tcp::socket& a, asio::ip::tcp::socket& b) {
    asio::ip::tcp::acceptor acceptor(a.get_executor(), asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
    a.set_option(asio::ip::tcp::no_delay(true));
    b.set_option(asio::ip::tcp::no_delay(true));
}

template <class Protocol> void run(bool with_coroutines, long each, int pairs) {
    asio::io_context context(1);
    for (int i = 0; i != pairs; ++i) {
        if (with_coroutines) {
            typename Protocol::socket a(context), b(context);
            connect(a, b);
            asio::co_spawn(context, echo(std::move(a), each, true), asio::detached);
            asio::co_spawn(context, echo(std::move(b), each, false), asio::detached);
        } else {
            auto a = std::make_unique<session<Protocol>>(context, each);
            auto b = std::make_unique<session<Protocol>>(context, each);
            connect(a->socket, b->socket);
            do_write(std::move(a), message_size);
            do_read(std::move(b));
        }
    }
    context.run();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    raise_descriptor_limit();
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    int const pairs = std::atoi(argv[4]);
    long const each = std::atol(argv[2]) / (2 * pairs);
    if (std::strcmp(argv[3], "unix") == 0)
        run<asio::local::stream_protocol>(with_coroutines, each, pairs);
    else
        run<asio::ip::tcp>(with_coroutines, each, pairs);
}
