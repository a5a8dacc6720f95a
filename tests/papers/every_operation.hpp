// Every operation that there is, by the expression that starts it, and a place where each can complete without an
// error. The table tests/operations.tsv lists them for readers and tools; a test keeps the two lists equal.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/descriptor.hpp>
#include <fairlead/net/pipe.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/seq_packet_socket.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/buffered_stream.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/immediate.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <array>
#include <csignal>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <unistd.h>

namespace fairlead::test::every_operation {

using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;
using ip::udp;
using socket_on_context = tcp::socket::rebind_executor<io_context::executor_type>::other;

/// A place where each operation can complete without an error. An operation below takes any place that has the members
/// of its expression. tests/sim/operation_flight.hpp has another one, in a simulated world.
struct world {
    io_context context;
    local_socket a{context}, b{context};
    buffered_read_stream<local_socket&> reads_ahead{a};
    buffered_write_stream<local_socket&> collects{a};
    buffered_stream<local_socket&> buffers_both{a};
    tcp::acceptor acceptor{context, tcp::endpoint(ip::address_v4::loopback(), 0)};
    tcp::endpoint where = acceptor.local_endpoint();
    std::array<tcp::endpoint, 1> range{where};
    tcp::endpoint from;
    tcp::socket client{context}, peer{context};
    local::stream_protocol::endpoint path{std::string(1, '\0') + "fairlead-test-" + std::to_string(::getpid())};
    local::stream_protocol::acceptor local_acceptor{context, path};
    local_socket local_client{context};
    udp::socket datagrams{context, udp::endpoint(ip::address_v4::loopback(), 0)}; // connected to itself
    udp::endpoint self = datagrams.local_endpoint(), sender;
    udp::socket unconnected{context};
    local::datagram_protocol::endpoint local_self{path.path() + "-datagrams"};
    local::datagram_protocol::socket local_datagrams{context, local_self}, local_unconnected{context};
    steady_timer timer{context, 0s};
    signal_set signals{context, SIGUSR1};
    local::seq_packet_protocol::socket packets{context}, other_packets{context};
    socket_base::message_flags flags = 0;
    readable_pipe reads{context};
    writable_pipe writes{context};
    posix::stream_descriptor descriptor{context}, other_descriptor{context};
    tcp::resolver resolver{context};
    std::optional<awaitable<int>> coroutine;
    std::string text;
    char bytes[4] = {};

    world() {
        local::connect_pair(a, b);
        local::connect_pair(packets, other_packets);
        // Two pipes: into the descriptor, and out of the other one.
        readable_pipe end(context);
        connect_pipe(end, writes);
        descriptor.assign(end.release());
        writable_pipe begin(context);
        connect_pipe(reads, begin);
        other_descriptor.assign(begin.release());
        b.write_some(fairlead::buffer("abc\nefg", 7)); // for whoever reads from a
        datagrams.connect(self);
    }
    mutable_buffer into() noexcept { return fairlead::buffer(bytes); }
    const_buffer out() noexcept { return fairlead::buffer("wxyz", 4); }
    void knock() { client.connect(where); }   // for whoever accepts
    void drop_in() { datagrams.send(out()); } // for whoever receives
};

inline awaitable<int> seven() { co_return 7; }

// The one macro: an operation is its expression, which is needed as a body, as a noexcept and as a type.
#define OPERATION(type, name_, header_, signature_, expression_, nothrow_, blocks_, prepare_, ...)                     \
    struct type {                                                                                                      \
        using signature = signature_;                                                                                  \
        static constexpr char const *name = name_, *header = header_, *text = #signature_, *expression = expression_;  \
        static constexpr bool nothrow = nothrow_, blocks = blocks_;                                                    \
        template <class Place> static void prepare([[maybe_unused]] Place& w) { prepare_; }                            \
        template <class Place, class Token>                                                                            \
        static decltype(auto) start(Place& w, Token&& token) noexcept(noexcept(__VA_ARGS__)) {                         \
            return __VA_ARGS__;                                                                                        \
        }                                                                                                              \
    };
#define TOKEN std::forward<Token>(token)
inline constexpr bool yes = true, no = false;

// clang-format off
OPERATION(read_some, "stream_socket::async_read_some", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_read_some(buffer, use_await)", yes, yes, , w.a.async_read_some(w.into(), TOKEN))
OPERATION(receive, "stream_socket::async_receive", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, use_await)", yes, yes, , w.a.async_receive(w.into(), TOKEN))
OPERATION(receive_flags, "stream_socket::async_receive with flags", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, flags, use_await)", yes, yes, , w.a.async_receive(w.into(), 0, TOKEN))
OPERATION(write_some, "stream_socket::async_write_some", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_write_some(buffer, use_await)", yes, yes, , w.a.async_write_some(w.out(), TOKEN))
OPERATION(send, "stream_socket::async_send", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, use_await)", yes, yes, , w.a.async_send(w.out(), TOKEN))
OPERATION(send_flags, "stream_socket::async_send with flags", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, flags, use_await)", yes, yes, , w.a.async_send(w.out(), 0, TOKEN))
OPERATION(socket_wait, "socket::async_wait", "net/socket.hpp", void(error_code), "s.async_wait(socket_base::wait_read, use_await)", yes, yes, , w.a.async_wait(socket_base::wait_read, TOKEN))
OPERATION(connect, "socket::async_connect", "net/socket.hpp", void(error_code), "s.async_connect(endpoint, use_await)", yes, yes, , w.client.async_connect(w.where, TOKEN))
OPERATION(local_connect, "socket::async_connect to a path", "net/socket.hpp", void(error_code), "s.async_connect(local_endpoint, use_await)", yes, yes, , w.local_client.async_connect(w.path, TOKEN))
OPERATION(accept, "socket_acceptor::async_accept", "net/acceptor.hpp", void(error_code, tcp::socket), "a.async_accept(use_await)", yes, yes, w.knock(), w.acceptor.async_accept(TOKEN))
OPERATION(accept_on, "socket_acceptor::async_accept on an executor", "net/acceptor.hpp", void(error_code, socket_on_context), "a.async_accept(context, use_await)", yes, yes, w.knock(), w.acceptor.async_accept(w.context, TOKEN))
OPERATION(accept_new_from, "socket_acceptor::async_accept of a new socket with the address", "net/acceptor.hpp", void(error_code, tcp::socket), "a.async_accept(endpoint, use_await)", yes, yes, w.knock(), w.acceptor.async_accept(w.from, TOKEN))
OPERATION(accept_on_from, "socket_acceptor::async_accept on an executor with the address", "net/acceptor.hpp", void(error_code, socket_on_context), "a.async_accept(context, endpoint, use_await)", yes, yes, w.knock(), w.acceptor.async_accept(w.context, w.from, TOKEN))
OPERATION(accept_into, "socket_acceptor::async_accept into a socket", "net/acceptor.hpp", void(error_code), "a.async_accept(peer, use_await)", yes, yes, w.knock(), w.acceptor.async_accept(w.peer, TOKEN))
OPERATION(accept_from, "socket_acceptor::async_accept with the address", "net/acceptor.hpp", void(error_code), "a.async_accept(peer, endpoint, use_await)", yes, yes, w.knock(), w.acceptor.async_accept(w.peer, w.from, TOKEN))
OPERATION(datagram_send_to, "datagram_socket::async_send_to", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send_to(buffer, endpoint, use_await)", yes, yes, , w.datagrams.async_send_to(w.out(), w.self, TOKEN))
OPERATION(datagram_send_to_flags, "datagram_socket::async_send_to with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send_to(buffer, endpoint, flags, use_await)", yes, yes, , w.datagrams.async_send_to(w.out(), w.self, 0, TOKEN))
OPERATION(datagram_send_to_path, "datagram_socket::async_send_to to a path", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send_to(buffer, local_endpoint, use_await)", yes, yes, , w.local_datagrams.async_send_to(w.out(), w.local_self, TOKEN))
OPERATION(datagram_receive_from, "datagram_socket::async_receive_from", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive_from(buffer, endpoint, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive_from(w.into(), w.sender, TOKEN))
OPERATION(datagram_receive_from_flags, "datagram_socket::async_receive_from with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive_from(buffer, endpoint, flags, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive_from(w.into(), w.sender, 0, TOKEN))
OPERATION(datagram_send, "datagram_socket::async_send", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, use_await)", yes, yes, , w.datagrams.async_send(w.out(), TOKEN))
OPERATION(datagram_send_flags, "datagram_socket::async_send with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, flags, use_await)", yes, yes, , w.datagrams.async_send(w.out(), 0, TOKEN))
OPERATION(datagram_receive, "datagram_socket::async_receive", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive(w.into(), TOKEN))
OPERATION(datagram_receive_flags, "datagram_socket::async_receive with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, flags, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive(w.into(), 0, TOKEN))
OPERATION(datagram_connect, "socket::async_connect of datagrams", "net/socket.hpp", void(error_code), "s.async_connect(endpoint, use_await)", yes, yes, , w.unconnected.async_connect(w.self, TOKEN))
OPERATION(datagram_connect_path, "socket::async_connect of datagrams to a path", "net/socket.hpp", void(error_code), "s.async_connect(local_endpoint, use_await)", yes, yes, , w.local_unconnected.async_connect(w.local_self, TOKEN))
OPERATION(timer_wait, "waitable_timer::async_wait", "net/timer.hpp", void(error_code), "t.async_wait(use_await)", yes, yes, , w.timer.async_wait(TOKEN))
OPERATION(packet_send, "seq_packet_socket::async_send", "net/seq_packet_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, flags, use_await)", yes, yes, , w.packets.async_send(w.out(), 0, TOKEN))
OPERATION(packet_receive, "seq_packet_socket::async_receive", "net/seq_packet_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, out_flags, use_await)", yes, yes, w.other_packets.send(w.out(), 0), w.packets.async_receive(w.into(), w.flags, TOKEN))
OPERATION(packet_receive_flags, "seq_packet_socket::async_receive with flags", "net/seq_packet_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, flags, out_flags, use_await)", yes, yes, w.other_packets.send(w.out(), 0), w.packets.async_receive(w.into(), 0, w.flags, TOKEN))
OPERATION(descriptor_read, "stream_descriptor::async_read_some", "net/descriptor.hpp", void(error_code, std::size_t), "d.async_read_some(buffer, use_await)", yes, yes, w.writes.write_some(w.out()), w.descriptor.async_read_some(w.into(), TOKEN))
OPERATION(descriptor_write, "stream_descriptor::async_write_some", "net/descriptor.hpp", void(error_code, std::size_t), "d.async_write_some(buffer, use_await)", yes, yes, , w.other_descriptor.async_write_some(w.out(), TOKEN))
OPERATION(descriptor_wait, "descriptor::async_wait", "net/descriptor.hpp", void(error_code), "d.async_wait(descriptor_base::wait_read, use_await)", yes, yes, w.writes.write_some(w.out()), w.descriptor.async_wait(posix::descriptor_base::wait_read, TOKEN))
OPERATION(pipe_read, "readable_pipe::async_read_some", "net/pipe.hpp", void(error_code, std::size_t), "p.async_read_some(buffer, use_await)", yes, yes, w.other_descriptor.write_some(w.out()), w.reads.async_read_some(w.into(), TOKEN))
OPERATION(pipe_write, "writable_pipe::async_write_some", "net/pipe.hpp", void(error_code, std::size_t), "p.async_write_some(buffer, use_await)", yes, yes, , w.writes.async_write_some(w.out(), TOKEN))
OPERATION(signal_wait, "signal_set::async_wait", "net/signal_set.hpp", void(error_code, int), "s.async_wait(use_await)", yes, no, std::raise(SIGUSR1), w.signals.async_wait(TOKEN))
OPERATION(resolve, "resolver::async_resolve", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(host, service, use_await)", yes, yes, , w.resolver.async_resolve("127.0.0.1", "80", TOKEN))
OPERATION(resolve_flags, "resolver::async_resolve with flags", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(host, service, flags, use_await)", yes, yes, , w.resolver.async_resolve("127.0.0.1", "80", ip::resolver_base::numeric_host, TOKEN))
OPERATION(resolve_version, "resolver::async_resolve for one version", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(protocol, host, service, use_await)", yes, yes, , w.resolver.async_resolve(tcp::v4(), "127.0.0.1", "80", TOKEN))
OPERATION(resolve_version_flags, "resolver::async_resolve for one version with flags", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(protocol, host, service, flags, use_await)", yes, yes, , w.resolver.async_resolve(tcp::v4(), "127.0.0.1", "80", ip::resolver_base::numeric_host, TOKEN))
OPERATION(resolve_endpoint, "resolver::async_resolve of an endpoint", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(endpoint, use_await)", yes, yes, , w.resolver.async_resolve(w.where, TOKEN))
OPERATION(range_connect, "async_connect", "net/connect.hpp", void(error_code, tcp::endpoint), "async_connect(s, endpoints, use_await)", yes, yes, , async_connect(w.client, w.range, TOKEN))
OPERATION(range_connect_if, "async_connect with a condition", "net/connect.hpp", void(error_code, tcp::endpoint), "async_connect(s, endpoints, condition, use_await)", yes, yes, , async_connect(w.client, w.range, [](error_code const&, tcp::endpoint const&) { return true; }, TOKEN))
OPERATION(iterator_connect, "async_connect of iterators", "net/connect.hpp", void(error_code, tcp::endpoint*), "async_connect(s, begin, end, use_await)", yes, yes, , async_connect(w.client, w.range.data(), w.range.data() + 1, TOKEN))
OPERATION(iterator_connect_if, "async_connect of iterators with a condition", "net/connect.hpp", void(error_code, tcp::endpoint*), "async_connect(s, begin, end, condition, use_await)", yes, yes, , async_connect(w.client, w.range.data(), w.range.data() + 1, [](error_code const&, tcp::endpoint const&) { return true; }, TOKEN))
OPERATION(read_all, "async_read", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, buffer, use_await)", yes, yes, , async_read(w.a, w.into(), TOKEN))
OPERATION(read_if, "async_read with a condition", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, buffer, condition, use_await)", yes, yes, , async_read(w.a, w.into(), transfer_at_least(2), TOKEN))
OPERATION(read_dynamic, "async_read into a dynamic buffer", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, dynamic_buffer(text, 4), use_await)", yes, yes, , async_read(w.a, dynamic_buffer(w.text, 4), TOKEN))
OPERATION(read_dynamic_if, "async_read into a dynamic buffer with a condition", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, dynamic_buffer(text), condition, use_await)", yes, yes, , async_read(w.a, dynamic_buffer(w.text), transfer_at_least(2), TOKEN))
OPERATION(read_until_text, "async_read_until", "stream/read_until.hpp", void(error_code, std::size_t), "async_read_until(s, dynamic_buffer(text), \"\\n\", use_await)", yes, yes, , async_read_until(w.a, dynamic_buffer(w.text), "\n", TOKEN))
OPERATION(read_until_char, "async_read_until a character", "stream/read_until.hpp", void(error_code, std::size_t), "async_read_until(s, dynamic_buffer(text), '\\n', use_await)", yes, yes, , async_read_until(w.a, dynamic_buffer(w.text), '\n', TOKEN))
OPERATION(write_all, "async_write", "stream/write.hpp", void(error_code, std::size_t), "async_write(s, buffer, use_await)", yes, yes, , async_write(w.a, w.out(), TOKEN))
OPERATION(write_if, "async_write with a condition", "stream/write.hpp", void(error_code, std::size_t), "async_write(s, buffer, condition, use_await)", yes, yes, , async_write(w.a, w.out(), transfer_at_least(2), TOKEN))
OPERATION(write_dynamic, "async_write of a dynamic buffer", "stream/write.hpp", void(error_code, std::size_t), "async_write(s, dynamic_buffer(text), use_await)", yes, yes, w.text = "text", async_write(w.a, dynamic_buffer(w.text), TOKEN))
OPERATION(buffered_read_some, "buffered_read_stream::async_read_some", "stream/buffered_read_stream.hpp", void(error_code, std::size_t), "s.async_read_some(buffer, use_await)", yes, yes, , w.reads_ahead.async_read_some(w.into(), TOKEN))
OPERATION(buffered_fill, "buffered_read_stream::async_fill", "stream/buffered_read_stream.hpp", void(error_code, std::size_t), "s.async_fill(use_await)", yes, yes, , w.reads_ahead.async_fill(TOKEN))
OPERATION(buffered_write_some, "buffered_write_stream::async_write_some", "stream/buffered_write_stream.hpp", void(error_code, std::size_t), "s.async_write_some(buffer, use_await)", yes, yes, , w.collects.async_write_some(w.out(), TOKEN))
OPERATION(buffered_flush, "buffered_write_stream::async_flush", "stream/buffered_write_stream.hpp", void(error_code, std::size_t), "s.async_flush(use_await)", yes, yes, w.collects.write_some(w.out()), w.collects.async_flush(TOKEN))
OPERATION(both_read_some, "buffered_stream::async_read_some", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_read_some(buffer, use_await)", yes, yes, , w.buffers_both.async_read_some(w.into(), TOKEN))
OPERATION(both_fill, "buffered_stream::async_fill", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_fill(use_await)", yes, yes, , w.buffers_both.async_fill(TOKEN))
OPERATION(both_write_some, "buffered_stream::async_write_some", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_write_some(buffer, use_await)", yes, yes, , w.buffers_both.async_write_some(w.out(), TOKEN))
OPERATION(both_flush, "buffered_stream::async_flush", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_flush(use_await)", yes, yes, w.buffers_both.write_some(w.out()), w.buffers_both.async_flush(TOKEN))
OPERATION(post_op, "post", "token/post.hpp", void(), "post(context, use_await)", yes, yes, , post(w.context, TOKEN))
OPERATION(defer_op, "defer", "token/post.hpp", void(), "defer(context, use_await)", yes, yes, , defer(w.context, TOKEN))
OPERATION(dispatch_op, "dispatch", "token/post.hpp", void(), "dispatch(context, use_await)", yes, no, , dispatch(w.context, TOKEN))
OPERATION(immediate_op, "async_immediate", "token/immediate.hpp", void(), "async_immediate(context, use_await)", yes, yes, , async_immediate(w.context, TOKEN))
OPERATION(spawn_op, "co_spawn", "coro/spawn.hpp", void(std::exception_ptr, int), "co_spawn(context, f(), use_await)", yes, no, w.coroutine.emplace(seven()), co_spawn(w.context, std::move(*w.coroutine), TOKEN))
OPERATION(spawn_function, "co_spawn of a function", "coro/spawn.hpp", void(std::exception_ptr, int), "co_spawn(context, f, use_await)", yes, no, , co_spawn(w.context, &seven, TOKEN))
// clang-format on
#undef OPERATION
#undef TOKEN

using operations =
    std::tuple<read_some, receive, receive_flags, write_some, send, send_flags, socket_wait, connect, local_connect,
               accept, accept_on, accept_new_from, accept_on_from, accept_into, accept_from, datagram_send_to,
               datagram_send_to_flags, datagram_send_to_path, datagram_receive_from, datagram_receive_from_flags,
               datagram_send, datagram_send_flags, datagram_receive, datagram_receive_flags, datagram_connect,
               datagram_connect_path, timer_wait, packet_send, packet_receive, packet_receive_flags, descriptor_read,
               descriptor_write, descriptor_wait, pipe_read, pipe_write, signal_wait, resolve, resolve_flags,
               resolve_version, resolve_version_flags, resolve_endpoint, range_connect, range_connect_if,
               iterator_connect, iterator_connect_if, read_all, read_if, read_dynamic, read_dynamic_if, read_until_text,
               read_until_char, write_all, write_if, write_dynamic, buffered_read_some, buffered_fill,
               buffered_write_some, buffered_flush, both_read_some, both_fill, both_write_some, both_flush, post_op,
               defer_op, dispatch_op, immediate_op, spawn_op, spawn_function>;

template <class F> void for_each_operation(F f) {
    [&]<class... Op>(std::type_identity<std::tuple<Op...>>) {
        (f(std::type_identity<Op>()), ...);
    }(std::type_identity<operations>());
}

// ---- what a completion says

inline bool is_good(error_code const& ec) { return !ec; }
inline bool is_good(std::exception_ptr const& e) { return !e; }
template <class T> bool is_good(T const&) { return true; }
template <class... T> bool all_good(T const&... values) { return (is_good(values) && ...); }

struct callback {
    int* good;
    template <class... Args> void operator()(Args&&... args) const { *good += all_good(args...); }
};
struct move_only_callback {
    std::unique_ptr<int*> good;
    template <class... Args> void operator()(Args&&... args) { **good += all_good(args...); }
};
struct tuple_callback {
    int* good;
    template <class Tuple> void operator()(Tuple&& t) const {
        *good += std::apply([](auto const&... values) { return all_good(values...); }, t);
    }
};

template <class Signature> inline constexpr bool has_error = false;
template <class... Args> inline constexpr bool has_error<void(error_code, Args...)> = true;

template <class Op, class Token> using result_of = decltype(Op::start(std::declval<world&>(), std::declval<Token>()));

/// if (x) return a(); else return b();
template <class A, class B, class Token> auto either(bool first, world& w, Token&& token) {
    if (first)
        return A::start(w, std::forward<Token>(token));
    else
        return B::start(w, std::forward<Token>(token));
}

} // namespace fairlead::test::every_operation
