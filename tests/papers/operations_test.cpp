// Every operation with every token: rows A2, A20, A23 and B8, and the first promises of the library.
// tests/operations.tsv lists the operations for readers and tools; the test of that name keeps the two lists equal.
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
#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <unistd.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;
using ip::udp;
using socket_on_context = tcp::socket::rebind_executor<io_context::executor_type>::other;

/// A place where each operation can complete without an error.
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

awaitable<int> seven() { co_return 7; }

// The one macro: an operation is its expression, which is needed as a body, as a noexcept and as a type.
#define OPERATION(type, name_, header_, signature_, expression_, nothrow_, blocks_, prepare_, ...)                     \
    struct type {                                                                                                      \
        using signature = signature_;                                                                                  \
        static constexpr char const *name = name_, *header = header_, *text = #signature_, *expression = expression_;  \
        static constexpr bool nothrow = nothrow_, blocks = blocks_;                                                    \
        static void prepare([[maybe_unused]] world& w) { prepare_; }                                                   \
        template <class Token> static decltype(auto) start(world& w, Token&& token) noexcept(noexcept(__VA_ARGS__)) {  \
            return __VA_ARGS__;                                                                                        \
        }                                                                                                              \
    };
#define TOKEN std::forward<Token>(token)
constexpr bool yes = true, no = false;

// clang-format off
OPERATION(read_some, "stream_socket::async_read_some", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_read_some(buffer, use_await)", yes, yes, , w.a.async_read_some(w.into(), TOKEN))
OPERATION(receive, "stream_socket::async_receive", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, use_await)", yes, yes, , w.a.async_receive(w.into(), TOKEN))
OPERATION(receive_flags, "stream_socket::async_receive with flags", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, flags, use_await)", yes, yes, , w.a.async_receive(w.into(), 0, TOKEN))
OPERATION(write_some, "stream_socket::async_write_some", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_write_some(buffer, use_await)", yes, yes, , w.a.async_write_some(w.out(), TOKEN))
OPERATION(send, "stream_socket::async_send", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, use_await)", yes, yes, , w.a.async_send(w.out(), TOKEN))
OPERATION(send_flags, "stream_socket::async_send with flags", "net/stream_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, flags, use_await)", yes, yes, , w.a.async_send(w.out(), 0, TOKEN))
OPERATION(socket_wait, "socket::async_wait", "net/socket.hpp", void(error_code), "s.async_wait(socket_base::wait_read, use_await)", yes, yes, , w.a.async_wait(socket_base::wait_read, TOKEN))
OPERATION(connect, "socket::async_connect", "net/socket.hpp", void(error_code), "s.async_connect(endpoint, use_await)", yes, yes, , w.client.async_connect(w.where, TOKEN))
OPERATION(local_connect, "socket::async_connect to a path", "net/socket.hpp", void(error_code), "s.async_connect(local_endpoint, use_await)", no, yes, , w.local_client.async_connect(w.path, TOKEN))
OPERATION(accept, "socket_acceptor::async_accept", "net/acceptor.hpp", void(error_code, tcp::socket), "a.async_accept(use_await)", yes, yes, w.knock(), w.acceptor.async_accept(TOKEN))
OPERATION(accept_on, "socket_acceptor::async_accept on an executor", "net/acceptor.hpp", void(error_code, socket_on_context), "a.async_accept(context, use_await)", no, yes, w.knock(), w.acceptor.async_accept(w.context, TOKEN))
OPERATION(accept_new_from, "socket_acceptor::async_accept of a new socket with the address", "net/acceptor.hpp", void(error_code, tcp::socket), "a.async_accept(endpoint, use_await)", no, yes, w.knock(), w.acceptor.async_accept(w.from, TOKEN))
OPERATION(accept_on_from, "socket_acceptor::async_accept on an executor with the address", "net/acceptor.hpp", void(error_code, socket_on_context), "a.async_accept(context, endpoint, use_await)", no, yes, w.knock(), w.acceptor.async_accept(w.context, w.from, TOKEN))
OPERATION(accept_into, "socket_acceptor::async_accept into a socket", "net/acceptor.hpp", void(error_code), "a.async_accept(peer, use_await)", yes, yes, w.knock(), w.acceptor.async_accept(w.peer, TOKEN))
OPERATION(accept_from, "socket_acceptor::async_accept with the address", "net/acceptor.hpp", void(error_code), "a.async_accept(peer, endpoint, use_await)", yes, yes, w.knock(), w.acceptor.async_accept(w.peer, w.from, TOKEN))
OPERATION(datagram_send_to, "datagram_socket::async_send_to", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send_to(buffer, endpoint, use_await)", yes, yes, , w.datagrams.async_send_to(w.out(), w.self, TOKEN))
OPERATION(datagram_send_to_flags, "datagram_socket::async_send_to with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send_to(buffer, endpoint, flags, use_await)", yes, yes, , w.datagrams.async_send_to(w.out(), w.self, 0, TOKEN))
OPERATION(datagram_send_to_path, "datagram_socket::async_send_to to a path", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send_to(buffer, local_endpoint, use_await)", no, yes, , w.local_datagrams.async_send_to(w.out(), w.local_self, TOKEN))
OPERATION(datagram_receive_from, "datagram_socket::async_receive_from", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive_from(buffer, endpoint, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive_from(w.into(), w.sender, TOKEN))
OPERATION(datagram_receive_from_flags, "datagram_socket::async_receive_from with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive_from(buffer, endpoint, flags, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive_from(w.into(), w.sender, 0, TOKEN))
OPERATION(datagram_send, "datagram_socket::async_send", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, use_await)", yes, yes, , w.datagrams.async_send(w.out(), TOKEN))
OPERATION(datagram_send_flags, "datagram_socket::async_send with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, flags, use_await)", yes, yes, , w.datagrams.async_send(w.out(), 0, TOKEN))
OPERATION(datagram_receive, "datagram_socket::async_receive", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive(w.into(), TOKEN))
OPERATION(datagram_receive_flags, "datagram_socket::async_receive with flags", "net/datagram_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, flags, use_await)", yes, yes, w.drop_in(), w.datagrams.async_receive(w.into(), 0, TOKEN))
OPERATION(datagram_connect, "socket::async_connect of datagrams", "net/socket.hpp", void(error_code), "s.async_connect(endpoint, use_await)", yes, yes, , w.unconnected.async_connect(w.self, TOKEN))
OPERATION(datagram_connect_path, "socket::async_connect of datagrams to a path", "net/socket.hpp", void(error_code), "s.async_connect(local_endpoint, use_await)", no, yes, , w.local_unconnected.async_connect(w.local_self, TOKEN))
OPERATION(timer_wait, "waitable_timer::async_wait", "net/timer.hpp", void(error_code), "t.async_wait(use_await)", yes, yes, , w.timer.async_wait(TOKEN))
OPERATION(packet_send, "seq_packet_socket::async_send", "net/seq_packet_socket.hpp", void(error_code, std::size_t), "s.async_send(buffer, flags, use_await)", yes, yes, , w.packets.async_send(w.out(), 0, TOKEN))
OPERATION(packet_receive, "seq_packet_socket::async_receive", "net/seq_packet_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, out_flags, use_await)", no, yes, w.other_packets.send(w.out(), 0), w.packets.async_receive(w.into(), w.flags, TOKEN))
OPERATION(packet_receive_flags, "seq_packet_socket::async_receive with flags", "net/seq_packet_socket.hpp", void(error_code, std::size_t), "s.async_receive(buffer, flags, out_flags, use_await)", no, yes, w.other_packets.send(w.out(), 0), w.packets.async_receive(w.into(), 0, w.flags, TOKEN))
OPERATION(descriptor_read, "stream_descriptor::async_read_some", "net/descriptor.hpp", void(error_code, std::size_t), "d.async_read_some(buffer, use_await)", yes, yes, w.writes.write_some(w.out()), w.descriptor.async_read_some(w.into(), TOKEN))
OPERATION(descriptor_write, "stream_descriptor::async_write_some", "net/descriptor.hpp", void(error_code, std::size_t), "d.async_write_some(buffer, use_await)", yes, yes, , w.other_descriptor.async_write_some(w.out(), TOKEN))
OPERATION(descriptor_wait, "descriptor::async_wait", "net/descriptor.hpp", void(error_code), "d.async_wait(descriptor_base::wait_read, use_await)", yes, yes, w.writes.write_some(w.out()), w.descriptor.async_wait(posix::descriptor_base::wait_read, TOKEN))
OPERATION(pipe_read, "readable_pipe::async_read_some", "net/pipe.hpp", void(error_code, std::size_t), "p.async_read_some(buffer, use_await)", yes, yes, w.other_descriptor.write_some(w.out()), w.reads.async_read_some(w.into(), TOKEN))
OPERATION(pipe_write, "writable_pipe::async_write_some", "net/pipe.hpp", void(error_code, std::size_t), "p.async_write_some(buffer, use_await)", yes, yes, , w.writes.async_write_some(w.out(), TOKEN))
OPERATION(signal_wait, "signal_set::async_wait", "net/signal_set.hpp", void(error_code, int), "s.async_wait(use_await)", yes, no, std::raise(SIGUSR1), w.signals.async_wait(TOKEN))
OPERATION(resolve, "resolver::async_resolve", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(host, service, use_await)", no, yes, , w.resolver.async_resolve("127.0.0.1", "80", TOKEN))
OPERATION(resolve_flags, "resolver::async_resolve with flags", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(host, service, flags, use_await)", no, yes, , w.resolver.async_resolve("127.0.0.1", "80", ip::resolver_base::numeric_host, TOKEN))
OPERATION(resolve_version, "resolver::async_resolve for one version", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(protocol, host, service, use_await)", no, yes, , w.resolver.async_resolve(tcp::v4(), "127.0.0.1", "80", TOKEN))
OPERATION(resolve_version_flags, "resolver::async_resolve for one version with flags", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(protocol, host, service, flags, use_await)", no, yes, , w.resolver.async_resolve(tcp::v4(), "127.0.0.1", "80", ip::resolver_base::numeric_host, TOKEN))
OPERATION(resolve_endpoint, "resolver::async_resolve of an endpoint", "net/resolver.hpp", void(error_code, tcp::resolver::results_type), "r.async_resolve(endpoint, use_await)", no, yes, , w.resolver.async_resolve(w.where, TOKEN))
OPERATION(range_connect, "async_connect", "net/connect.hpp", void(error_code, tcp::endpoint), "async_connect(s, endpoints, use_await)", no, yes, , async_connect(w.client, w.range, TOKEN))
OPERATION(range_connect_if, "async_connect with a condition", "net/connect.hpp", void(error_code, tcp::endpoint), "async_connect(s, endpoints, condition, use_await)", no, yes, , async_connect(w.client, w.range, [](error_code const&, tcp::endpoint const&) { return true; }, TOKEN))
OPERATION(iterator_connect, "async_connect of iterators", "net/connect.hpp", void(error_code, tcp::endpoint*), "async_connect(s, begin, end, use_await)", no, yes, , async_connect(w.client, w.range.data(), w.range.data() + 1, TOKEN))
OPERATION(iterator_connect_if, "async_connect of iterators with a condition", "net/connect.hpp", void(error_code, tcp::endpoint*), "async_connect(s, begin, end, condition, use_await)", no, yes, , async_connect(w.client, w.range.data(), w.range.data() + 1, [](error_code const&, tcp::endpoint const&) { return true; }, TOKEN))
OPERATION(read_all, "async_read", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, buffer, use_await)", yes, yes, , async_read(w.a, w.into(), TOKEN))
OPERATION(read_if, "async_read with a condition", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, buffer, condition, use_await)", no, yes, , async_read(w.a, w.into(), transfer_at_least(2), TOKEN))
OPERATION(read_dynamic, "async_read into a dynamic buffer", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, dynamic_buffer(text, 4), use_await)", no, yes, , async_read(w.a, dynamic_buffer(w.text, 4), TOKEN))
OPERATION(read_dynamic_if, "async_read into a dynamic buffer with a condition", "stream/read.hpp", void(error_code, std::size_t), "async_read(s, dynamic_buffer(text), condition, use_await)", no, yes, , async_read(w.a, dynamic_buffer(w.text), transfer_at_least(2), TOKEN))
OPERATION(read_until_text, "async_read_until", "stream/read_until.hpp", void(error_code, std::size_t), "async_read_until(s, dynamic_buffer(text), \"\\n\", use_await)", no, yes, , async_read_until(w.a, dynamic_buffer(w.text), "\n", TOKEN))
OPERATION(read_until_char, "async_read_until a character", "stream/read_until.hpp", void(error_code, std::size_t), "async_read_until(s, dynamic_buffer(text), '\\n', use_await)", no, yes, , async_read_until(w.a, dynamic_buffer(w.text), '\n', TOKEN))
OPERATION(write_all, "async_write", "stream/write.hpp", void(error_code, std::size_t), "async_write(s, buffer, use_await)", yes, yes, , async_write(w.a, w.out(), TOKEN))
OPERATION(write_if, "async_write with a condition", "stream/write.hpp", void(error_code, std::size_t), "async_write(s, buffer, condition, use_await)", no, yes, , async_write(w.a, w.out(), transfer_at_least(2), TOKEN))
OPERATION(write_dynamic, "async_write of a dynamic buffer", "stream/write.hpp", void(error_code, std::size_t), "async_write(s, dynamic_buffer(text), use_await)", no, yes, w.text = "text", async_write(w.a, dynamic_buffer(w.text), TOKEN))
OPERATION(buffered_read_some, "buffered_read_stream::async_read_some", "stream/buffered_read_stream.hpp", void(error_code, std::size_t), "s.async_read_some(buffer, use_await)", no, yes, , w.reads_ahead.async_read_some(w.into(), TOKEN))
OPERATION(buffered_fill, "buffered_read_stream::async_fill", "stream/buffered_read_stream.hpp", void(error_code, std::size_t), "s.async_fill(use_await)", no, yes, , w.reads_ahead.async_fill(TOKEN))
OPERATION(buffered_write_some, "buffered_write_stream::async_write_some", "stream/buffered_write_stream.hpp", void(error_code, std::size_t), "s.async_write_some(buffer, use_await)", no, yes, , w.collects.async_write_some(w.out(), TOKEN))
OPERATION(buffered_flush, "buffered_write_stream::async_flush", "stream/buffered_write_stream.hpp", void(error_code, std::size_t), "s.async_flush(use_await)", no, yes, w.collects.write_some(w.out()), w.collects.async_flush(TOKEN))
OPERATION(both_read_some, "buffered_stream::async_read_some", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_read_some(buffer, use_await)", no, yes, , w.buffers_both.async_read_some(w.into(), TOKEN))
OPERATION(both_fill, "buffered_stream::async_fill", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_fill(use_await)", no, yes, , w.buffers_both.async_fill(TOKEN))
OPERATION(both_write_some, "buffered_stream::async_write_some", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_write_some(buffer, use_await)", no, yes, , w.buffers_both.async_write_some(w.out(), TOKEN))
OPERATION(both_flush, "buffered_stream::async_flush", "stream/buffered_stream.hpp", void(error_code, std::size_t), "s.async_flush(use_await)", no, yes, w.buffers_both.write_some(w.out()), w.buffers_both.async_flush(TOKEN))
OPERATION(post_op, "post", "token/post.hpp", void(), "post(context, use_await)", yes, yes, , post(w.context, TOKEN))
OPERATION(defer_op, "defer", "token/post.hpp", void(), "defer(context, use_await)", yes, yes, , defer(w.context, TOKEN))
OPERATION(dispatch_op, "dispatch", "token/post.hpp", void(), "dispatch(context, use_await)", no, no, , dispatch(w.context, TOKEN))
OPERATION(immediate_op, "async_immediate", "token/immediate.hpp", void(), "async_immediate(context, use_await)", no, yes, , async_immediate(w.context, TOKEN))
OPERATION(spawn_op, "co_spawn", "coro/spawn.hpp", void(std::exception_ptr, int), "co_spawn(context, f(), use_await)", no, no, w.coroutine.emplace(seven()), co_spawn(w.context, std::move(*w.coroutine), TOKEN))
OPERATION(spawn_function, "co_spawn of a function", "coro/spawn.hpp", void(std::exception_ptr, int), "co_spawn(context, f, use_await)", no, no, , co_spawn(w.context, &seven, TOKEN))
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

bool is_good(error_code const& ec) { return !ec; }
bool is_good(std::exception_ptr const& e) { return !e; }
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

// ---- A2, A20, A23, B8: types

template <class Op, class Token> using result_of = decltype(Op::start(std::declval<world&>(), std::declval<Token>()));

/// if (x) return a(); else return b();
template <class A, class B, class Token> auto either(bool first, world& w, Token&& token) {
    if (first)
        return A::start(w, std::forward<Token>(token));
    else
        return B::start(w, std::forward<Token>(token));
}

template <class A, class B, class Token> constexpr bool same_result() {
    static_assert(std::is_same_v<result_of<A, Token>, result_of<B, Token>>);
    static_assert(std::is_same_v<decltype(either<A, B>(true, std::declval<world&>(), std::declval<Token>())),
                                 std::decay_t<result_of<A, Token>>>);
    return true;
}

template <class A, class B> constexpr bool same_for_every_token() {
    return same_result<A, B, use_await_t>() && same_result<A, B, deferred_t>() && same_result<A, B, detached_t>() &&
           same_result<A, B, use_future_t<>>() && same_result<A, B, callback>() &&
           same_result<A, B, move_only_callback>() && same_result<A, B, as_tuple_t<use_await_t>>() &&
           same_result<A, B, as_tuple_t<tuple_callback>>() && same_result<A, B, as_tuple_t<use_future_t<>>>() &&
           same_result<A, B, executor_binder<use_await_t, any_io_executor>>() &&
           same_result<A, B, executor_binder<callback, any_io_executor>>() &&
           same_result<A, B, allocator_binder<use_await_t, std::allocator<void>>>() &&
           same_result<A, B, allocator_binder<callback, std::allocator<void>>>();
}
template <class A, class B> constexpr bool same_for_adapters_of_errors() {
    if constexpr (has_error<typename A::signature>)
        return same_result<A, B, redirect_error_t<use_await_t>>() && same_result<A, B, redirect_error_t<callback>>();
    else
        return true;
}

/// The first operation of the list that has the signature of `Op`. To be the same type is transitive, so it stands for
/// all of them.
template <class Op, class First, class... Rest>
constexpr auto first_like(std::type_identity<std::tuple<First, Rest...>>) {
    if constexpr (std::is_same_v<typename Op::signature, typename First::signature>)
        return std::type_identity<First>();
    else
        return first_like<Op>(std::type_identity<std::tuple<Rest...>>());
}

TEST(Papers, A02_A20_ResultTypeDependsOnSignatureAndTokenAlone) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        using first = typename decltype(first_like<Op>(std::type_identity<operations>()))::type;
        static_assert(same_for_every_token<first, Op>());
        static_assert(same_for_adapters_of_errors<first, Op>());
    });
}

TEST(Papers, A20_EitherOfTwoOperationsRuns) {
    for (bool const first : {false, true}) {
        world w;
        int good = 0;
        either<timer_wait, socket_wait>(first, w, callback{&good});
        auto future = either<read_some, read_until_text>(first, w, use_future);
        co_spawn(
            w.context,
            [](world& in, bool x) -> awaitable<void> {
                co_await either<post_op, dispatch_op>(x, in, use_await);
                co_await either<write_some, write_all>(x, in, use_await);
            }(w, first),
            [&](std::exception_ptr e) { good += !e; });
        w.context.run();
        EXPECT_EQ(good, 2);
        EXPECT_EQ(future.get(), 4U);
    }
}

TEST(Papers, A23_SizeAndTypeOfAnOperationAreIndependentOfItsInside) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        static_assert(std::is_same_v<result_of<Op, use_await_t>, async_op<typename Op::signature>>);
        static_assert(sizeof(result_of<Op, use_await_t>) == sizeof(async_op<void()>));
        static_assert(std::is_nothrow_move_constructible_v<result_of<Op, use_await_t>>);
    });
    static_assert(sizeof(async_op<void()>) <= 64);
}

template <class Op> inline constexpr bool is_post = std::is_same_v<Op, post_op> || std::is_same_v<Op, defer_op>;

template <class Op, class Token> inline constexpr bool starts_nothrow =
    noexcept(Op::start(std::declval<world&>(), std::declval<Token>()));

TEST(Papers, B08_NoexceptIsExactlyAsPromised) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        if constexpr (!is_post<Op>) { // below
            static_assert(starts_nothrow<Op, use_await_t const&> == Op::nothrow);
            static_assert(starts_nothrow<Op, deferred_t const&> == Op::nothrow);
            static_assert(!starts_nothrow<Op, use_future_t<> const&>);
            static_assert(!starts_nothrow<Op, callback>);
        }
    });
}

TEST(Papers, B08_PostIsNoexceptAsPromised) {
    EXPECT_TRUE(noexcept(post_op::start(std::declval<world&>(), use_await)));
    EXPECT_TRUE(noexcept(defer_op::start(std::declval<world&>(), use_await)));
}

// ---- every operation with every token, at run time

/// Starts an operation in one form; adds one to `good` when it completed without an error.
using starter = void (*)(world&, int& good);

/// What does not depend on the form stands here, compiled once instead of for each operation with each token.
void expect_good(char const* name, void (*prepare)(world&), starter start) {
    SCOPED_TRACE(name);
    int good = 0;
    world w;
    prepare(w);
    EXPECT_NO_THROW(start(w, good));
    w.context.run();
    EXPECT_EQ(good, 1);
}
template <class Op> void expect_good(starter start) { expect_good(Op::name, &Op::prepare, start); }

void spawn(world& w, awaitable<void> body, int& good) {
    co_spawn(w.context, std::move(body), [&good](std::exception_ptr e) { good += !e; });
}

TEST(Papers, EveryOperationTakesACallback) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) { Op::start(w, callback{&good}); });
        expect_good<Op>([](world& w, int& good) { Op::start(w, move_only_callback{std::make_unique<int*>(&good)}); });
    });
}

TEST(Papers, EveryOperationIsAwaited) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) {
            spawn(w, [](world& in) -> awaitable<void> { co_await Op::start(in, use_await); }(w), good);
        });
        expect_good<Op>([](world& w, int& good) {
            spawn(
                w,
                [](world& in) -> awaitable<void> { co_await Op::start(in, bind_executor(in.context, use_await)); }(w),
                good);
        });
    });
}

TEST(Papers, EveryOperationIsDeferred) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) {
            auto op = Op::start(w, deferred);
            std::move(op)(callback{&good});
        });
    });
}

TEST(Papers, EveryOperationIsDetached) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        static_assert(std::is_void_v<result_of<Op, detached_t>>);
        expect_good<Op>([](world& w, int& good) {
            Op::start(w, detached);
            good += w.context.run() != 0;
        });
    });
}

TEST(Papers, EveryOperationGivesAFuture) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) {
            auto future = Op::start(w, use_future);
            w.context.run();
            (void)future.get();
            ++good;
        });
    });
}

TEST(Papers, EveryOperationThatCanBlockDoes) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        if constexpr (Op::blocks) {
            expect_good<Op>([](world& w, int& good) {
                (void)Op::start(w, block);
                ++good;
            });
            expect_good<Op>([](world& w, int& good) {
                error_code ec = error::eof;
                (void)Op::start(w, block[ec]);
                good += !ec;
            });
        }
    });
}

TEST(Papers, EveryOperationIsAdapted) {
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_good<Op>([](world& w, int& good) { Op::start(w, as_tuple(tuple_callback{&good})); });
        expect_good<Op>([](world& w, int& good) { Op::start(w, bind_executor(w.context, callback{&good})); });
        expect_good<Op>(
            [](world& w, int& good) { Op::start(w, bind_allocator(std::allocator<void>(), callback{&good})); });
        expect_good<Op>([](world& w, int& good) {
            spawn(w, [](world& in) -> awaitable<void> { co_await Op::start(in, as_tuple); }(w), good);
        });
        if constexpr (has_error<typename Op::signature>) {
            expect_good<Op>([](world& w, int& good) {
                error_code ec = error::eof;
                int called = 0;
                Op::start(w, redirect_error(callback{&called}, ec));
                w.context.run();
                good += called == 1 && !ec;
            });
        }
    });
}

// ---- A10: all memory of an operation is its handler's

struct memory {
    int taken = 0;
    int live = 0;
};
template <class T> struct handler_allocator {
    using value_type = T;
    memory* of;
    explicit handler_allocator(memory* m) noexcept : of(m) {}
    template <class U> handler_allocator(handler_allocator<U> const& o) noexcept : of(o.of) {}
    T* allocate(std::size_t n)
        requires(!std::is_void_v<T>)
    {
        ++of->taken;
        ++of->live;
        return static_cast<T*>(std::malloc(n * sizeof(T)));
    }
    void deallocate(T* p, std::size_t) noexcept
        requires(!std::is_void_v<T>)
    {
        --of->live;
        std::free(p);
    }
    template <class U> bool operator==(handler_allocator<U> const& o) const noexcept { return of == o.of; }
};
struct owning_callback {
    int* good;
    memory* of;
    using allocator_type = handler_allocator<void>;
    allocator_type get_allocator() const noexcept { return allocator_type(of); }
    template <class... Args> void operator()(Args&&... args) const {
        EXPECT_EQ(of->live, 0) << "given back before the handler runs";
        *good += all_good(args...);
    }
};

void expect_memory_of_the_handler(char const* name, void (*prepare)(world&), void (*start)(world&, owning_callback)) {
    SCOPED_TRACE(name);
    int good = 0;
    memory m;
    {
        world w;
        w.text.reserve(1024);                  // the buffer is its owner's,
        w.timer.async_wait([](error_code) {}); // and what the context keeps of its timers is the context's
        w.context.poll();
        w.context.restart();
        prepare(w);
        test::new_counter const from_new;
        auto const before = detail::recycler_count();
        start(w, owning_callback{&good, &m});
        auto const after = detail::recycler_count();
        bool const elsewhere = from_new.calls() != 0 || after.cached != before.cached;
        EXPECT_FALSE(elsewhere);
        w.context.run();
    }
    EXPECT_EQ(good, 1);
    EXPECT_GT(m.taken, 0);
    EXPECT_EQ(m.live, 0);
}

TEST(Papers, A10_OperationsTakeTheirMemoryFromTheHandlersAllocator) {
    if (!test::is_new_counted())
        GTEST_SKIP() << "operator new cannot be replaced in this build";
    for_each_operation([]<class Op>(std::type_identity<Op>) {
        expect_memory_of_the_handler(Op::name, &Op::prepare,
                                     [](world& w, owning_callback handler) { Op::start(w, std::move(handler)); });
    });
}

// ---- the list

struct row {
    std::string name, header, signature, expression, nothrow;
    friend bool operator==(row const&, row const&) = default;
    friend std::ostream& operator<<(std::ostream& out, row const& r) {
        return out << r.name << '\t' << r.header << '\t' << r.signature << '\t' << r.expression << '\t' << r.nothrow;
    }
};

TEST(Papers, OperationsTsvListsExactlyTheOperationsTestedHere) {
    std::vector<row> tested;
    auto const add = [&](char const* name, char const* header, char const* signature, char const* expression,
                         bool nothrow) {
        tested.push_back({name, std::string("fairlead/") += header, signature, expression, nothrow ? "yes" : "no"});
    };
    for_each_operation(
        [&]<class Op>(std::type_identity<Op>) { add(Op::name, Op::header, Op::text, Op::expression, Op::nothrow); });
    std::ifstream file(FAIRLEAD_SOURCE_DIR "/tests/operations.tsv");
    ASSERT_TRUE(file);
    std::vector<row> listed;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        row r;
        std::size_t at = 0;
        for (auto* const field : {&r.name, &r.header, &r.signature, &r.expression, &r.nothrow}) {
            auto const end = line.find('\t', at);
            *field = line.substr(at, end - at);
            at = end == std::string::npos ? line.size() : end + 1;
        }
        listed.push_back(r);
    }
    EXPECT_EQ(listed, tested);
}

} // namespace
