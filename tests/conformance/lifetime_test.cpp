// Objects that move, go, or throw while something is pending.
#include "streams.hpp"

#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>

namespace fairlead::conformance {
namespace {

using namespace std::chrono_literals;

class Lifetimes : public stream_conformance_test {};

/// Counts those that are alive; in a handler or a frame it tells whether that has been given up.
class witness {
public:
    explicit witness(int& alive) : alive_(&alive) { ++*alive_; }
    witness(witness const& other) : alive_(other.alive_) { ++*alive_; }
    witness(witness&& other) noexcept : alive_(other.alive_) { ++*alive_; }
    witness& operator=(witness const&) = delete;
    ~witness() { --*alive_; }

private:
    int* alive_;
};

// ---- moving

TEST_P(Lifetimes, MovedSocketKeepsItsPendingOperations) {
    connected([&](auto& near, auto& far) {
        auto const n = fill(near);
        std::string got(3, ' ');
        completion read, written, waited;
        async_read(near, buffer(got), read.handler());
        near.async_wait(socket_base::wait_error, waited.handler());
        async_write(near, buffer("x", 1), written.handler());
        settle();
        auto moved = std::move(near);
        EXPECT_FALSE(near.is_open());
        std::remove_cvref_t<decltype(near)> assigned(context(), moved.local_endpoint().protocol());
        completion victim;
        char c;
        assigned.async_wait(socket_base::wait_read, victim.handler());
        assigned = std::move(moved); // what was open there is closed
        completion sent;
        async_write(far, buffer("abc", 3), sent.handler());
        drain(far, n);
        run_until([&] { return read.count && written.count && sent.count && victim.count; });
        EXPECT_TRUE(read.succeeded());
        EXPECT_EQ(got, "abc");
        EXPECT_TRUE(written.succeeded());
        EXPECT_EQ(waited.count, 0);
        assigned.cancel();
        run();
        EXPECT_EQ(waited.ec, error::operation_aborted);
        EXPECT_EQ(far.read_some(buffer(&c, 1)), 1U);
        pass(assigned, far, "as before");
    });
}

TEST_P(Lifetimes, MovedAcceptorKeepsItsPendingAccepts) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::socket client(context()), served(context());
        completion accepted, connected;
        typename protocol::acceptor first(context(), t.free_address());
        first.async_accept(served, accepted.handler());
        settle();
        typename protocol::acceptor second(std::move(first));
        client.async_connect(second.local_endpoint(), connected.handler());
        run();
        EXPECT_TRUE(accepted.succeeded() && connected.succeeded());
        pass(client, served, "x");
    });
}

// ---- going away

TEST_P(Lifetimes, SocketMayGoWhileItsBytesAreOnTheirWay) {
    connected([&](auto& near, auto& far) {
        auto const text = pattern(20'000);
        completion sent;
        async_write(near, buffer(text), sent.handler());
        run_until([&] { return sent.count != 0; });
        {
            auto const gone = std::move(near);
        }
        std::string got;
        EXPECT_EQ(read_to_end(far, got), error::eof);
        EXPECT_TRUE(got == text);
    });
}

TEST_P(Lifetimes, HandlerMayDestroyItsOwnSocket) {
    connected([&](auto& near, auto& far) {
        auto socket = std::make_unique<std::remove_cvref_t<decltype(near)>>(std::move(near));
        char c[2];
        completion other;
        int count = 0;
        socket->async_read_some(buffer(&c[0], 1), [&](error_code ec, std::size_t) {
            EXPECT_FALSE(ec);
            ++count;
            socket.reset();
        });
        socket->async_read_some(buffer(&c[1], 1), other.handler());
        settle();
        completion sent;
        async_write(far, buffer("x", 1), sent.handler());
        run();
        EXPECT_EQ(count, 1);
        EXPECT_EQ(other.ec, error::operation_aborted);
        EXPECT_EQ(read_error(far), error::eof);
    });
}

TEST_P(Lifetimes, HandlerMayDestroyTheSocketAtTheOtherEnd) {
    connected([&](auto& near, auto& far) {
        auto other = std::make_unique<std::remove_cvref_t<decltype(far)>>(std::move(far));
        char c[2];
        completion read;
        other->async_read_some(buffer(&c[0], 1), read.handler());
        int ended = 0;
        near.async_write_some(buffer("x", 1), [&](error_code, std::size_t) { other.reset(); });
        near.async_read_some(buffer(&c[1], 1), [&](error_code ec, std::size_t) {
            EXPECT_TRUE(ec);
            ++ended;
        });
        run();
        EXPECT_EQ(read.count, 1);
        EXPECT_EQ(ended, 1);
    });
}

TEST_P(Lifetimes, OperationsMayBeStartedAgainInsideTheirCompletions) {
    connected([&](auto& near, auto& far) {
        auto const text = pattern(300);
        std::string got;
        char c;
        std::function<void(error_code, std::size_t)> again = [&](error_code ec, std::size_t n) {
            got.append(&c, n);
            if (!ec)
                far.async_read_some(buffer(&c, 1), [&](error_code e, std::size_t k) { again(e, k); });
        };
        again({}, 0);
        completion sent;
        async_write(near, buffer(text), sent.handler());
        run_until([&] { return sent.count != 0; });
        near.close();
        run();
        EXPECT_EQ(got, text);
    });
}

TEST_P(Lifetimes, ReusedDescriptorGetsNothingOfItsPredecessor) {
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        for (int round = 0; round != 20; ++round) {
            typename protocol::socket near(context()), far(context());
            connect(t, near, far);
            completion old;
            char c;
            near.async_read_some(buffer(&c, 1), old.handler());
            completion sent;
            async_write(far, buffer("old", 3), sent.handler());
            near.close(); // with the bytes on their way
            far.close();
            typename protocol::socket next_near(context()), next_far(context());
            connect(t, next_near, next_far);
            pass(next_far, next_near, "new");
            EXPECT_EQ(old.count, 1);
            EXPECT_EQ(sent.count, 1);
        }
    });
}

// ---- exceptions

TEST_P(Lifetimes, ExceptionOfAHandlerLeavesRunAndNothingElseIsLost) {
    connected([&](auto& near, auto& far) {
        char c[3];
        completion second, tick;
        steady_timer timer(context(), 1ms);
        timer.async_wait(tick.handler());
        near.async_read_some(buffer(&c[0], 1), [](error_code, std::size_t) { throw std::logic_error("mine"); });
        near.async_read_some(buffer(&c[1], 1), second.handler());
        completion sent;
        async_write(far, buffer("ab", 2), sent.handler());
        EXPECT_THROW(run(), std::logic_error);
        run();
        EXPECT_TRUE(second.succeeded());
        EXPECT_TRUE(sent.succeeded());
        EXPECT_TRUE(tick.succeeded());
        EXPECT_EQ(c[1], 'b');
        spawn([&]() -> awaitable<void> {
            co_await near.async_read_some(buffer(&c[2], 1));
            throw std::logic_error("of a coroutine");
        });
        completion more;
        async_write(far, buffer("c", 1), more.handler());
        EXPECT_THROW(run(), std::logic_error);
        run();
        pass(near, far, "still well");
    });
}

// ---- the end of the context

TEST_P(Lifetimes, ContextDestroyedWithEverythingPendingGivesUpEveryHandlerOnce) {
    // The memory that the operations refer to outlives the context; the objects live in the handlers.
    char bytes[16];
    std::string text;
    std::string const much(3'000'000, 'm');
    for (int turns = 0; turns < 40; turns += 1 + turns / 3) {
        SCOPED_TRACE(turns);
        int alive = 0;
        over_transport([&](auto const& t) {
            using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
            using socket = typename protocol::socket;
            struct objects {
                socket near, far;
                typename protocol::acceptor acceptor;
                steady_timer timer;
                ip::tcp::resolver resolver;
            };
            socket near(context()), far(context());
            connect(t, near, far);
            auto const o = std::make_shared<objects>(std::move(near), std::move(far),
                                                     typename protocol::acceptor(context(), t.free_address()),
                                                     steady_timer(context(), 1h), ip::tcp::resolver(context()));
            auto const handler = [o, w = witness(alive)](auto&&...) {};
            o->near.async_read_some(buffer(&bytes[0], 1), handler);
            o->near.async_read_some(
                std::array<mutable_buffer, 3>{buffer(&bytes[1], 1), buffer(&bytes[2], 1), buffer(&bytes[3], 1)},
                handler);
            async_read(o->near, buffer(&bytes[4], 4), handler);
            async_read_until(o->near, dynamic_buffer(text), "a delimiter of some length", handler);
            o->near.async_wait(socket_base::wait_read, handler);
            o->near.async_wait(socket_base::wait_error, handler);
            async_write(o->far, buffer(much), handler);
            async_write(o->far, buffer("x", 1), handler);
            o->acceptor.async_accept(handler);
            o->timer.async_wait(handler);
            o->timer.async_wait(handler);
            o->resolver.async_resolve("localhost", "80", handler);
            post(context(), handler);
            EXPECT_EQ(alive, 14) << "the handler here and thirteen copies";
            context().restart();
            for (int i = 0; i != turns; ++i) // Some of it is done before the end.
                context().poll_one();
            EXPECT_LE(alive, 14);
            EXPECT_GT(alive, 2);
        });
        EXPECT_EQ(alive, 0);
    }
}

awaitable<void> sleep(io_context& c, witness) {
    steady_timer timer(c, 1h);
    co_await timer.async_wait();
}
awaitable<void> sleep_in_a_child(io_context& c, witness w) { co_await sleep(c, w); }

TEST_P(Lifetimes, ContextDestroyedWithEverythingPendingDestroysEveryFrameOnce) {
    for (int turns = 0; turns < 40; turns += 1 + turns / 3) {
        SCOPED_TRACE(turns);
        int alive = 0, completed = 0;
        over_transport([&](auto const& t) {
            using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
            using socket = typename protocol::socket;
            socket a(context()), b(context());
            connect(t, a, b);
            auto const start = [&](awaitable<void> coroutine) {
                co_spawn(context(), std::move(coroutine), [&, w = witness(alive)](std::exception_ptr) { ++completed; });
            };
            io_context& c = context();
            // The frames own what they use.
            start([](socket s, witness) -> awaitable<void> {
                char byte;
                for (;;)
                    co_await s.async_read_some(buffer(&byte, 1));
            }(std::move(a), witness(alive)));
            start([](socket s, witness) -> awaitable<void> {
                std::string const much(1'000'000, 'm');
                for (;;)
                    co_await async_write(s, buffer(much));
            }(std::move(b), witness(alive)));
            start([](typename protocol::acceptor acceptor, witness) -> awaitable<void> {
                for (;;)
                    auto s = co_await acceptor.async_accept();
            }({context(), t.free_address()}, witness(alive)));
            start([](io_context& x, witness) -> awaitable<void> {
                ip::tcp::resolver resolver(x);
                for (;;)
                    co_await resolver.async_resolve("localhost", "80", as_tuple);
            }(c, witness(alive)));
            start([](io_context& x, witness w) -> awaitable<void> {
                co_await co_spawn(x, sleep(x, w), use_await);
            }(c, witness(alive)));
            start(sleep_in_a_child(c, witness(alive)));
            context().restart();
            for (int i = 0; i != turns; ++i)
                context().poll_one();
            EXPECT_GE(alive, 6);
        });
        EXPECT_EQ(alive, 0);
        EXPECT_EQ(completed, 0);
    }
}

TEST_P(Lifetimes, ContextDestroyedBeforeItEverRan) {
    int alive = 0;
    over_transport([&](auto const& t) {
        using protocol = typename std::remove_cvref_t<decltype(t)>::protocol;
        typename protocol::acceptor acceptor(context(), t.free_address());
        auto const handler = [&, w = witness(alive)](auto&&...) { ADD_FAILURE() << "called"; };
        acceptor.async_accept(handler);
        auto const s = std::make_shared<typename protocol::socket>(context());
        s->async_connect(acceptor.local_endpoint(), [s, handler](error_code) { handler(); }); // owns what it uses
        co_spawn(context(), sleep(context(), witness(alive)), handler);
        post(context(), handler);
    });
    EXPECT_EQ(alive, 0);
}

INSTANTIATE_TEST_SUITE_P(Conformance, Lifetimes, testing::ValuesIn(every_driver_and_stream()), name_of);

} // namespace
} // namespace fairlead::conformance
