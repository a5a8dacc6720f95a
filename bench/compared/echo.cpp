// The echo of Asio 1.17's performance notes: connected pairs, 64-byte messages back and forth, one message under way in
// each pair. One source for Fairlead (through the headers of fairlead::asio_compat) and for Asio.
//
//   echo ROW MESSAGES PROTOCOL PAIRS
//     ROW       callback or coroutine; native_callback or native_coroutine: the same, but the sockets have io_context's
//               own executor type, and so has Asio's awaitable
//     MESSAGES  in all, both directions counted
//     PROTOCOL  unix or tcp
//
// Compiled as compared_echo_observed, Fairlead notes all that it can: tasks, places and times of awaits, and stalls.
#include "descriptors.hpp"

#include <asio.hpp>
#ifdef FAIRLEAD_AWAIT_PLACES
#include <fairlead/coro/tasks.hpp>
#include <fairlead/io/stall_detector.hpp>
#endif

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace {

constexpr std::size_t message_size = 64;

template <class Socket> using native =
    typename Socket::template rebind_executor<asio::io_context::executor_type>::other;

template <class Socket> struct session {
    Socket socket;
    long left;
    std::array<char, message_size> data{};
    session(asio::io_context& c, long n) : socket(c), left(n) {}
};

template <class Socket> void do_write(std::unique_ptr<session<Socket>> self, std::size_t n);
template <class Socket> void do_read(std::unique_ptr<session<Socket>> self) {
    auto& stream = self->socket;
    auto const into = asio::buffer(self->data);
    stream.async_read_some(into, [self = std::move(self)](auto error, std::size_t n) mutable {
        if (!error)
            do_write(std::move(self), n);
    });
}
template <class Socket> void do_write(std::unique_ptr<session<Socket>> self, std::size_t n) {
    auto& stream = self->socket;
    auto const from = asio::buffer(self->data, n);
    asio::async_write(stream, from, [self = std::move(self)](auto error, std::size_t) mutable {
        if (!error && --self->left > 0)
            do_read(std::move(self));
    });
}

/// Of Fairlead's awaitable the executor is no part.
template <class Socket> using awaitable_of = asio::awaitable<void, typename Socket::executor_type>;
template <class Socket> awaitable_of<Socket> echo(Socket socket, long messages, bool begins) {
    constexpr asio::use_awaitable_t<typename Socket::executor_type> use_awaitable;
    std::array<char, message_size> data{};
    try {
        for (long i = 0; i != messages; ++i) {
            std::size_t n = message_size;
            if (i != 0 || !begins)
                n = co_await socket.async_read_some(asio::buffer(data), use_awaitable);
            co_await asio::async_write(socket, asio::buffer(data, n), use_awaitable);
        }
    } catch (std::exception const&) { // The other end is done.
    }
}

template <class Executor> using unix_socket = asio::basic_stream_socket<asio::local::stream_protocol, Executor>;
template <class Executor> using tcp_socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;

template <class Executor> void connect(unix_socket<Executor>& a, unix_socket<Executor>& b) {
    asio::local::connect_pair(a, b);
}
template <class Executor> void connect(tcp_socket<Executor>& a, tcp_socket<Executor>& b) {
    asio::ip::tcp::acceptor acceptor(a.get_executor(), asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
    a.set_option(asio::ip::tcp::no_delay(true));
    b.set_option(asio::ip::tcp::no_delay(true));
}

template <class Socket> void run(bool with_coroutines, long each, int pairs) {
    asio::io_context context(1);
#ifdef FAIRLEAD_AWAIT_PLACES
    fairlead::list_tasks(context);
    fairlead::stall_detector const detector(context);
#endif
    for (int i = 0; i != pairs; ++i) {
        if (with_coroutines) {
            Socket a(context), b(context);
            connect(a, b);
            asio::co_spawn(context, echo(std::move(a), each, true), asio::detached);
            asio::co_spawn(context, echo(std::move(b), each, false), asio::detached);
        } else {
            auto a = std::make_unique<session<Socket>>(context, each);
            auto b = std::make_unique<session<Socket>>(context, each);
            connect(a->socket, b->socket);
            do_write(std::move(a), message_size);
            do_read(std::move(b));
        }
    }
    context.run();
}
template <class Socket> void run_row(std::string_view row, long each, int pairs) {
    bool const with_coroutines = row.ends_with("coroutine");
    if (row.starts_with("native_"))
        run<native<Socket>>(with_coroutines, each, pairs);
    else
        run<Socket>(with_coroutines, each, pairs);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    raise_descriptor_limit();
    int const pairs = std::atoi(argv[4]);
    long const each = std::atol(argv[2]) / (2 * pairs);
    if (std::strcmp(argv[3], "unix") == 0)
        run_row<asio::local::stream_protocol::socket>(argv[1], each, pairs);
    else
        run_row<asio::ip::tcp::socket>(argv[1], each, pairs);
}
