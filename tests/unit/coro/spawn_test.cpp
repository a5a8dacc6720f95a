#include <fairlead/coro/spawn.hpp>

#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/buffered_read_stream.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <gtest/gtest.h>

#include <optional>

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using ip::tcp;

struct no_default {
    explicit no_default(int v) : value(v) {}
    int value;
};
awaitable<no_default> make(bool fails) {
    if (fails)
        throw std::runtime_error("no value");
    co_return no_default(7);
}
awaitable<int&> lend(int& from) { co_return from; }

awaitable<int> compute(std::thread::id& where, int value) {
    where = std::this_thread::get_id();
    if (value < 0)
        throw std::invalid_argument("below zero");
    co_return value;
}
awaitable<void> leave_it_to(thread_pool& pool, std::thread::id& where) {
    auto const home = std::this_thread::get_id();
    EXPECT_EQ(co_await co_spawn(pool, compute(where, 7)), 7);
    EXPECT_EQ(std::this_thread::get_id(), home);
    bool has_failed = false;
    try {
        co_await co_spawn(pool, compute(where, -1));
    } catch (std::invalid_argument const&) {
        has_failed = true;
    }
    EXPECT_TRUE(has_failed);
    EXPECT_EQ(std::this_thread::get_id(), home);
}

TEST(Spawn, Y4_ChildOnAPoolRunsThereAndItsParentGoesOnAtHome) {
    thread_pool pool(1);
    io_context ctx(1);
    auto worked = std::this_thread::get_id();
    co_spawn(ctx, leave_it_to(pool, worked), rethrow);
    ctx.run();
    EXPECT_NE(worked, std::this_thread::get_id());
}

TEST(Spawn, Y2_ValuesWithoutDefaultConstructorArriveInAnOptional) {
    io_context ctx(1);
    int seen = 0;
    co_spawn(ctx, make(false), [&](std::exception_ptr e, std::optional<no_default> v) { seen = e ? -1 : v->value; });
    bool empty = false;
    co_spawn(ctx, make(true), [&](std::exception_ptr e, std::optional<no_default> v) { empty = e && !v; });
    co_spawn(ctx, make(true), detached);
    ctx.run();
    EXPECT_EQ(seen, 7);
    EXPECT_TRUE(empty);
}

TEST(Spawn, Y2_ReferencesArriveAsPointers) {
    io_context ctx(1);
    int lent = 3;
    int* seen = nullptr;
    co_spawn(ctx, lend(lent), [&](std::exception_ptr, int* p) { seen = p; });
    ctx.run();
    EXPECT_EQ(seen, &lent);
}

TEST(Spawn, Y5_RethrowLetsWhatACoroutineThrowsLeaveRun) {
    io_context ctx(1);
    co_spawn(ctx, make(true), rethrow);
    EXPECT_THROW(ctx.run(), std::runtime_error);
    EXPECT_EQ(ctx.run(), 0U) << "the context stays usable";
}

TEST(Spawn, Y5_RethrowIsSilentWhenNothingIsThrown) {
    io_context ctx(1);
    co_spawn(ctx, make(false), rethrow);
    EXPECT_NO_THROW(ctx.run());
}

awaitable<void> await_of(awaitable<void> a) { co_await std::move(a); }

TEST(SpawnDeathTest, Y5_AnEmptyAwaitableSaysWhatItIs) {
    io_context ctx(1);
    EXPECT_DEATH(
        {
            co_spawn(ctx, await_of(awaitable<void>()), detached);
            ctx.run();
        },
        "this awaitable has no coroutine: it was never given one, or moved or awaited before");
    EXPECT_DEATH(
        {
            co_spawn(ctx, awaitable<void>(), detached);
            ctx.run();
        },
        "this awaitable has no coroutine: it was never given one, or moved or spawned before");
}

/// The exception of `function`, as text.
template <class Function> std::string thrown_by(Function function) {
    try {
        function();
    } catch (system_error const& e) {
        return e.what();
    }
    return "nothing";
}
/// The exception of awaiting `a`, as text.
std::string thrown_by(io_context& ctx, awaitable<void> a) {
    ctx.restart();
    co_spawn(ctx, std::move(a), rethrow);
    return thrown_by([&] { ctx.run(); });
}
std::string message(error::basic_errors e) { return error_code(e).message(); }
std::string message_of(error::misc_errors e) { return error_code(e).message(); }

TEST(Messages, Y5_ABlockingCallNamesItsOperationAndEndpoint) {
    io_context ctx(1);
    tcp::acceptor taken(ctx, {ip::address_v4::loopback(), 0});
    auto const where = taken.local_endpoint();
    std::string const place = "127.0.0.1:" + std::to_string(where.port());
    EXPECT_EQ(thrown_by([&] { tcp::acceptor(ctx, where); }),
              "bind to " + place + ": " + message(error::address_in_use));
    taken.close();
    tcp::socket socket(ctx);
    EXPECT_EQ(thrown_by([&] { socket.connect(where); }),
              "connect to " + place + ": " + message(error::connection_refused));
    tcp::acceptor closed(ctx);
    EXPECT_EQ(thrown_by([&] { closed.listen(); }), "listen: " + message(error::bad_descriptor));
    tcp::socket open(ctx, tcp::v4());
    EXPECT_EQ(thrown_by([&] { open.set_option(ip::unicast::hops(1000)); }),
              "set_option (level 0, option 2): " + message(error::invalid_argument));
}

awaitable<void> connect(tcp::endpoint where) {
    tcp::socket socket(co_await this_coro::executor);
    co_await socket.async_connect(where);
}
awaitable<void> read_closed() {
    tcp::socket socket(co_await this_coro::executor);
    char byte[1];
    co_await socket.async_read_some(buffer(byte));
}
awaitable<void> accept_closed() {
    tcp::acceptor acceptor(co_await this_coro::executor);
    co_await acceptor.async_accept();
}
awaitable<void> look_up() {
    tcp::resolver resolver(co_await this_coro::executor);
    co_await resolver.async_resolve("127.0.0.1", "no-such-service", tcp::resolver::numeric_service);
}
awaitable<void> wait_in_vain() {
    steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
    post(timer.get_executor(), [&timer] { timer.cancel(); });
    co_await timer.async_wait();
}

awaitable<void> connect_within_a_second(tcp::endpoint where) {
    tcp::socket socket(co_await this_coro::executor);
    co_await socket.async_connect(where, cancel_after(std::chrono::seconds(1)));
}
awaitable<void> send_to_no_port() {
    ip::udp::socket socket(co_await this_coro::executor, ip::udp::v4());
    ip::udp::endpoint const nobody(ip::address_v4::loopback(), 0);
    co_await socket.async_send_to(buffer("x", 1), nobody);
}
awaitable<void> receive_closed() {
    ip::udp::socket socket(co_await this_coro::executor);
    char byte[1];
    ip::udp::endpoint from;
    co_await socket.async_receive_from(buffer(byte), from);
}
awaitable<void> read_a_line_of_what_is_closed() {
    tcp::socket socket(co_await this_coro::executor);
    std::string line;
    co_await async_read_until(socket, dynamic_buffer(line), '\n');
}
awaitable<void> wait_for_a_signal_in_vain() {
    signal_set set(co_await this_coro::executor, SIGUSR1);
    post(set.get_executor(), [&set] { set.cancel(); });
    co_await set.async_wait();
}

TEST(Messages, Y5_EveryOperationHasANameOfItsOwn) {
    io_context ctx(1);
    tcp::acceptor gone(ctx, {ip::address_v4::loopback(), 0});
    auto const where = gone.local_endpoint();
    gone.close();
    auto const refused =
        "connect to 127.0.0.1:" + std::to_string(where.port()) + ": " + message(error::connection_refused);
    EXPECT_EQ(thrown_by(ctx, connect_within_a_second(where)), refused);
    EXPECT_EQ(thrown_by(ctx, send_to_no_port()), "send_to 127.0.0.1:0: " + message(error::invalid_argument));
    EXPECT_EQ(thrown_by(ctx, receive_closed()), "receive_from: " + message(error::bad_descriptor));
    EXPECT_EQ(thrown_by(ctx, read_a_line_of_what_is_closed()), "read_until: " + message(error::bad_descriptor));
    EXPECT_EQ(thrown_by(ctx, wait_for_a_signal_in_vain()), "wait for a signal: " + message(error::operation_aborted));
    tcp::socket socket(ctx);
    EXPECT_EQ(thrown_by([&] { socket.async_connect(where, block); }), refused);
    EXPECT_EQ(thrown_by([&] {
                  tcp::socket another(ctx);
                  auto connected = another.async_connect(where, use_future);
                  ctx.restart();
                  ctx.run();
                  connected.get();
              }),
              refused);
    EXPECT_EQ(thrown_by([&] { async_connect(socket, std::vector<tcp::endpoint>{where}, block); }),
              "connect to one of several endpoints: " + message(error::connection_refused));
    ip::udp::socket sender(ctx, ip::udp::v4());
    EXPECT_EQ(thrown_by([&] { sender.send_to(buffer("x", 1), {ip::address_v4::loopback(), 0}); }),
              "send_to 127.0.0.1:0: " + message(error::invalid_argument));
    signal_set set(ctx);
    EXPECT_EQ(thrown_by([&] { set.add(999); }), "add signal 999: " + message(error::invalid_argument));
    EXPECT_EQ(thrown_by([] { static_cast<void>(ip::make_address("1.2.3")); }),
              "make_address 1.2.3: " + message(error::invalid_argument));
    EXPECT_EQ(thrown_by([] { local::stream_protocol::endpoint const too_long(std::string(200, 'x')); }),
              "local endpoint " + std::string(64, 'x') + ": " + message(error::name_too_long));
}

TEST(Messages, Y5_AnAwaitNamesItsOperationAndEndpoint) {
    io_context ctx(1);
    tcp::acceptor gone(ctx, {ip::address_v4::loopback(), 0});
    auto const where = gone.local_endpoint();
    gone.close();
    EXPECT_EQ(thrown_by(ctx, connect(where)),
              "connect to 127.0.0.1:" + std::to_string(where.port()) + ": " + message(error::connection_refused));
    EXPECT_EQ(thrown_by(ctx, read_closed()), "read: " + message(error::bad_descriptor));
    EXPECT_EQ(thrown_by(ctx, accept_closed()), "accept: " + message(error::bad_descriptor));
    EXPECT_EQ(thrown_by(ctx, look_up()).rfind("resolve 127.0.0.1:no-such-service: ", 0), 0U);
    EXPECT_EQ(thrown_by(ctx, wait_in_vain()), "wait: " + message(error::operation_aborted));
}

struct connection_of_messages {
    io_context ctx{1};
    tcp::acceptor acceptor{ctx, {ip::address_v4::loopback(), 0}};
    tcp::socket here{ctx}, there{ctx};
    std::string listening = text_of(acceptor.local_endpoint());
    std::string far, near;
    char byte[1] = {};

    static std::string text_of(tcp::endpoint const& e) { return "127.0.0.1:" + std::to_string(e.port()); }
    connection_of_messages() {
        here.connect(acceptor.local_endpoint());
        acceptor.accept(there);
        far = text_of(here.remote_endpoint());
        near = text_of(here.local_endpoint());
    }
    template <class Token> awaitable<void> read(Token token) { co_await here.async_read_some(buffer(byte), token); }
    awaitable<void> write() { co_await async_write(here, buffer(byte)); }
    void cancel_soon() {
        post(ctx, [this] { acceptor.cancel(); });
    }
    awaitable<void> accept() {
        cancel_soon();
        co_await acceptor.async_accept();
    }
    awaitable<void> accept_there() {
        cancel_soon();
        co_await acceptor.async_accept(there);
    }
};

TEST(Messages, Y5_AReadThatFailsNamesThePeer) {
    connection_of_messages c;
    c.there.close();
    auto const expected = "read from " + c.far + ": " + message_of(error::eof);
    EXPECT_EQ(thrown_by(c.ctx, c.read(use_await)), expected);
    EXPECT_EQ(thrown_by(c.ctx, c.read(cancel_after(std::chrono::seconds(9)))), expected);
    EXPECT_EQ(thrown_by([&] { c.here.async_read_some(buffer(c.byte), block); }), expected);
    EXPECT_EQ(thrown_by([&] { c.here.read_some(buffer(c.byte)); }),
              "read_some from " + c.far + ": " + message_of(error::eof));
}

TEST(Messages, Y5_AReadWhosePeerIsForgottenNamesItsOwnEnd) {
    connection_of_messages c;
    c.there.set_option(socket_base::linger(true, 0));
    c.there.close();
    EXPECT_EQ(thrown_by(c.ctx, c.read(use_await)), "read on " + c.near + ": " + message(error::connection_reset));
    EXPECT_EQ(thrown_by(c.ctx, c.write()), "write on " + c.near + ": " + message(error::broken_pipe));
}

TEST(Messages, Y5_AnAcceptThatFailsNamesWhereItListens) {
    connection_of_messages c;
    auto const expected = "accept on " + c.listening + ": " + message(error::operation_aborted);
    EXPECT_EQ(thrown_by(c.ctx, c.accept()), expected);
    c.there.close();
    EXPECT_EQ(thrown_by(c.ctx, c.accept_there()), expected);
}

awaitable<void> connect_to_found(tcp::resolver::results_type found) {
    tcp::socket socket(co_await this_coro::executor);
    co_await async_connect(socket, found);
}

TEST(Messages, Y5_ConnectingToWhatWasFoundNamesWhatWasLookedUp) {
    io_context ctx(1);
    tcp::acceptor gone(ctx, {ip::address_v4::loopback(), 0});
    auto const where = gone.local_endpoint();
    gone.close();
    auto const refused = ": " + message(error::connection_refused);
    auto const one = tcp::resolver::results_type::create(where, "db.example", "6379");
    EXPECT_EQ(thrown_by(ctx, connect_to_found(one)), "connect to db.example:6379" + refused);
    std::vector<tcp::endpoint> const several{where, where};
    auto const two = tcp::resolver::results_type::create(several.begin(), several.end(), "db.example", "6379");
    EXPECT_EQ(thrown_by(ctx, connect_to_found(two)), "connect to db.example:6379 (each of 2 endpoints)" + refused);
    tcp::socket socket(ctx);
    EXPECT_EQ(thrown_by([&] { connect(socket, one); }), "connect to db.example:6379" + refused);
    EXPECT_EQ(thrown_by([&] { async_connect(socket, two, block); }),
              "connect to db.example:6379 (each of 2 endpoints)" + refused);
}

TEST(Messages, Y5_ConnectingToEndpointsOfTheProgramNamesTheFirst) {
    io_context ctx(1);
    tcp::acceptor gone(ctx, {ip::address_v4::loopback(), 0});
    auto const where = gone.local_endpoint();
    gone.close();
    auto const place = "connect to 127.0.0.1:" + std::to_string(where.port());
    auto const refused = ": " + message(error::connection_refused);
    tcp::socket socket(ctx);
    EXPECT_EQ(thrown_by([&] { connect(socket, std::vector{where}); }), place + refused);
    EXPECT_EQ(thrown_by([&] { connect(socket, std::array{where, where}); }), place + " and to 1 other" + refused);
    EXPECT_EQ(thrown_by([&] { async_connect(socket, std::array{where, where, where}, block); }),
              place + " and to 2 others" + refused);
}

TEST(Messages, Y5_OperationsOnStreamsNameThePeerOfTheirSocket) {
    connection_of_messages c;
    c.there.close();
    auto const end = c.far + ": " + message_of(error::eof);
    EXPECT_EQ(thrown_by([&] { read(c.here, buffer(c.byte)); }), "read from " + end);
    std::string text;
    EXPECT_EQ(thrown_by([&] { read_until(c.here, dynamic_buffer(text), '\n'); }), "read_until from " + end);
    buffered_read_stream<tcp::socket&> buffered(c.here);
    EXPECT_EQ(thrown_by([&] { buffered.read_some(buffer(c.byte)); }), "read_some from " + end);
    EXPECT_EQ(thrown_by([&] { buffered.fill(); }), "fill from " + end);
    EXPECT_EQ(thrown_by([&] { read(buffered, buffer(c.byte)); }), "read from " + end);
}

TEST(Messages, Y5_WritesThatFailNameTheirOwnEndWhenThePeerIsForgotten) {
    connection_of_messages c;
    c.there.set_option(socket_base::linger(true, 0));
    c.there.close();
    EXPECT_EQ(thrown_by([&] { c.here.read_some(buffer(c.byte)); }),
              "read_some on " + c.near + ": " + message(error::connection_reset));
    EXPECT_EQ(thrown_by([&] { write(c.here, buffer("x", 1)); }),
              "write on " + c.near + ": " + message(error::broken_pipe));
    EXPECT_EQ(thrown_by([&] { c.here.remote_endpoint(); }),
              "remote_endpoint on " + c.near + ": " + message(error::not_connected));
    EXPECT_EQ(thrown_by([&] { c.here.shutdown(tcp::socket::shutdown_send); }),
              "shutdown on " + c.near + ": " + message(error::not_connected));
}

TEST(Messages, Y5_DatagramSocketsNameTheirOwnEnd) {
    io_context ctx(1);
    ip::udp::socket socket(ctx, {ip::address_v4::loopback(), 0});
    socket.non_blocking(true);
    auto const place = " on 127.0.0.1:" + std::to_string(socket.local_endpoint().port()) + ": ";
    char byte[1];
    ip::udp::endpoint sender;
    EXPECT_EQ(thrown_by([&] { socket.receive_from(buffer(byte), sender); }),
              "receive_from" + place + message(error::would_block));
    EXPECT_EQ(thrown_by([&] { socket.receive(buffer(byte)); }), "receive" + place + message(error::would_block));
}

template <class Buffers> awaitable<void> receive_and_cancel(ip::udp::socket& s, Buffers into) {
    post(s.get_executor(), [&s] { s.cancel(); });
    ip::udp::endpoint sender;
    co_await s.async_receive_from(into, sender);
}

TEST(Messages, Y5_AnAwaitedDatagramNamesItsOwnEnd) {
    io_context ctx(1);
    ip::udp::socket socket(ctx, {ip::address_v4::loopback(), 0});
    auto const expected = "receive_from on 127.0.0.1:" + std::to_string(socket.local_endpoint().port()) + ": " +
                          message(error::operation_aborted);
    char a[1], b[1];
    EXPECT_EQ(thrown_by(ctx, receive_and_cancel(socket, buffer(a))), expected);
    EXPECT_EQ(thrown_by(ctx, receive_and_cancel(socket, std::array{buffer(a), buffer(b)})), expected);
}

TEST(Messages, Y5_SocketsWithoutNamesHaveNoneInMessages) {
    io_context ctx(1);
    local::stream_protocol::socket a(ctx), b(ctx);
    local::connect_pair(a, b);
    b.close();
    char byte[1];
    EXPECT_EQ(thrown_by([&] { a.async_read_some(buffer(byte), block); }), "read: " + message_of(error::eof));
}

std::string told;
void tell(std::exception_ptr e) noexcept {
    try {
        std::rethrow_exception(std::move(e));
    } catch (std::exception const& x) {
        told += x.what();
    }
}

TEST(Spawn, ADetachedCoroutineThatThrowsIsToldToAHook) {
    auto const usual = set_detached_exception_hook(&tell);
    io_context context;
    auto const fails = []() -> awaitable<int> {
        throw std::runtime_error("one;");
        co_return 1;
    };
    auto const ends = [&]() -> awaitable<void> {
        steady_timer t(context, std::chrono::hours(1));
        t.cancel();
        throw system_error(error::make_error_code(error::operation_aborted));
        co_return;
    };
    co_spawn(context, fails(), detached);
    co_spawn(context, fails, bind_executor(context, detached));
    co_spawn(context, ends(), detached);
    context.run();
    EXPECT_EQ(told, "one;one;");
    EXPECT_EQ(set_detached_exception_hook(nullptr), &tell);
    co_spawn(context, fails(), detached);
    context.restart();
    context.run();
    EXPECT_EQ(told, "one;one;");
    set_detached_exception_hook(usual);
    testing::internal::CaptureStderr();
    co_spawn(context, fails(), detached);
    context.restart();
    context.run();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "fairlead: a detached coroutine has thrown: one;\n");
}

} // namespace
