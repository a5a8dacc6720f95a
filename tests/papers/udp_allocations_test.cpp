// Allocations of datagram operations once everything is warm: none. As in allocations_test.cpp, for sockets that send
// to themselves.
#include <support/counting_new.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <exception>
#include <string>

#include <unistd.h>

namespace {

using namespace fairlead;
using fairlead::test::new_counter;
using ip::udp;
using datagram_socket = local::datagram_protocol::socket;

struct DatagramAlloc : testing::Test {
    static constexpr int warm_up = 64, measured = 200;

    /// Awaits `make(i)` over and over. Returns what global new was asked for after the warm-up; blocks that did not fit
    /// into the await record count in `overflows`.
    template <class Make> std::uint64_t of_awaits(Make make) {
        std::uint64_t allocated = 99;
        overflows = 99;
        co_spawn(
            context,
            [](DatagramAlloc& t, Make& m, std::uint64_t& out) -> awaitable<void> {
                for (int i = 0; i != warm_up; ++i)
                    co_await m(i);
                auto const before = impl::exec::this_thread.record_overflows;
                new_counter const counter;
                for (int i = 0; i != measured; ++i)
                    co_await m(i);
                out = counter.calls();
                t.overflows = impl::exec::this_thread.record_overflows - before;
                if (t.partner)
                    t.partner->cancel();
            }(*this, make, allocated),
            [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
        context.restart();
        context.run();
        return allocated;
    }
    /// How many blocks of the recycler the operation holds before it is started.
    template <class Make> static std::uint64_t blocks_of(Make make) {
        {
            auto const warm = make();
        }
        auto const before = impl::exec::recycler_count().cached;
        auto const o = make();
        return before - impl::exec::recycler_count().cached;
    }

    io_context context;
    udp::socket* partner = nullptr; ///< who is to be cancelled at the end
    std::uint64_t overflows = 99;
    char bytes[64] = {};
};

TEST_F(DatagramAlloc, AwaitedSendToAndReceiveFromTakeNothing) {
    udp::socket s(context, {ip::address_v4::loopback(), 0});
    auto const self = s.local_endpoint();
    udp::endpoint sender;
    EXPECT_EQ(of_awaits([&](int i) {
                  return i % 2 == 0 ? s.async_send_to(buffer("x", 1), self)
                                    : s.async_receive_from(buffer(bytes), sender);
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(blocks_of([&] { return s.async_send_to(buffer("x", 1), self); }), 0U);
    EXPECT_EQ(blocks_of([&] { return s.async_receive_from(buffer(bytes), sender); }), 0U);
}

TEST_F(DatagramAlloc, AwaitedReceiveThatHasToWaitTakesNothing) {
    udp::socket a(context, {ip::address_v4::loopback(), 0}), b(context, {ip::address_v4::loopback(), 0});
    auto const echo = [](udp::socket& s) -> awaitable<void> {
        char data[16];
        udp::endpoint from;
        for (;;) {
            auto const [ec, n] = co_await s.async_receive_from(buffer(data), from, as_tuple);
            if (ec)
                co_return;
            co_await s.async_send_to(buffer(data, n), from);
        }
    };
    co_spawn(context, echo(b), detached);
    auto const to = b.local_endpoint();
    udp::endpoint from;
    partner = &b;
    std::uint64_t const taken = of_awaits([&](int i) {
        return i % 2 == 0 ? a.async_send_to(buffer("x", 1), to) : a.async_receive_from(buffer(bytes), from);
    });
    EXPECT_EQ(taken, 0U);
    EXPECT_EQ(overflows, 0U);
}

TEST_F(DatagramAlloc, AwaitedSendToAnAddressOfIPv6TakesNoMoreThanABlock) {
    udp::socket s(context);
    error_code ec;
    s.open(udp::v6(), ec);
    if (!ec)
        s.bind({ip::address_v6::loopback(), 0}, ec);
    if (ec)
        GTEST_SKIP() << "a kernel without IPv6";
    auto const self = s.local_endpoint();
    udp::endpoint sender;
    EXPECT_EQ(of_awaits([&](int i) {
                  return i % 2 == 0 ? s.async_send_to(buffer("x", 1), self)
                                    : s.async_receive_from(buffer(bytes), sender);
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(blocks_of([&] { return s.async_send_to(buffer("x", 1), self); }), 1U);
}

TEST_F(DatagramAlloc, AwaitedSendAndReceiveTakeNothing) {
    datagram_socket a(context), b(context);
    local::connect_pair(a, b);
    EXPECT_EQ(
        of_awaits([&](int i) { return i % 2 == 0 ? b.async_send(buffer("x", 1)) : a.async_receive(buffer(bytes)); }),
        0U);
    EXPECT_EQ(overflows, 0U);
}

TEST_F(DatagramAlloc, AwaitedSequencesAndPathsTakeOnlyRecycledBlocks) {
    std::array<const_buffer, 3> const out{buffer("a", 1), buffer("b", 1), buffer("c", 1)};
    std::array<mutable_buffer, 3> const in{buffer(bytes, 1), buffer(bytes + 1, 1), buffer(bytes + 2, 1)};
    udp::socket s(context, {ip::address_v4::loopback(), 0});
    auto const self = s.local_endpoint();
    udp::endpoint sender;
    EXPECT_EQ(
        of_awaits([&](int i) { return i % 2 == 0 ? s.async_send_to(out, self) : s.async_receive_from(in, sender); }),
        0U);
    std::string name(1, '\0');
    name += "fairlead-datagram-alloc-";
    name += std::to_string(::getpid());
    datagram_socket l(context, name);
    auto const path = l.local_endpoint();
    auto from = path;
    EXPECT_EQ(of_awaits([&](int i) {
                  return i % 2 == 0 ? l.async_send_to(buffer("x", 1), path) : l.async_receive_from(buffer(bytes), from);
              }),
              0U);
}

TEST_F(DatagramAlloc, CallbacksTakeNothing) {
    udp::socket s(context, {ip::address_v4::loopback(), 0});
    auto const self = s.local_endpoint();
    udp::endpoint sender;
    int left = warm_up + measured;
    std::uint64_t allocated = 99;
    new_counter counter;
    auto const step = [&](auto& again) -> void {
        if (left == measured)
            counter = new_counter();
        if (--left == 0) {
            allocated = counter.calls();
            return;
        }
        s.async_send_to(buffer("x", 1), self, [&](error_code, std::size_t) {
            s.async_receive_from(buffer(bytes), sender, [&](error_code, std::size_t) { again(again); });
        });
    };
    step(step);
    context.run();
    EXPECT_EQ(allocated, 0U);
}

} // namespace
