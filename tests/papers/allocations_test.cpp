// Allocations of operations once everything is warm: none. The recycler serves blocks; global new is counted.
#include "support/one_block.hpp"

#include <support/counting_new.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/buffered_stream.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace fairlead;
using test::one_block;
using test::one_block_allocator;
using namespace std::chrono_literals;
using fairlead::test::new_counter;
using fairlead::test::scaled;
using local_socket = local::stream_protocol::socket;

struct Alloc : testing::Test {
    Alloc() : a(context), b(context), timer(context, 0s) { local::connect_pair(a, b); }

    /// Calls `start(handler)` over and over, each time from the handler of the one before; returns what global new was
    /// asked for after the warm-up.
    template <class Start> std::uint64_t of_callbacks(Start start) {
        chain<Start> first{this, &start};
        left = warm_up + measured;
        context.restart();
        start(first);
        context.run();
        EXPECT_EQ(left, 0U);
        return allocated;
    }
    template <class Start> struct chain {
        Alloc* test;
        Start* start;
        template <class... Args> void operator()(Args const&...) {
            if (test->left == measured)
                test->counter = new_counter();
            if (--test->left == 0)
                test->allocated = test->counter.calls();
            else
                (*start)(*this);
        }
    };

    /// Counts as of_callbacks() does, for a coroutine that awaits `make()` in a loop. Blocks that did not fit into the
    /// await record count in `overflows`.
    template <class Make> std::uint64_t of_awaits(Make make) {
        context.restart();
        co_spawn(
            context,
            [](Alloc& t, Make& m) -> awaitable<void> {
                for (std::uint64_t i = 0; i != warm_up; ++i)
                    co_await m();
                t.counter = new_counter();
                auto const before = impl::exec::this_thread.record_overflows;
                for (std::uint64_t i = 0; i != measured; ++i)
                    co_await m();
                t.allocated = t.counter.calls();
                t.overflows = impl::exec::this_thread.record_overflows - before;
            }(*this, make),
            [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
        context.run();
        return allocated;
    }

    static constexpr std::uint64_t warm_up = 64;
    static constexpr std::uint64_t measured = 200;
    io_context context;
    local_socket a, b;
    steady_timer timer;
    char bytes[64] = {};
    std::uint64_t left = 0, allocated = 99, overflows = 99;
    new_counter counter;
};

TEST_F(Alloc, CallbacksOfPostTakeNothing) {
    EXPECT_EQ(of_callbacks([&](auto h) { post(context, h); }), 0U);
    EXPECT_EQ(of_callbacks([&](auto h) { post(any_io_executor(context.get_executor()), h); }), 0U);
    EXPECT_EQ(of_callbacks([&](auto h) { context.get_executor().execute(h); }), 0U);
}

TEST_F(Alloc, CallbacksOfTimersTakeNothing) {
    EXPECT_EQ(of_callbacks([&](auto h) { timer.async_wait(h); }), 0U);
}

TEST_F(Alloc, CallbacksOfReadsAndWritesTakeNothing) {
    EXPECT_EQ(of_callbacks([&](auto h) {
                  b.async_write_some(buffer("x", 1),
                                     [&, h](error_code, std::size_t) { a.async_read_some(buffer(bytes, 1), h); });
              }),
              0U);
}

TEST_F(Alloc, CallbacksOfComposedOperationsTakeNothing) {
    EXPECT_EQ(of_callbacks([&](auto h) {
                  async_write(b, buffer("xyz", 3),
                              [&, h](error_code, std::size_t) { async_read(a, buffer(bytes, 3), h); });
              }),
              0U);
    std::array<const_buffer, 4> const parts{buffer("a", 1), buffer("b", 1), buffer("c", 1), buffer("d", 1)};
    EXPECT_EQ(of_callbacks([&](auto h) {
                  async_write(b, parts, [&, h](error_code, std::size_t) {
                      async_read(a, buffer(bytes, 4), transfer_exactly(4), h);
                  });
              }),
              0U);
}

TEST_F(Alloc, CallbacksOfReadUntilTakeNothing) {
    std::string text = "never consumed\n";
    EXPECT_EQ(of_callbacks([&](auto h) { async_read_until(a, dynamic_buffer(text), '\n', h); }), 0U);
}

TEST_F(Alloc, MoveOnlyCallbacksAllocateOnlyWhatTheyThemselvesHold) {
    auto kept = std::make_unique<int>();
    std::uint64_t n = 0;
    auto const step = [&](auto& self) -> void {
        if (n++ == warm_up)
            counter = new_counter();
        if (n == warm_up + measured) {
            allocated = counter.calls();
            return;
        }
        post(context, [&self, &kept, p = std::move(kept)]() mutable {
            kept = std::move(p);
            self(self);
        });
    };
    step(step);
    context.run();
    EXPECT_EQ(allocated, 0U);
}

TEST_F(Alloc, AwaitedPrimitivesTakeNothingAndLieInTheFrame) {
    EXPECT_EQ(of_awaits([&] { return post(context, use_await); }), 0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(of_awaits([&] { return timer.async_wait(); }), 0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(of_awaits([&, i = 0]() mutable {
                  return i++ % 2 == 0 ? b.async_write_some(buffer("x", 1)) : a.async_read_some(buffer(bytes, 1));
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(of_awaits([&] { return a.async_wait(socket_base::wait_write); }), 0U);
    EXPECT_EQ(overflows, 0U);
    std::array<const_buffer, 2> const two{buffer("a", 1), buffer("b", 1)};
    std::array<mutable_buffer, 2> const in{buffer(bytes, 1), buffer(bytes + 1, 1)};
    EXPECT_EQ(
        of_awaits([&, i = 0]() mutable { return i++ % 2 == 0 ? b.async_write_some(two) : a.async_read_some(in); }), 0U);
    EXPECT_EQ(overflows, 0U);
}

TEST_F(Alloc, AwaitedPrimitivesWithATimeLimitTakeNothingAndLieInTheFrame) {
    auto const limit = cancel_after(std::chrono::hours(1));
    EXPECT_EQ(of_awaits([&] { return timer.async_wait(limit); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a wait";
    EXPECT_EQ(of_awaits([&] { return b.async_write_some(buffer("x", 1), limit); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a write that is done at once";
    EXPECT_EQ(of_awaits([&] { return a.async_read_some(buffer(bytes, 1), limit); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a read that is done at once";
    EXPECT_EQ(of_awaits([&] {
                  post(context, [this] { b.write_some(buffer("x", 1)); });
                  return a.async_read_some(buffer(bytes, 1), limit);
              }),
              0U);
    EXPECT_EQ(overflows, 0U) << "a read that waits";
    auto const tuple = cancel_after(std::chrono::nanoseconds(1), as_tuple);
    EXPECT_EQ(of_awaits([&] { return a.async_read_some(buffer(bytes, 1), tuple); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a read that its limit ends";
    EXPECT_EQ(of_awaits([&] { return a.async_wait(socket_base::wait_read, tuple); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a wait for a descriptor that its limit ends";
    std::array<mutable_buffer, 2> const pieces{buffer(bytes, 1), buffer(bytes + 1, 1)};
    EXPECT_EQ(of_awaits([&] { return a.async_read_some(pieces, tuple); }), 0U);
    EXPECT_EQ(overflows, 0U) << "several buffers";
    EXPECT_EQ(of_awaits([&] { return async_read(a, buffer(bytes, 1), tuple); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a whole transfer";
    ip::udp::socket datagrams(context, ip::udp::endpoint(ip::address_v4::loopback(), 0));
    ip::udp::endpoint sender;
    EXPECT_EQ(of_awaits([&] { return datagrams.async_receive_from(buffer(bytes, 1), sender, tuple); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a datagram";
}

/// On a busy machine the slice of an item may end before its operation begins. A request that comes before is
/// forgotten.
struct ask_once_it_is_heard {
    io_context* context;
    cancellation_signal* signal;
    void operator()() const {
        if (signal->slot().has_handler())
            signal->emit(cancellation_type::terminal);
        else
            post(*context, *this);
    }
};

TEST_F(Alloc, AwaitedPrimitivesWithASlotTakeNothingAndLieInTheRecord) {
    cancellation_signal signal;
    auto const slot = bind_cancellation_slot(signal.slot(), as_tuple);
    EXPECT_EQ(of_awaits([&] { return b.async_write_some(buffer("x", 1), slot); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a write that is done at once";
    EXPECT_EQ(of_awaits([&] { return a.async_read_some(buffer(bytes, 1), slot); }), 0U);
    EXPECT_EQ(overflows, 0U) << "a read that is done at once";
    auto const asked_soon = [&] { post(context, ask_once_it_is_heard{&context, &signal}); };
    // Where a slice ends, a request is posted before the block of the last one is back: there are two of them.
    for (int i = 0; i != 2; ++i)
        post(context, [&] { signal.emit(cancellation_type::terminal); });
    context.restart();
    context.run();
    EXPECT_EQ(of_awaits([&] {
                  asked_soon();
                  return a.async_read_some(buffer(bytes, 1), slot);
              }),
              0U);
    EXPECT_EQ(overflows, 0U) << "a read that is asked to end";
    timer.expires_after(std::chrono::hours(1)); // Over by itself, a wait would leave its request without anybody.
    EXPECT_EQ(of_awaits([&] {
                  asked_soon();
                  return timer.async_wait(slot);
              }),
              0U);
    EXPECT_EQ(overflows, 0U) << "a wait";
    std::array<mutable_buffer, 2> const pieces{buffer(bytes, 1), buffer(bytes + 1, 1)};
    EXPECT_EQ(of_awaits([&] {
                  asked_soon();
                  return a.async_read_some(pieces, cancel_after(std::chrono::hours(1), slot));
              }),
              0U);
    EXPECT_EQ(overflows, 0U) << "several buffers, with a limit";
}

TEST_F(Alloc, AwaitedWholeTransfersTakeNothingAndLieInTheFrame) {
    EXPECT_EQ(of_awaits([&, i = 0]() mutable {
                  return i++ % 2 == 0 ? async_write(b, buffer("xyz", 3)) : async_read(a, buffer(bytes, 3));
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
}

TEST_F(Alloc, AwaitedImmediateReadUntilTakesNothing) {
    std::string text = "never consumed\r\n";
    EXPECT_EQ(of_awaits([&] { return async_read_until(a, dynamic_buffer(text), "\r\n"); }), 0U);
    EXPECT_EQ(overflows, 0U);
}

TEST_F(Alloc, AwaitedCompositionsOfAnyDepthTakeOnlyRecycledBlocks) {
    std::array<const_buffer, 4> const parts{buffer("a", 1), buffer("b", 1), buffer("c", 1), buffer("\n", 1)};
    std::string text;
    EXPECT_EQ(of_awaits([&, i = 0]() mutable {
                  if (i++ % 2 == 0)
                      return async_write(b, parts, transfer_at_least(4));
                  text.clear();
                  return async_read_until(a, dynamic_buffer(text), "\n");
              }),
              0U);
}

awaitable<int> child(int n) { co_return n; }

TEST_F(Alloc, AwaitedChildrenTakeNothing) {
    EXPECT_EQ(of_awaits([] { return child(1); }), 0U);
    EXPECT_EQ(of_awaits([this] {
                  return [](Alloc& t) -> awaitable<void> {
                      co_await child(1);
                      co_await post(t.context);
                  }(*this);
              }),
              0U);
}

TEST_F(Alloc, AdaptedTokensTakeNothing) {
    EXPECT_EQ(of_awaits([&] { return timer.async_wait(as_tuple); }), 0U);
    EXPECT_EQ(overflows, 0U);
    error_code ec;
    EXPECT_EQ(of_awaits([&] { return timer.async_wait(redirect_error(ec)); }), 0U);
    EXPECT_EQ(of_awaits([&] { return timer.async_wait(bind_executor(context, use_await)); }), 0U);
}

TEST_F(Alloc, FuturesTakeNothing) {
    auto const rounds = [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i != n; ++i) {
            auto done = post(context, use_future);
            auto waited = timer.async_wait(use_future([](error_code ec) { return !ec; }));
            context.restart();
            context.run();
            done.get();
            EXPECT_TRUE(waited.get());
        }
    };
    rounds(warm_up);
    new_counter const calls;
    rounds(measured);
    EXPECT_EQ(calls.calls(), 0U);
}

TEST_F(Alloc, SpawningTakesNothing) {
    EXPECT_EQ(of_callbacks([&](auto h) { co_spawn(context, child(1), h); }), 0U);
    EXPECT_EQ(of_awaits([&] { return co_spawn(context, child(1), use_await); }), 0U);
}

TEST_F(Alloc, EchoOfConnectedPairsTakesNothing) {
    std::uint64_t const rounds = 500;
    std::uint64_t calls = 99;
    auto const echo = [](local_socket& s) -> awaitable<void> {
        char data[64];
        for (;;) {
            auto [ec, n] = co_await s.async_read_some(buffer(data), as_tuple);
            if (ec)
                co_return;
            co_await async_write(s, buffer(data, n));
        }
    };
    auto const client = [](local_socket& s, std::uint64_t n, std::uint64_t& out) -> awaitable<void> {
        char data[64] = {};
        new_counter count;
        for (std::uint64_t i = 0; i != n; ++i) {
            if (i == n / 2)
                count = new_counter();
            co_await async_write(s, buffer(data));
            co_await async_read(s, buffer(data));
        }
        out = count.calls();
        s.close();
    };
    co_spawn(context, echo(a), detached);
    co_spawn(context, client(b, rounds, calls), detached);
    context.run();
    EXPECT_EQ(calls, 0U);
}

TEST_F(Alloc, AcceptingTakesNothing) {
    ip::tcp::acceptor acceptor(context, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
    auto const where = acceptor.local_endpoint();
    std::uint64_t calls = 99;
    co_spawn(
        context,
        [](ip::tcp::acceptor& from, ip::tcp::endpoint to, io_context& c, std::uint64_t& out) -> awaitable<void> {
            new_counter count;
            for (int i = 0; i != 40; ++i) {
                if (i == 20)
                    count = new_counter();
                ip::tcp::socket client(c);
                co_await client.async_connect(to);
                ip::tcp::socket const server = co_await from.async_accept();
            }
            out = count.calls();
        }(acceptor, where, context, calls),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    context.run();
    EXPECT_EQ(calls, 0U);
}

TEST_F(Alloc, PostingFromAnotherThreadStopsAllocatingOnceBlocksComeHome) {
    // One side takes, the other frees; the producer never runs more than a bounded number ahead.
    auto guard = make_work_guard(context);
    std::thread consumer([&] { context.run(); });
    std::uint64_t late = 99;
    std::atomic<int> open{0};
    auto const rounds = scaled(20'000, 2'000);
    new_counter count;
    for (std::uint64_t i = 0; i != rounds; ++i) {
        if (i == rounds / 2)
            count = new_counter();
        while (open.load() >= 32)
            std::this_thread::yield();
        ++open;
        post(context, [&open] { --open; });
    }
    late = count.calls();
    guard.reset();
    consumer.join();
    EXPECT_LE(late, rounds / 2 / 10) << "blocks do not come home";
}

// ---- B6: the record of an awaited operation lies with the coroutines that await it

/// Tells the addresses of what co_spawn keeps for the chain, and that of the operation which is pending.
TEST_F(Alloc, B06_RecordOfAPendingAwaitLiesWithItsCoroutines) {
    struct range {
        std::byte const* from = nullptr;
        std::size_t size = 0;
        bool holds(void const* p) const { return p >= from && p < from + size; }
    };
    struct root_probe {
        range* root;
        explicit root_probe(range* r) noexcept : root(r) {}
        bool await_ready() const noexcept { return false; }
        bool await_suspend(std::coroutine_handle<impl::coro::awaitable_promise<void>> h) noexcept {
            auto const* p = reinterpret_cast<std::byte const*>(h.promise().link.record);
            auto const* block = reinterpret_cast<impl::exec::recycler_block const*>(p - impl::exec::recycler::header);
            *root = {p, impl::exec::recycler::payload_bytes(block->size_class)};
            return false;
        }
        void await_resume() const noexcept {}
    };
    struct two_deep {
        static awaitable<void> read(Alloc& t) { co_await t.a.async_read_some(buffer(t.bytes)); }
    };
    range root;
    co_spawn(
        context,
        [](Alloc& t, range& r) -> awaitable<void> {
            co_await root_probe(&r);
            co_await two_deep::read(t);
        }(*this, root),
        detached);
    context.poll();
    ASSERT_NE(root.from, nullptr);
    op_queue pending;
    context.driver().reactor().take_pending(pending);
    ASSERT_FALSE(pending.empty());
    op* const o = pending.pop_front();
    EXPECT_TRUE(root.holds(o));
    EXPECT_TRUE(root.holds(reinterpret_cast<std::byte*>(o) + sizeof(io::io_op) - 1));
    // Give it back, so that the coroutine ends as usual.
    static_cast<io::io_op*>(o)->result = {0, 0, 1};
    context.as_loop().post(*o);
    context.restart();
    context.run();
}

TEST_F(Alloc, B06_ComposedLayerOverAnAwaitLiesThereToo) {
    std::string text;
    b.write_some(buffer("x\n", 2));
    // One layer over a primitive; deeper ones are counted, not forbidden.
    EXPECT_EQ(of_awaits([&, i = 0]() mutable {
                  return i++ % 2 == 0
                             ? completion_token_transform<void(error_code, std::size_t)>(
                                   use_await, [&](auto h) { b.async_write_some(buffer("x", 1), std::move(h)); })
                             : a.async_read_some(buffer(bytes, 1));
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
}

// ---- A11, A12: a one-block allocator through a long chain

struct long_chain {
    io_context* context;
    local_socket* in;
    local_socket* out;
    char* byte;
    one_block* memory;
    std::uint64_t* left;
    using allocator_type = one_block_allocator<std::byte>;
    allocator_type get_allocator() const noexcept { return allocator_type(memory); }
    void operator()(error_code = {}, std::size_t = 0) {
        if (--*left == 0)
            return;
        switch (*left % 4) {
        case 0: post(*context, *this); break;
        case 1: async_write(*out, buffer("x", 1), *this); break;
        case 2:
            context->get_executor().context(); // nothing: every other step is a dispatch from the queue
            defer(*context, *this);
            break;
        default: out->async_write_some(buffer(byte, 0), *this);
        }
        if (*left % 64 == 0)
            drain();
    }
    void drain() const {
        char sink[256];
        error_code ec;
        in->non_blocking(true);
        while (in->read_some(buffer(sink), ec) == sizeof sink) {
        }
    }
};

TEST_F(Alloc, A11_A12_OneSlotServesAMillionOperationsInAChain) {
    one_block memory;
    auto steps = scaled(1'000'000, 50'000);
    char byte = 0;
    post(context, long_chain{&context, &a, &b, &byte, &memory, &steps});
    new_counter const count;
    context.run();
    EXPECT_EQ(steps, 0U);
    EXPECT_FALSE(memory.taken);
    EXPECT_EQ(count.calls(), 0U);
}

/// One read in sixteen asks the socket, the others take what is there; both fit into the await record.
TEST_F(Alloc, BufferedReadsTakeNothing) {
    buffered_read_stream<local_socket&> s(a, 16);
    auto const some_more = [&] {
        if (s.in_avail() == 0)
            b.write_some(buffer(bytes, 16));
    };
    EXPECT_EQ(of_awaits([&] {
                  some_more();
                  return s.async_read_some(buffer(bytes, 1));
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(of_callbacks([&](auto h) {
                  some_more();
                  s.async_read_some(buffer(bytes, 1), h);
              }),
              0U);
}

TEST_F(Alloc, BufferedWritesTakeNothing) {
    buffered_write_stream<local_socket&> s(b, 16);
    EXPECT_EQ(of_awaits([&] { return s.async_write_some(buffer("x", 1)); }), 0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(of_callbacks([&](auto h) { s.async_write_some(buffer("x", 1), h); }), 0U);
    EXPECT_EQ(of_awaits([&] {
                  while (a.available() != 0)
                      a.read_some(buffer(bytes));
                  s.write_some(buffer("x", 1));
                  return s.async_flush();
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
}

TEST_F(Alloc, FillsTakeNothing) {
    buffered_read_stream<local_socket&> s(a, 16);
    auto const one_byte = [&] {
        while (s.in_avail() != 0)
            s.read_some(buffer(bytes));
        b.write_some(buffer("x", 1));
    };
    EXPECT_EQ(of_awaits([&] {
                  one_byte();
                  return s.async_fill();
              }),
              0U);
    EXPECT_EQ(overflows, 0U);
    EXPECT_EQ(of_callbacks([&](auto h) {
                  one_byte();
                  s.async_fill(h);
              }),
              0U);
}

} // namespace
