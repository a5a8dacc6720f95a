// Operations with null_buffers: they wait for readiness, say 0 bytes, and leave what is there where it is.
#include <fairlead/legacy/null_buffers.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/descriptor.hpp>
#include <fairlead/net/pipe.hpp>
#include <fairlead/net/seq_packet_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace fairlead;
using ip::tcp;
using stream = local::stream_protocol::socket;
using datagram = local::datagram_protocol::socket;
using seq_packet = local::seq_packet_protocol::socket;

static_assert(mutable_buffer_sequence<null_buffers> && const_buffer_sequence<null_buffers>);
static_assert(!impl::base::is_single_buffer<null_buffers>);

struct NullBuffers : testing::Test {
    auto store() {
        return [this](error_code e, std::size_t k) {
            ++calls;
            ec = e;
            n = k;
        };
    }
    void poll() {
        context.restart();
        context.poll();
    }
    bool succeeded() const { return calls == 1 && !ec && n == 0; }
    /// Starts, finds that it waits, makes it ready, and finds that it has come to its end.
    template <class Start, class MakeReady> void waits(Start start, MakeReady make_ready) {
        calls = 0;
        n = 99;
        start(store());
        poll();
        EXPECT_EQ(calls, 0) << "it did not wait";
        make_ready();
        poll();
        EXPECT_TRUE(succeeded()) << calls << " calls, " << n << " bytes, " << ec.message();
    }
    /// Writes until there is no space.
    template <class Stream> std::size_t fill(Stream& s) {
        s.non_blocking(true);
        std::vector<char> const chunk(4096);
        std::size_t total = 0;
        for (error_code full; !full;)
            total += s.write_some(buffer(chunk), full);
        return total;
    }
    template <class Stream> void drain(Stream& s, std::size_t total) {
        std::vector<char> all(total);
        EXPECT_EQ(read(s, buffer(all)), total);
    }

    io_context context;
    int calls = 0;
    error_code ec;
    std::size_t n = 99;
    char bytes[8] = {};
};

TEST_F(NullBuffers, ReceivesOfAStreamWaitAndLeaveTheBytes) {
    stream a(context), b(context);
    local::connect_pair(a, b);
    auto const arrives = [&] { b.write_some(buffer("abc", 3)); };
    auto const check = [&] {
        EXPECT_EQ(a.available(), 3U);
        EXPECT_EQ(a.read_some(buffer(bytes)), 3U);
        EXPECT_EQ(std::string_view(bytes, 3), "abc");
    };
    waits([&](auto h) { a.async_read_some(null_buffers(), h); }, arrives);
    check();
    waits([&](auto h) { a.async_receive(null_buffers(), h); }, arrives);
    check();
    waits([&](auto h) { a.async_receive(null_buffers(), socket_base::message_peek, h); }, arrives);
    check();
    waits([&](auto h) { async_read(a, null_buffers(), h); }, arrives);
    check();
    waits([&](auto h) { async_read(a, null_buffers(), transfer_at_least(7), h); }, arrives);
    check();
}

TEST_F(NullBuffers, SendsOfAStreamWaitForRoom) {
    stream a(context), b(context);
    local::connect_pair(a, b);
    std::size_t sent = 0;
    auto const space = [&] { drain(b, sent); };
    sent = fill(a);
    waits([&](auto h) { a.async_write_some(null_buffers(), h); }, space);
    sent = fill(a);
    waits([&](auto h) { a.async_send(null_buffers(), h); }, space);
    sent = fill(a);
    waits([&](auto h) { a.async_send(null_buffers(), 0, h); }, space);
    sent = fill(a);
    waits([&](auto h) { async_write(a, null_buffers(), h); }, space);
    EXPECT_EQ(b.available(), 0U);
}

TEST_F(NullBuffers, InTheCallingThreadTheyLookAtReadinessToo) {
    stream a(context), b(context);
    local::connect_pair(a, b);
    a.non_blocking(true);
    EXPECT_EQ(a.read_some(null_buffers(), ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    EXPECT_EQ(a.receive(null_buffers(), 0, ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    EXPECT_THROW(a.receive(null_buffers()), system_error);
    EXPECT_EQ(a.write_some(null_buffers()), 0U);
    EXPECT_EQ(a.send(null_buffers()), 0U);
    EXPECT_EQ(write(a, null_buffers()), 0U);
    auto const sent = fill(a);
    EXPECT_EQ(a.send(null_buffers(), 0, ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    drain(b, sent);

    b.write_some(buffer("abc", 3));
    EXPECT_EQ(a.read_some(null_buffers(), ec), 0U);
    EXPECT_FALSE(ec);
    EXPECT_EQ(a.receive(null_buffers(), 0), 0U);
    EXPECT_EQ(read(a, null_buffers()), 0U);
    EXPECT_EQ(a.available(), 3U);
}

TEST_F(NullBuffers, TheCallingThreadWaits) {
    stream a(context), b(context);
    local::connect_pair(a, b);
    std::thread writer([&] { b.write_some(buffer("abc", 3)); });
    EXPECT_EQ(a.receive(null_buffers()), 0U);
    EXPECT_EQ(a.available(), 3U);
    writer.join();
}

TEST_F(NullBuffers, OutOfBandDataIsWhatTheFlagSays) {
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket a(context);
    a.connect(acceptor.local_endpoint());
    tcp::socket b = acceptor.accept();
    auto const urgent = socket_base::message_out_of_band;
    b.send(buffer("ab", 2));
    a.wait(socket_base::wait_read);
    a.non_blocking(true);
    EXPECT_EQ(a.receive(null_buffers(), urgent, ec), 0U);
    EXPECT_EQ(ec, error::would_block) << "what is there is no out-of-band data";
    waits([&](auto h) { a.async_receive(null_buffers(), urgent, h); },
          [&] {
              b.send(buffer("!", 1), urgent);
              a.wait(socket_base::wait_error, ec);
              while (ec == error::would_block) // It is on its way.
                  a.wait(socket_base::wait_error, ec);
          });
    EXPECT_EQ(a.receive(buffer(bytes), urgent), 1U);
    EXPECT_EQ(bytes[0], '!');
}

TEST_F(NullBuffers, DatagramsStayWhereTheyAreAndHaveNoSenderYet) {
    datagram a(context), b(context);
    local::connect_pair(a, b);
    datagram::endpoint_type who("somebody");
    auto const arrives = [&] { b.send(buffer("abc", 3)); };
    auto const check = [&] { EXPECT_EQ(a.receive(buffer(bytes)), 3U); };
    waits([&](auto h) { a.async_receive(null_buffers(), h); }, arrives);
    check();
    waits([&](auto h) { a.async_receive(null_buffers(), 0, h); }, arrives);
    check();
    waits([&](auto h) { a.async_receive_from(null_buffers(), who, h); }, arrives);
    EXPECT_EQ(who, datagram::endpoint_type());
    check();
    who = datagram::endpoint_type("somebody");
    waits([&](auto h) { a.async_receive_from(null_buffers(), who, 0, h); }, arrives);
    EXPECT_EQ(who, datagram::endpoint_type());
    check();

    a.non_blocking(true);
    EXPECT_EQ(a.receive_from(null_buffers(), who, ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    EXPECT_EQ(a.receive(null_buffers(), ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    arrives();
    EXPECT_EQ(a.receive_from(null_buffers(), who), 0U);
    EXPECT_EQ(a.receive_from(null_buffers(), who, 0, ec), 0U);
    EXPECT_FALSE(ec);
    check();
}

TEST_F(NullBuffers, NoDatagramIsSent) {
    datagram a(context), b(context);
    local::connect_pair(a, b);
    std::size_t sent = 0;
    auto const fill_up = [&] {
        a.non_blocking(true);
        for (error_code full; !full; sent += !full)
            a.send(buffer("x", 1), 0, full);
    };
    auto const space = [&] {
        for (; sent != 0; --sent)
            EXPECT_EQ(b.receive(buffer(bytes)), 1U);
    };
    datagram::endpoint_type const nobody("nobody/is/here");
    fill_up();
    waits([&](auto h) { a.async_send(null_buffers(), h); }, space);
    fill_up();
    waits([&](auto h) { a.async_send_to(null_buffers(), nobody, h); }, space);
    fill_up();
    EXPECT_EQ(a.send_to(null_buffers(), nobody, ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    space();
    EXPECT_EQ(a.send_to(null_buffers(), nobody), 0U);
    EXPECT_EQ(a.send(null_buffers()), 0U);
    EXPECT_EQ(b.available(), 0U);
}

TEST_F(NullBuffers, PacketsHaveNoFlagsYet) {
    seq_packet a(context), b(context);
    local::connect_pair(a, b);
    socket_base::message_flags flags = -1;
    waits([&](auto h) { a.async_receive(null_buffers(), flags, h); }, [&] { b.send(buffer("abc", 3), 0); });
    EXPECT_EQ(flags, 0);
    flags = -1;
    EXPECT_EQ(a.receive(null_buffers(), 0, flags, ec), 0U);
    EXPECT_EQ(flags, 0);
    EXPECT_EQ(a.receive(buffer(bytes), flags), 3U);
    a.async_send(null_buffers(), 0, store());
    calls = 0;
    poll();
    EXPECT_TRUE(succeeded());
    EXPECT_EQ(b.available(), 0U);
}

TEST_F(NullBuffers, PipesAndDescriptorsWaitToo) {
    readable_pipe reads(context);
    writable_pipe writes(context);
    connect_pipe(reads, writes);
    waits([&](auto h) { reads.async_read_some(null_buffers(), h); }, [&] { writes.write_some(buffer("abc", 3)); });
    EXPECT_EQ(reads.read_some(null_buffers()), 0U);
    posix::stream_descriptor in(context, reads.release()), out(context, writes.release());
    in.async_read_some(null_buffers(), store());
    calls = 0;
    poll();
    EXPECT_TRUE(succeeded());
    EXPECT_EQ(in.read_some(buffer(bytes)), 3U);
    waits([&](auto h) { in.async_read_some(null_buffers(), h); }, [&] { out.write_some(buffer("abc", 3)); });
    EXPECT_EQ(in.read_some(buffer(bytes)), 3U);
    auto const sent = fill(out);
    EXPECT_EQ(out.write_some(null_buffers(), ec), 0U);
    EXPECT_EQ(ec, error::would_block);
    waits([&](auto h) { out.async_write_some(null_buffers(), h); }, [&] { drain(in, sent); });
}

TEST_F(NullBuffers, CanBeCancelledAndFailOnWhatIsClosed) {
    stream a(context), b(context);
    local::connect_pair(a, b);
    a.async_read_some(null_buffers(), store());
    poll();
    a.cancel();
    poll();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_EQ(n, 0U);
    a.close();
    a.async_read_some(null_buffers(), store());
    poll();
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(ec, error::bad_descriptor);
    EXPECT_EQ(a.read_some(null_buffers(), ec), 0U);
    EXPECT_EQ(ec, error::bad_descriptor);
}

TEST_F(NullBuffers, CanBeAwaited) {
    stream a(context), b(context);
    local::connect_pair(a, b);
    std::string order;
    co_spawn(
        context,
        [](stream& s, std::string& o) -> awaitable<void> {
            auto const k = co_await s.async_read_some(null_buffers(), use_await);
            o += k == 0 && s.available() == 3 ? "ready" : "?";
        }(a, order),
        detached);
    poll();
    order += "waiting ";
    b.write_some(buffer("abc", 3));
    poll();
    EXPECT_EQ(order, "waiting ready");
}

TEST_F(NullBuffers, WaitInASimulatedWorldToo) {
    sim::world world(1);
    auto& here = world.context();
    stream a(here), b(here);
    local::connect_pair(a, b);
    a.async_read_some(null_buffers(), store());
    steady_timer later(here, std::chrono::hours(1));
    later.async_wait([&](error_code) {
        EXPECT_EQ(calls, 0);
        b.async_write_some(buffer("abc", 3), detached);
    });
    world.run();
    EXPECT_TRUE(succeeded());
    EXPECT_NE(a.available(), 0U); // A simulated write may be short.
}

/// A layer that knows nothing of them but passes on what it is given.
struct layer {
    using executor_type = io_context::executor_type;
    executor_type executor;
    int seen = 0;

    executor_type get_executor() const noexcept { return executor; }
    template <class Buffers, class Token> decltype(auto) async_read_some(Buffers const&, Token&& token) {
        seen += std::same_as<Buffers, null_buffers>;
        return async_initiate<Token, void(error_code, std::size_t)>(
            [](auto handler) { std::move(handler)(error_code(), std::size_t{0}); }, token);
    }
};

TEST_F(NullBuffers, AlgorithmsPassThemOnToTheStream) {
    layer l{context.get_executor()};
    async_read(l, null_buffers(), store());
    EXPECT_EQ(l.seen, 1);
    EXPECT_TRUE(succeeded());
}

} // namespace
