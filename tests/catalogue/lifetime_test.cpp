// Memory, lifetime and cancellation: rows M and C of the failure catalogue that hold today.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/work_guard.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <catalogue/bent_driver.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

struct witness {
    static inline int alive = 0;
    witness() { ++alive; }
    witness(witness const&) { ++alive; }
    witness(witness&&) noexcept { ++alive; }
    ~witness() { --alive; }
};

/// One coroutine for each kind of wait, each of which never ends.
awaitable<void> waits_in_every_way(io_context& c, int way) {
    witness const w;
    local_socket a(c), b(c);
    local::connect_pair(a, b);
    char bytes[3][8];
    std::string text;
    switch (way) {
    case 0: {
        steady_timer timer(c, 1h);
        co_await timer.async_wait();
        break;
    }
    case 1: co_await a.async_read_some(buffer(bytes[0])); break;
    case 2:
        co_await a.async_read_some(std::array<mutable_buffer, 3>{buffer(bytes[0]), buffer(bytes[1]), buffer(bytes[2])});
        break;
    case 3: co_await async_read(a, buffer(bytes[0]), as_tuple); break;
    case 4: co_await async_read_until(a, dynamic_buffer(text), "a delimiter of more than seven characters"); break;
    case 5: {
        tcp::acceptor acceptor(c, tcp::endpoint(ip::address_v4::loopback(), 0));
        co_await acceptor.async_accept();
        break;
    }
    case 6: {
        error_code ec;
        steady_timer timer(c, 1h);
        co_await timer.async_wait(redirect_error(ec));
        break;
    }
    case 7: co_await a.async_wait(socket_base::wait_read); break;
    case 8: {
        tcp::resolver resolver(c);
        co_await resolver.async_resolve("a-name-that-nobody-has.invalid", "80");
        co_await post(c);
        steady_timer timer(c, 1h);
        co_await timer.async_wait();
        break;
    }
    case 9: {
        std::string full(1 << 20, 'x');
        co_await async_write(a, buffer(full));
        break;
    }
    case 10: co_await waits_in_every_way(c, 0); break;
    case 11: co_await co_spawn(c, waits_in_every_way(c, 1), use_await); break;
    default: {
        steady_timer timer(c, 1h);
        co_await timer.async_wait(bind_executor(c, use_await));
    }
    }
    ADD_FAILURE() << "resumed, way " << way;
}

TEST(Catalogue, M04_ContextDestroyedWithEverythingPendingDestroysEachFrameOnce) {
    for (int way = 0; way != 13; ++way) {
        if (way == 8)
            continue; // below
        SCOPED_TRACE(way);
        witness::alive = 0;
        {
            io_context context;
            co_spawn(context, waits_in_every_way(context, way), [w = witness()](std::exception_ptr) { ADD_FAILURE(); });
            context.poll();
            EXPECT_GE(witness::alive, 2);
        }
        EXPECT_EQ(witness::alive, 0);
    }
}

/// An operation whose block outlives its handler for a moment, as that of a struct does whose handler is its last
/// member.
struct gives_its_handler_up {
    op** pending;
    template <class Handler> struct block : op {
        explicit block(Handler&& h) : handler(std::move(h)) {}
        struct checked {
            std::uint64_t words[6] = {1, 2, 3, 4, 5, 6};
            ~checked() { EXPECT_TRUE(std::equal(words, words + 6, std::array{1U, 2U, 3U, 4U, 5U, 6U}.begin())); }
        };
        std::array<checked, 2> after_it;
        Handler handler;
    };
    template <class Handler> void operator()(Handler handler) {
        using type = block<Handler>;
        auto a = get_associated_allocator(handler);
        using allocator = typename std::allocator_traits<decltype(a)>::template rebind_alloc<type>;
        allocator of_block(a);
        type* const b = ::new (static_cast<void*>(of_block.allocate(1))) type(std::move(handler));
        b->run = [](op* o, op_mode) {
            auto* const self = static_cast<type*>(o);
            allocator from(get_associated_allocator(self->handler));
            self->~type();
            from.deallocate(self, 1);
        };
        *pending = b;
    }
};
// The bytes of the record are the operation's until it gives them back. Its handler may go before.
TEST(Catalogue, M04_ChainThatEndsLeavesTheBytesToTheirOperation) {
    witness::alive = 0;
    {
        io_context context;
        op* pending = nullptr;
        co_spawn(
            context,
            [](op*& p) -> awaitable<void> {
                witness const w;
                co_await async_initiate<void(error_code)>(gives_its_handler_up{&p}, use_await);
            }(pending),
            detached);
        context.poll();
        ASSERT_NE(pending, nullptr);
        pending->run(pending, op_mode::abandon);
        EXPECT_EQ(witness::alive, 1) << "it ends in a turn of its own";
        context.restart();
        context.poll();
        EXPECT_EQ(witness::alive, 0);
    }
}

TEST(Catalogue, M04_ContextDestroyedDuringALookUpDestroysTheFrame) {
    witness::alive = 0;
    {
        io_context context;
        co_spawn(
            context,
            [](io_context& c) -> awaitable<void> {
                witness const w;
                tcp::resolver resolver(c);
                co_await resolver.async_resolve("a-name-that-nobody-has.invalid", "80", as_tuple);
            }(context),
            detached);
        context.poll_one();
        EXPECT_EQ(witness::alive, 1);
    }
    EXPECT_EQ(witness::alive, 0);
}

/// Tells that its context has begun to end.
class end_marker : public execution_context::service {
public:
    static inline execution_context::id id;
    end_marker(execution_context& c, std::promise<void>& begun) : service(c), begun_(begun) {}

private:
    void shutdown() override { begun_.set_value(); }
    std::promise<void>& begun_;
};

// The last work of a context ends in another thread, and the context may end as soon as that can be seen.
TEST(Catalogue, M04_ContextEndsOnlyWhenNobodyIsStillWakingIt) {
    std::promise<void> waking, ending, ended;
    auto gone = ended.get_future();
    std::atomic<bool> is_first = true;
    test::bend bent;
    bent.wake = [&] {
        if (!is_first.exchange(false))
            return;
        waking.set_value();
        ending.get_future().wait();
        EXPECT_EQ(gone.wait_for(20ms), std::future_status::timeout) << "it went while it was being woken";
    };
    bent.end = [&] { ended.set_value(); };
    std::thread other;
    {
        io_context context(std::make_unique<test::bent_driver>(bent));
        make_service<end_marker>(context, ending);
        auto work = make_work_guard(context);
        post(context, [&] {
            other = std::thread([w = std::move(work)]() mutable { w.reset(); });
            waking.get_future().wait(); // With the work counted down. There is nothing else to run.
        });
        context.run();
    }
    other.join();
    EXPECT_EQ(gone.wait_for(0s), std::future_status::ready);
}

/// Calls `f` when its context destroys it, the last that happens before the driver is exchanged.
class destructor_service : public execution_context::service {
public:
    static inline execution_context::id id;
    destructor_service(execution_context& c, std::function<void()> f) : service(c), at_end_(std::move(f)) {}
    ~destructor_service() override { at_end_(); }

private:
    void shutdown() override {}
    std::function<void()> at_end_;
};

// A coroutine that is given up may be destroyed by another thread, which then wakes the loop whose driver is exchanged.
TEST(Catalogue, M04_X8_DriverStaysUntilWhoeverWakesItHasDone) {
    std::promise<void> waking, ended;
    auto gone = ended.get_future();
    std::atomic<bool> is_first = true;
    test::bend bent;
    bent.wake = [&] {
        if (!is_first.exchange(false))
            return;
        waking.set_value();
        EXPECT_EQ(gone.wait_for(20ms), std::future_status::timeout) << "it went while it was being woken";
    };
    bent.end = [&] { ended.set_value(); };
    std::thread other;
    std::optional<executor_work_guard<io_context::executor_type>> work;
    auto const wake_from_elsewhere = [&](void*) {
        other = std::thread([&work] { work->reset(); });
        waking.get_future().wait();
    };
    {
        io_context context(std::make_unique<test::bent_driver>(bent));
        work.emplace(context.get_executor());
        make_service<destructor_service>(
            context, [&] { post(context, [given_up = std::shared_ptr<void>(&bent, wake_from_elsewhere)] {}); });
    }
    other.join();
    EXPECT_EQ(gone.wait_for(0s), std::future_status::ready);
}

// Many sockets of a context that goes are closed by the thread that ran their coroutines. The thread sanitizer is the
// judge.
TEST(Catalogue, M05_X8_ObjectsOfAContextThatGoesAreClosedByAnotherThread) {
    for (auto rounds = test::scaled(50, 10); rounds != 0; --rounds) {
        auto going = std::make_unique<io_context>();
        io_context home;
        auto work = make_work_guard(home);
        witness::alive = 0;
        std::promise<void> waiting;
        auto const wait = [&](io_context& c, int& begun) -> awaitable<void> {
            witness const w;
            tcp::acceptor acceptor(c, tcp::endpoint(ip::address_v4::loopback(), 0));
            if (--begun == 0)
                post(home, [&] { waiting.set_value(); }); // when this one waits, too
            co_await acceptor.async_accept();
        };
        int left = 20;
        for (int i = left; i != 0; --i)
            co_spawn(home, wait(*going, left), detached);
        std::thread other([&] { home.run(); });
        waiting.get_future().wait();
        going.reset();
        work.reset();
        other.join();
        EXPECT_EQ(witness::alive, 0);
    }
}

TEST(Catalogue, M04_ResultThatNobodyTookIsFreed) {
    // Complete, queued, and then the context goes.
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    co_spawn(
        context,
        [](tcp::acceptor& a) -> awaitable<void> {
            co_await a.async_accept();
            ADD_FAILURE();
        }(acceptor),
        detached);
    post(context, [&] { context.stop(); });
    context.run();
}

TEST(Catalogue, M05_CoroutineOutlivesTheContextOfWhatItAwaits) {
    witness::alive = 0;
    io_context home;
    auto other = std::make_unique<io_context>();
    co_spawn(
        home,
        [](io_context& c) -> awaitable<void> {
            witness const w;
            steady_timer timer(c, 1h);
            co_await timer.async_wait();
        }(*other),
        detached);
    home.poll();
    other->poll();
    other.reset();
    home.restart();
    home.poll();
    EXPECT_TRUE(home.stopped()) << "nothing keeps it: the wait is lost, and the frame with it";
    EXPECT_EQ(witness::alive, 0);
}

TEST(Catalogue, M06_HandlerDestroysTheObjectItRunsOn) {
    io_context context;
    auto socket = std::make_unique<local_socket>(context);
    local_socket peer(context);
    local::connect_pair(*socket, peer);
    auto timer = std::make_unique<steady_timer>(context, 0s);
    auto acceptor = std::make_unique<tcp::acceptor>(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    char bytes[8];
    int handled = 0, aborted = 0;
    socket->async_read_some(buffer(bytes), [&](error_code, std::size_t) {
        socket->async_read_some(buffer(bytes),
                                [&](error_code ec, std::size_t) { aborted += ec == error::operation_aborted; });
        socket.reset();
        ++handled;
    });
    timer->async_wait([&](error_code) {
        timer.reset();
        ++handled;
    });
    client.async_connect(acceptor->local_endpoint(), [](error_code) {});
    acceptor->async_accept([&](error_code ec, tcp::socket) {
        EXPECT_FALSE(ec);
        acceptor.reset();
        ++handled;
    });
    peer.write_some(buffer("x", 1));
    context.run();
    EXPECT_EQ(handled, 3);
    EXPECT_EQ(aborted, 1);
}

TEST(Catalogue, M07_NoAwaiterIsAnAggregate) {
    // g++ 12 destroys an awaiter that was initialised as an aggregate twice.
    static_assert(!std::is_aggregate_v<impl::operation::op_awaiter<void(error_code)>>);
    static_assert(!std::is_aggregate_v<impl::operation::op_awaiter<void()>>);
    static_assert(!std::is_aggregate_v<impl::operation::foreign_awaiter<void(error_code, std::size_t)>>);
    static_assert(!std::is_aggregate_v<impl::coro::child_awaiter<int>>);
    static_assert(!std::is_aggregate_v<impl::coro::yield_awaiter>);
    static_assert(!std::is_aggregate_v<impl::coro::yield_if_due_awaiter>);
    static_assert(!std::is_aggregate_v<impl::coro::executor_awaiter>);
    static_assert(!std::is_aggregate_v<impl::coro::promise_base::final_awaiter>);
    static_assert(!std::is_aggregate_v<async_op<void()>>);
    static_assert(!std::is_aggregate_v<awaitable<int>>);
}

TEST(Catalogue, M09_ExceptionOfAHandlerOfEveryKindLeavesRunAndNothingElseIsLost) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    steady_timer timer(context, 0s);
    char bytes[8];
    struct thrown {};
    int after = 0;
    a.async_read_some(buffer(bytes), [](error_code, std::size_t) { throw thrown(); });
    async_read_until(a, dynamic_buffer(*std::make_shared<std::string>("x\n")), '\n',
                     [](error_code, std::size_t) { throw thrown(); });
    timer.async_wait([](error_code) { throw thrown(); });
    post(context, [] { throw thrown(); });
    co_spawn(
        context, []() -> awaitable<void> { co_await this_coro::yield(); }, [](std::exception_ptr) { throw thrown(); });
    b.write_some(buffer("x", 1));
    post(context, [&] { ++after; });
    int caught = 0;
    while (!context.stopped()) {
        try {
            context.run();
        } catch (thrown const&) {
            ++caught;
        }
    }
    EXPECT_EQ(caught, 5);
    EXPECT_EQ(after, 1);
}

/// An operation that is always ready, until its step throws.
struct broken {
    io_context* c;
    int* left;
    auto get_executor() const noexcept { return c->get_executor(); }
    std::optional<std::tuple<>> try_step() {
        if (--*left == 0)
            throw std::runtime_error("step");
        return std::tuple<>();
    }
    template <class H> void operator()(H&&) {}
};

TEST(Catalogue, M09_ExceptionOfAUsersStepReachesTheCoroutineEvenAfterAYield) {
    io_context context;
    for (int const at : {1, fairness::units_most, fairness::units_most + 1, fairness::units_most + 2}) {
        int left = at;
        bool caught = false;
        context.restart();
        co_spawn(
            context,
            [](io_context& c, int& l, bool& out) -> awaitable<void> {
                try {
                    for (;;)
                        co_await completion_token_transform<void()>(use_await, broken{&c, &l});
                } catch (std::runtime_error const&) {
                    out = true;
                }
            }(context, left, caught),
            detached);
        context.poll();
        EXPECT_TRUE(caught) << at;
    }
}

TEST(Catalogue, M13_SameSocketIsStartedAgainInsideItsOwnCompletion) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char bytes[1];
    std::string got;
    std::function<void(error_code, std::size_t)> again = [&](error_code ec, std::size_t) {
        if (ec)
            return;
        got += bytes[0];
        a.async_read_some(buffer(bytes), again);
    };
    a.async_read_some(buffer(bytes), again);
    b.write_some(buffer("abcdefgh", 8));
    b.close();
    context.run();
    EXPECT_EQ(got, "abcdefgh");
}

TEST(Catalogue, M13_SeveralReadsAreServedInTheOrderOfTheirStart) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char bytes[4][2];
    std::string got;
    for (auto& each : bytes)
        async_read(a, buffer(each), [&](error_code, std::size_t n) { got.append(each, n); });
    for (char const c : std::string("abcdefgh")) {
        b.write_some(buffer(&c, 1));
        context.poll();
    }
    EXPECT_EQ(got, "abcdefgh");
}

TEST(Catalogue, M13_ComposedReadsAndWritesAreStartedAgainInsideTheirOwnCompletions) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    std::string const block(300'000, 'w'); // more than the system takes at once
    std::string in(block.size(), ' ');
    int written = 0, read = 0;
    std::function<void(error_code, std::size_t)> write_again = [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, block.size());
        if (++written != 3)
            async_write(a, buffer(block), write_again);
    };
    std::function<void(error_code, std::size_t)> read_again = [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, block.size());
        EXPECT_EQ(std::exchange(in, std::string(block.size(), ' ')), block);
        if (++read != 3)
            async_read(b, buffer(in), read_again);
    };
    async_write(a, buffer(block), write_again);
    async_read(b, buffer(in), read_again);
    context.run();
    EXPECT_EQ(written, 3);
    EXPECT_EQ(read, 3);
}

TEST(Catalogue, M13_SeveralWritesAreServedInTheOrderOfTheirStart) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    std::string sent, ended;
    std::vector<std::string> blocks;
    for (char const c : std::string("abcd")) {
        blocks.emplace_back(300'000, c);
        sent += blocks.back();
    }
    for (auto const& each : blocks)
        async_write(a, buffer(each), [&](error_code ec, std::size_t n) {
            EXPECT_FALSE(ec);
            EXPECT_EQ(n, each.size());
            ended += each.front();
        });
    std::string got(sent.size(), ' ');
    std::size_t read = 0;
    async_read(b, buffer(got), [&](error_code, std::size_t n) { read = n; });
    context.run();
    EXPECT_EQ(ended, "abcd");
    EXPECT_EQ(read, sent.size());
    EXPECT_TRUE(got == sent) << "bytes of one write stand among those of another";
}

// ---- C: cancelling

TEST(Catalogue, C01_CancelThatComesTooLateLeavesTheBytes) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char bytes[8];
    int checked = 0;
    for (int i = 0; i != 100; ++i) {
        context.restart();
        b.write_some(buffer("x", 1));
        a.async_read_some(buffer(bytes), [&](error_code ec, std::size_t n) {
            // Either it has the byte and no error, or the byte is still there.
            if (ec) {
                EXPECT_EQ(ec, error::operation_aborted);
                EXPECT_EQ(n, 0U);
                n = a.read_some(buffer(bytes));
            }
            EXPECT_EQ(n, 1U);
            ++checked;
        });
        if (i % 2)
            context.poll_one();
        a.cancel();
        context.run();
    }
    EXPECT_EQ(checked, 100);
}

TEST(Catalogue, C03_CancelTwiceAfterCompletionAndInsideTheHandlerCompletesOnce) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char bytes[8];
    int completed = 0;
    a.async_read_some(buffer(bytes), [&](error_code, std::size_t) {
        ++completed;
        a.cancel();
    });
    a.cancel();
    a.cancel();
    context.run();
    a.cancel();
    context.restart();
    context.run();
    EXPECT_EQ(completed, 1);
}

TEST(Catalogue, C04_CancelledWholeReadTellsWhatItHadRead) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char bytes[8];
    std::size_t got = 99;
    error_code why;
    async_read(a, buffer(bytes), [&](error_code ec, std::size_t n) {
        why = ec;
        got = n;
    });
    b.write_some(buffer("abc", 3));
    context.poll();
    a.cancel();
    context.run();
    EXPECT_EQ(why, error::operation_aborted);
    EXPECT_EQ(got, 3U);
}

TEST(Catalogue, C07_CancelledAcceptLosesNoConnection) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    bool delivered = false;
    acceptor.async_accept([&](error_code ec, tcp::socket s) { delivered = !ec && s.is_open(); });
    acceptor.cancel();
    context.run();
    if (!delivered) {
        acceptor.non_blocking(true);
        error_code ec;
        auto const s = acceptor.accept(ec);
        EXPECT_FALSE(ec) << "neither delivered nor left in the queue";
    }
}

// ---- M09: a handler that cannot be moved out of its block

struct throws_when_moved {
    std::shared_ptr<int> held;
    int* moves_left;

    throws_when_moved(std::shared_ptr<int> h, int* m) : held(std::move(h)), moves_left(m) {}
    throws_when_moved(throws_when_moved const& other) = default;
    throws_when_moved(throws_when_moved&& other) : held(other.held), moves_left(other.moves_left) {
        if (--*moves_left < 0)
            throw std::runtime_error("moved once too often");
    }
    void operator()(error_code, std::size_t = 0) const { ADD_FAILURE() << "it could not be moved"; }
    void operator()() const { ADD_FAILURE() << "it could not be moved"; }
};

/// A handler that throws on its way to the call goes through run(), and takes the operation's block with it.
template <class Start> void expect_no_leak(io_context& context, Start start) {
    auto const held = std::make_shared<int>();
    int moves = 1'000;
    start(throws_when_moved(held, &moves));
    EXPECT_GT(held.use_count(), 1);
    moves = 0;
    context.restart();
    EXPECT_THROW(context.run(), std::runtime_error);
    EXPECT_EQ(held.use_count(), 1) << "the block still holds a handler";
    context.restart();
    context.run();
}

TEST(Catalogue, M09_AHandlerThatThrowsWhenItIsMovedLeavesNothingBehind) {
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    char bytes[4];
    b.write_some(buffer("x", 1));
    expect_no_leak(context, [&](throws_when_moved h) { a.async_read_some(buffer(bytes), std::move(h)); });
    std::array<mutable_buffer, 3> const several{buffer(bytes, 1), buffer(bytes + 1, 1), buffer(bytes + 2, 1)};
    b.write_some(buffer("x", 1));
    expect_no_leak(context, [&](throws_when_moved h) { a.async_read_some(several, std::move(h)); });
    steady_timer timer(context, 0s);
    expect_no_leak(context, [&](throws_when_moved h) { timer.async_wait(std::move(h)); });
    expect_no_leak(context, [&](throws_when_moved h) { post(context, std::move(h)); });
}

} // namespace
