// any_stream: the same program over sockets and over a stream of the program's.
#include <fairlead/net/any_stream.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/detached.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/counting_new.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

/// A stream of a program's: it moves at most three bytes at a time, and its operations know only handlers.
class little_by_little {
public:
    using executor_type = io_context::executor_type;
    explicit little_by_little(local::stream_protocol::socket s) : socket_(std::make_unique<socket>(std::move(s))) {}
    any_io_executor get_executor() { return socket_->get_executor(); }
    template <class Handler> void async_read_some(mutable_buffer b, Handler h) {
        socket_->async_read_some(buffer(b, 3), std::move(h));
    }
    template <class Handler> void async_write_some(const_buffer b, Handler h) {
        socket_->async_write_some(buffer(b, 3), std::move(h));
    }
    std::size_t read_some(mutable_buffer b, error_code& ec) { return socket_->read_some(buffer(b, 3), ec); }
    std::size_t write_some(const_buffer b, error_code& ec) { return socket_->write_some(buffer(b, 3), ec); }

private:
    using socket = local::stream_protocol::socket;
    std::unique_ptr<socket> socket_;
};

struct ends {
    any_stream a, b;
};
ends tcp_ends(io_context& c) {
    ip::tcp::acceptor acceptor(c, ip::tcp::endpoint(ip::address_v4::loopback(), 0));
    ip::tcp::socket a(c);
    a.connect(acceptor.local_endpoint());
    auto b = acceptor.accept();
    return {std::move(a), std::move(b)};
}
template <class Stream> ends local_ends(io_context& c) {
    local::stream_protocol::socket a(c), b(c);
    local::connect_pair(a, b);
    return {Stream(std::move(a)), Stream(std::move(b))};
}
ends unix_ends(io_context& c) { return local_ends<local::stream_protocol::socket>(c); }
ends users_ends(io_context& c) { return local_ends<little_by_little>(c); }

struct kind_of_ends {
    char const* name;
    ends (*make)(io_context&);
};

class AnyStream : public testing::TestWithParam<kind_of_ends> {
public:
    void run(awaitable<void> body) {
        std::exception_ptr thrown;
        bool is_done = false;
        co_spawn(context, std::move(body), [&](std::exception_ptr what) {
            thrown = what;
            is_done = true;
        });
        context.restart();
        context.run_for(20s);
        ASSERT_TRUE(is_done) << "something is waited for that does not come";
        if (thrown)
            std::rethrow_exception(thrown);
    }
    io_context context;
    ends e = GetParam().make(context);
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyStream,
                         testing::Values(kind_of_ends{"Tcp", &tcp_ends}, kind_of_ends{"Unix", &unix_ends},
                                         kind_of_ends{"Users", &users_ends}),
                         [](auto const& i) { return i.param.name; });

TEST_P(AnyStream, CarriesBytesBothWays) {
    run([](ends& s) -> awaitable<void> {
        std::string const text = "twelve bytes";
        char got[12];
        EXPECT_EQ(co_await async_write(s.a, buffer(text)), 12U);
        EXPECT_EQ(co_await async_read(s.b, buffer(got)), 12U);
        EXPECT_EQ(std::string(got, 12), text);
        co_await s.b.async_write_some(buffer("ab", 2));
        EXPECT_EQ(co_await s.a.async_read_some(buffer(got)), 2U);
        std::string line;
        std::string const lines = "one\ntwo\n";
        co_await async_write(s.a, buffer(lines));
        auto until = async_read_until(s.b, dynamic_buffer(line), '\n');
        EXPECT_EQ(co_await std::move(until), 4U);
    }(e));
}

TEST_P(AnyStream, WritesSeveralBuffersAndReadsIntoSeveral) {
    run([](ends& s) -> awaitable<void> {
        std::string const one = "one", none, two = "and two", three = "three";
        std::array const all{buffer(one), buffer(none), buffer(two), buffer(three)};
        char first[5], second[10];
        std::array const into{buffer(first), buffer(second)};
        auto w = async_write(s.a, all);
        auto r = async_read(s.b, into);
        co_await when_all(std::move(w), std::move(r));
        EXPECT_EQ(std::string(first, 5), "onean");
        EXPECT_EQ(std::string(second, 10), "d twothree");
        auto some = s.a.async_write_some(all);
        EXPECT_GE(co_await std::move(some), 3U);
    }(e));
}

TEST_P(AnyStream, SaysThatItHasEnded) {
    error_code ec;
    run([](ends& s, error_code& why) -> awaitable<void> {
        char got[8];
        s.a.close();
        EXPECT_FALSE(s.a);
        auto op = s.b.async_read_some(buffer(got), redirect_error(why));
        EXPECT_EQ(co_await std::move(op), 0U);
    }(e, ec));
    EXPECT_EQ(ec, error::eof);
}

TEST_P(AnyStream, AReadThatIsCancelledLosesNothing) {
    run([](ends& s) -> awaitable<void> {
        char got[8];
        error_code ec;
        auto waits = s.b.async_read_some(buffer(got), cancel_after(1ms, redirect_error(ec)));
        co_await std::move(waits);
        EXPECT_EQ(ec, error::operation_aborted);
        co_await async_write(s.a, buffer("abc", 3));
        EXPECT_EQ(co_await s.b.async_read_some(buffer(got)), 3U);
    }(e));
}

TEST_P(AnyStream, AWriteThatIsCancelledSaysHowMuchItHasWritten) {
    std::string const much(8'000'000, 'm');
    std::size_t n = 0;
    error_code ec;
    run([](ends& s, std::string const& text, std::size_t& written, error_code& why) -> awaitable<void> {
        auto op = async_write(s.a, buffer(text), cancel_after(20ms, redirect_error(why))); // Nobody reads.
        written = co_await std::move(op);
    }(e, much, n, ec));
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_GT(n, 0U);
    EXPECT_LT(n, much.size());
}

TEST_P(AnyStream, HandlersRunWhereTheyAskTo) {
    auto strand = make_strand(context);
    bool is_there = false;
    char got[4];
    e.b.async_read_some(buffer(got), bind_executor(strand, [&](error_code ec, std::size_t n) {
                            EXPECT_FALSE(ec);
                            EXPECT_EQ(n, 2U);
                            is_there = strand.running_in_this_thread();
                        }));
    EXPECT_FALSE(is_there);
    auto written = e.a.async_write_some(buffer("xy", 2), use_future);
    context.run_for(20s);
    EXPECT_TRUE(is_there);
    EXPECT_EQ(written.get(), 2U);
}

TEST_P(AnyStream, DestroyedItEndsWhatIsPending) {
    error_code ec;
    char got[4];
    e.b.async_read_some(buffer(got), [&ec](error_code why, std::size_t) { ec = why; });
    context.poll();
    e.b = any_stream();
    context.run_for(20s);
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST_P(AnyStream, AnErrorIsDescribedWhenItHasGone) {
    std::string text;
    auto const reads = [](any_stream& s, std::string& what) -> awaitable<void> {
        char got[4];
        try {
            auto op = s.async_read_some(buffer(got));
            co_await std::move(op);
        } catch (system_error const& x) {
            what = x.what();
        }
    };
    co_spawn(context, reads(e.b, text), detached);
    context.poll();
    e.b.close();
    context.restart();
    context.run_for(20s);
    EXPECT_EQ(text.substr(0, 4), "read") << text;
}

TEST_P(AnyStream, DestroyedItGoesOnWithNothing) {
    error_code ec;
    std::size_t n = 0;
    std::string const much(8'000'000, 'm');
    async_write(e.a, buffer(much), [&](error_code why, std::size_t count) {
        ec = why;
        n = count;
    });
    for (int i = 0; i != 5; ++i) // A step of the program's stream has succeeded, and its handler has not run.
        context.poll_one();
    e.a.close();
    context.restart();
    context.run_for(20s);
    EXPECT_EQ(ec, error::operation_aborted);
    EXPECT_GT(n, 0U);
    EXPECT_LT(n, much.size());
}

TEST_P(AnyStream, ARequestAfterItHasGoneReachesNobody) {
    error_code ec;
    char got[4];
    cancellation_signal signal;
    e.b.async_read_some(buffer(got),
                        bind_cancellation_slot(signal.slot(), [&](error_code why, std::size_t) { ec = why; }));
    context.poll();
    e.b.close(); // The operation has ended, and its handler has not run.
    signal.emit(cancellation_type::terminal);
    context.run_for(20s);
    EXPECT_EQ(ec, error::operation_aborted);
}

TEST_P(AnyStream, ABlockingCallerNeedsNoLoop) {
    std::thread other([this] { EXPECT_EQ(write(e.a, buffer("hello", 5)), 5U); });
    char got[5];
    EXPECT_EQ(read(e.b, buffer(got)), 5U);
    EXPECT_EQ(std::string(got, 5), "hello");
    other.join();
}

TEST_P(AnyStream, MovedItGoesOn) {
    run([](ends& s) -> awaitable<void> {
        char got[4];
        auto reading = s.b.async_read_some(buffer(got));
        any_stream moved(std::move(s.b));
        EXPECT_FALSE(s.b);
        auto writing = s.a.async_write_some(buffer("ok", 2));
        co_await when_all(std::move(reading), std::move(writing));
        EXPECT_EQ(std::string(got, 2), "ok");
    }(e));
}

TEST_P(AnyStream, ShutdownEndsTheSendingHalf) {
    error_code ec, why;
    run([](ends& s, error_code& of_shutdown, error_code& of_read) -> awaitable<void> {
        auto op = s.a.async_shutdown(redirect_error(of_shutdown));
        co_await std::move(op);
        char got[4];
        auto rest = s.b.async_read_some(buffer(got), cancel_after(20ms, redirect_error(of_read)));
        co_await std::move(rest);
    }(e, ec, why));
    if (e.a.target<little_by_little>()) {
        EXPECT_EQ(ec, error::operation_not_supported);
        EXPECT_EQ(why, error::operation_aborted);
    } else {
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_EQ(why, error::eof);
    }
}

TEST_P(AnyStream, AwaitedOperationsAllocateNothing) {
    if (!test::is_new_counted())
        GTEST_SKIP() << "operator new is not counted in this build";
    std::uint64_t calls = ~std::uint64_t{0};
    run([](ends& s, std::uint64_t& count) -> awaitable<void> {
        char got[8];
        for (int round = 0; round != 2; ++round) { // The first one warms the recycler up.
            test::new_counter const counter;
            for (int i = 0; i != 100; ++i) {
                co_await async_write(s.a, buffer("ab", 2)); // There at once, and read at once.
                co_await s.b.async_read_some(buffer(got));
                auto waits = s.b.async_read_some(buffer(got));
                auto comes = s.a.async_write_some(buffer("c", 1));
                co_await when_all(std::move(waits), std::move(comes));
            }
            count = counter.calls();
        }
    }(e, calls));
    EXPECT_EQ(calls, 0U);
}

TEST(AnyStreamDeathTest, WithoutAStreamItTraps) {
    any_stream none;
    char got[4];
    EXPECT_DEATH(none.async_read_some(buffer(got), [](error_code, std::size_t) {}), "held_");
}

TEST_P(AnyStream, TellsWhatItHas) {
    EXPECT_TRUE(e.a);
    int const found = (e.a.target<ip::tcp::socket>() ? 1 : 0) + (e.a.target<local::stream_protocol::socket>() ? 1 : 0) +
                      (e.a.target<little_by_little>() ? 1 : 0);
    EXPECT_EQ(found, 1);
    EXPECT_EQ(e.a.get_executor(), any_io_executor(context.get_executor()));
    EXPECT_EQ(any_stream().target<ip::tcp::socket>(), nullptr);
}

/// A stream that drops the handlers it is given, or throws.
struct bad_stream {
    io_context* context;
    bool throws;
    any_io_executor get_executor() { return context->get_executor(); }
    template <class Handler> void async_read_some(mutable_buffer, Handler) {
        if (throws)
            throw std::bad_alloc();
    }
    template <class Handler> void async_write_some(const_buffer, Handler h) { std::move(h)(error_code(), 0); }
};

TEST(AnyStreamOfABadOne, EndsWhatItDropsOrThrowsOut) {
    io_context context;
    any_stream drops(bad_stream{&context, false}), throws(bad_stream{&context, true});
    error_code of_drops, of_throws, of_stuck;
    char got[4];
    drops.async_read_some(buffer(got), [&](error_code ec, std::size_t) { of_drops = ec; });
    throws.async_read_some(buffer(got), [&](error_code ec, std::size_t) { of_throws = ec; });
    async_write(drops, buffer("abc", 3), [&](error_code ec, std::size_t) { of_stuck = ec; });
    context.run_for(20s);
    EXPECT_EQ(of_drops, error::operation_aborted);
    EXPECT_EQ(of_throws, error::no_memory);
    EXPECT_EQ(of_stuck, error::broken_pipe);
    error_code ec;
    EXPECT_EQ(drops.read_some(buffer(got), ec), 0U);
    EXPECT_EQ(ec, error::operation_not_supported);
}

/// The inside of a stream in memory. Each call of a virtual function of it, or of what an any_stream has around it,
/// counts.
class counted_bytes final : public impl::net::byte_stream {
public:
    /// With a socket its operations go to the driver.
    counted_bytes(local::stream_protocol::socket& s, bool is_socket, int& calls)
        : byte_stream(s.core().engine, true, is_socket ? &s.core() : nullptr),
          calls_(calls) {}
    bool try_now(impl::net::stream_op& o) noexcept override {
        ++calls_;
        return take(o);
    }
    bool try_write(impl::net::stream_op&) noexcept override {
        ++calls_;
        return false;
    }
    void submit(impl::net::stream_op& o) noexcept override {
        ++calls_;
        if (o.verb == impl::net::stream_verb::read && !take(o)) {
            waits_ = &o;
            return;
        }
        if (o.verb == impl::net::stream_verb::write) {
            bytes_ += static_cast<int>(o.size);
            o.result.n = o.size;
            if (waits_ && take(*waits_))
                engine().post(*std::exchange(waits_, nullptr));
        }
        engine().post(o);
    }
    void cancel(impl::net::stream_op&) noexcept override { ++calls_; }
    void perform(impl::net::stream_op& o) noexcept override {
        ++calls_;
        take(o);
    }
    void is_at(void*) noexcept override { ++calls_; }
    void forget() noexcept override { ++calls_; }
    void count() const noexcept { ++calls_; }

private:
    bool take(impl::net::stream_op& o) noexcept {
        if (bytes_ == 0)
            return false;
        o.result.n = 1;
        --bytes_;
        return true;
    }
    int& calls_;
    int bytes_ = 0;
    impl::net::stream_op* waits_ = nullptr;
};
class counted_stream {
public:
    counted_stream(local::stream_protocol::socket& s, bool is_socket, int& calls)
        : executor_(s.get_executor()),
          bytes_(new counted_bytes(s, is_socket, calls)) {}
    counted_stream(counted_stream&& other) noexcept
        : executor_(other.executor_),
          bytes_(std::exchange(other.bytes_, nullptr)) {}
    ~counted_stream() {
        if (bytes_)
            bytes_->release();
    }
    any_io_executor get_executor() {
        bytes_->count();
        return executor_;
    }
    impl::net::byte_stream& bytes() const noexcept { return *bytes_; }
    template <class Handler> void async_read_some(mutable_buffer, Handler) {} // An any_stream never calls them.
    template <class Handler> void async_write_some(const_buffer, Handler) {}

private:
    any_io_executor executor_;
    counted_bytes* bytes_;
};

class AnyStreamCalls : public testing::Test {
public:
    /// The calls for which an operation is the reason.
    template <class Op> awaitable<int> calls_of(Op op) {
        int const before = calls;
        co_await std::move(op);
        co_return calls - before;
    }
    void run(awaitable<void> all) {
        co_spawn(context, std::move(all), rethrow);
        context.restart();
        context.run_for(20s);
    }
    io_context context;
    local::stream_protocol::socket a{context}, b{context};
    int calls = 0;
    char got[4];
};

TEST_F(AnyStreamCalls, AnOperationIsOneIndirectCallAndAReadThatWasTriedInVainAnother) {
    any_stream s(counted_stream(a, false, calls));
    run([](AnyStreamCalls& t, any_stream& of) -> awaitable<void> {
        EXPECT_EQ(co_await t.calls_of(of.async_write_some(buffer("ab", 2))), 1);
        EXPECT_EQ(co_await t.calls_of(of.async_read_some(buffer(t.got))), 1);
        EXPECT_EQ(co_await t.calls_of(of.async_shutdown_send()), 1);
        EXPECT_EQ(co_await t.calls_of(async_write(of, buffer("ab", 2))), 1) << "all bytes are one operation";
        for (int i = 0; i != 3; ++i)
            EXPECT_EQ(co_await t.calls_of(of.async_read_some(buffer(t.got))), 1);
        int const before = t.calls;
        auto waits = of.async_read_some(buffer(t.got)); // It is tried, and then it waits.
        auto comes = of.async_write_some(buffer("c", 1));
        co_await when_all(std::move(waits), std::move(comes));
        EXPECT_EQ(t.calls - before, 2 + 1);
        post(t.context, [&of] { of.async_write_some(buffer("d", 1), [](error_code, std::size_t) {}); });
        EXPECT_EQ(co_await t.calls_of(of.async_read_some(buffer(t.got))), 2 + 1) << "with the write of the handler";
    }(*this, s));
    int const before = calls;
    error_code ec;
    s.read_some(buffer(got), ec);
    EXPECT_EQ(calls - before, 1);
    s.async_write_some(buffer("e", 1), [](error_code, std::size_t) {});
    context.restart();
    context.poll();
    EXPECT_EQ(calls - before, 2) << "with a handler";
}

TEST_F(AnyStreamCalls, AnOperationOfASocketIsNoIndirectCall) {
    local::connect_pair(a, b);
    any_stream s(counted_stream(a, true, calls));
    run([](AnyStreamCalls& t, any_stream& of) -> awaitable<void> {
        EXPECT_EQ(co_await t.calls_of(of.async_write_some(buffer("ab", 2))), 0);
        co_await async_write(t.b, buffer("x", 1));
        EXPECT_EQ(co_await t.calls_of(of.async_read_some(buffer(t.got))), 0);
        auto waits = of.async_read_some(buffer(t.got));
        auto comes = t.b.async_write_some(buffer("c", 1));
        co_await when_all(std::move(waits), std::move(comes));
    }(*this, s));
    EXPECT_EQ(calls, 0);
}

TEST_F(AnyStreamCalls, AnOperationTakesNoBlock) {
    if (!test::is_new_counted())
        GTEST_SKIP() << "operator new is not counted in this build";
    any_stream s(counted_stream(a, false, calls));
    std::uint64_t blocks = ~std::uint64_t{0};
    run([](AnyStreamCalls& t, any_stream& of, std::uint64_t& count) -> awaitable<void> {
        for (int round = 0; round != 2; ++round) { // The first one warms the recycler up.
            test::new_counter const counter;
            for (int i = 0; i != 100; ++i) {
                co_await of.async_write_some(buffer("a", 1));
                co_await of.async_read_some(buffer(t.got));
                auto waits = of.async_read_some(buffer(t.got));
                auto comes = of.async_write_some(buffer("c", 1));
                co_await when_all(std::move(waits), std::move(comes));
                co_await of.async_shutdown_send();
            }
            count = counter.calls();
        }
    }(*this, s, blocks));
    EXPECT_EQ(blocks, 0U);
}

/// A thread that asks an op to end needs its stream: an op leaves its slot before it lets the stream go.
struct looks_at_its_slot : impl::operation::around_primitive<looks_at_its_slot, impl::net::transfer> {
    using signature = impl::net::transfer::signature;
    static inline cancellation_signal* signal;
    static inline std::vector<bool> could_be_asked;
    using around_primitive::around_primitive;
    bool attempt(record&) const noexcept { return false; }
    void submit(record& o) const noexcept { inner.submit(o); }
    static void completed(record&) { could_be_asked.push_back(signal->slot().has_handler()); }
    static auto take(record& o) noexcept { return impl::net::transfer::take(o); }
};
TEST(StreamOps, LeaveTheirSlotBeforeTheyLetTheirStreamGo) {
    io_context context;
    local::stream_protocol::socket a(context), b(context);
    local::connect_pair(a, b);
    cancellation_signal signal;
    looks_at_its_slot::signal = &signal;
    looks_at_its_slot::could_be_asked.clear();
    char byte;
    int ended = 0;
    auto const ends = [&](error_code, std::size_t) { ++ended; };
    looks_at_its_slot(impl::net::transfer(a.core(), io::kind::receive, &byte, 1))(
        bind_cancellation_slot(signal.slot(), ends));
    EXPECT_TRUE(signal.slot().has_handler());
    signal.emit(cancellation_type::terminal);
    context.run();
    async_op<void(error_code, std::size_t)> erased(
        looks_at_its_slot(impl::net::transfer(a.core(), io::kind::receive, &byte, 1)));
    std::move(erased)(bind_cancellation_slot(signal.slot(), ends));
    EXPECT_TRUE(signal.slot().has_handler());
    signal.emit(cancellation_type::terminal);
    context.restart();
    context.run();
    EXPECT_EQ(ended, 2);
    EXPECT_EQ(looks_at_its_slot::could_be_asked, (std::vector{false, false}));
}

} // namespace
