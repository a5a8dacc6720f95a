// The simulated world as a program sees it: time, connections and how they end, names, and the way it says "stuck".
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/executor.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using local::stream_protocol;
using sim::world;

constexpr std::uint64_t world_seeds = 60; // enough to meet each kind of world: prone to cut, to reorder, slow …

tcp::endpoint at_loopback(tcp::acceptor const& a) { return {ip::address_v4::loopback(), a.local_endpoint().port()}; }

template <class Socket> awaitable<> write_all(Socket& s, std::size_t n, char c = 'x') {
    std::string const text(n, c);
    for (std::size_t done = 0; done != n;)
        done += co_await s.async_write_some(buffer(text.data() + done, n - done));
}

/// Reads to the end; what ended it goes into `end`.
template <class Socket> awaitable<> read_to_end(Socket& s, std::string& into, error_code& end) {
    char chunk[1000];
    while (!end) {
        auto const [ec, n] = co_await s.async_read_some(buffer(chunk), as_tuple);
        into.append(chunk, n);
        end = ec;
    }
}

/// Runs the coroutine function with its arguments in a world of each seed.
template <class F> void under_each_seed(F f) {
    for (std::uint64_t seed = 1; seed <= world_seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        world w(seed);
        co_spawn(w.context(), f(w), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
        w.run();
        if (testing::Test::HasFailure())
            return;
    }
}

// ---- time

awaitable<> sleep_and_note(io_context& c, std::chrono::nanoseconds d, std::vector<std::int64_t>& woken) {
    steady_timer t(c, d);
    auto const begin = steady_clock::now();
    co_await t.async_wait();
    woken.push_back((steady_clock::now() - begin).count());
}

TEST(SimWorld, TimersJumpAndAreNeverEarly) {
    world w(7);
    std::vector<std::int64_t> woken;
    auto const begin = w.now();
    for (auto const d : {std::chrono::nanoseconds(1h), 1'000'300ns, 1'000'000ns, std::chrono::nanoseconds(24h)})
        co_spawn(w.context(), sleep_and_note(w.context(), d, woken), detached);
    w.run();
    EXPECT_EQ(woken, (std::vector<std::int64_t>{1'000'000, 1'000'300, 3'600'000'000'000, 86'400'000'000'000}));
    EXPECT_EQ(w.now() - begin, 24h);
}

TEST(SimWorld, RunUntilStopsTheClockThere) {
    world w(7);
    steady_timer t(w.context(), 10s);
    bool expired = false;
    t.async_wait([&](error_code) { expired = true; });
    auto const begin = w.now();
    w.context().run_until(begin + 4s);
    EXPECT_EQ(w.now() - begin, 4s);
    EXPECT_FALSE(expired);
    w.run();
    EXPECT_EQ(w.now() - begin, 10s);
    EXPECT_TRUE(expired);
}

TEST(SimWorld, WhatIsPlannedForAFarTimeDoesNotCome) {
    world w(7);
    int done = 0;
    w.at(std::chrono::hours(24 * 365 * 150), [&] { ++done; });
    w.at(std::chrono::nanoseconds::max(), [&] { ++done; });
    w.at(std::chrono::nanoseconds::min(), [&] { done += 10; });
    steady_timer soon(w.context(), 1s), never(w.context(), std::chrono::hours::max());
    soon.async_wait([&](error_code ec) { done += ec ? 0 : 100; });
    never.async_wait([&](error_code) { ++done; });
    w.run_for(std::chrono::nanoseconds::min());
    EXPECT_EQ(w.elapsed(), 0s);
    w.run_for(std::chrono::nanoseconds::max());
    EXPECT_EQ(done, 110);
    EXPECT_GT(w.elapsed(), std::chrono::hours(24 * 365 * 100));
    w.run_for(std::chrono::nanoseconds::max());
    EXPECT_EQ(done, 110);
}

awaitable<> yield_until(bool& stop, std::uint64_t& turns) {
    while (!stop) {
        ++turns;
        co_await this_coro::yield();
    }
}

TEST(SimWorld, TimePassesForThoseWhoAreAlwaysBusy) {
    world w(3);
    bool stop = false;
    std::uint64_t turns = 0;
    steady_timer t(w.context(), 5ms);
    t.async_wait([&](error_code) { stop = true; });
    co_spawn(w.context(), yield_until(stop, turns), detached);
    w.run();
    EXPECT_TRUE(stop);
    EXPECT_GT(turns, 100U);
}

// ---- connections and how they end

awaitable<> half_close_server(tcp::acceptor& a, std::string& request) {
    auto s = co_await a.async_accept();
    error_code end;
    co_await read_to_end(s, request, end);
    EXPECT_EQ(end, error::eof);
    co_await write_all(s, 30'000, 'r');
}

TEST(SimWorld, HalfClosedConnectionStillCarriesTheOtherWay) {
    under_each_seed([](world& w) -> awaitable<> {
        tcp::acceptor a(w.context(), tcp::endpoint(tcp::v6(), 0));
        std::string request, reply;
        co_spawn(w.context(), half_close_server(a, request), detached);
        tcp::socket s(w.context());
        tcp::endpoint const to(ip::address_v6::loopback(), a.local_endpoint().port());
        co_await s.async_connect(to);
        EXPECT_EQ(s.remote_endpoint(), to);
        co_await write_all(s, 20'000, 'q');
        s.shutdown(tcp::socket::shutdown_send);
        auto const [ec, n] = co_await s.async_write_some(buffer("x", 1), as_tuple);
        EXPECT_EQ(ec, error::broken_pipe);
        EXPECT_EQ(n, 0U);
        error_code end;
        co_await read_to_end(s, reply, end);
        EXPECT_EQ(end, error::eof);
        EXPECT_EQ(request, std::string(20'000, 'q'));
        EXPECT_EQ(reply, std::string(30'000, 'r'));
        char c;
        auto const again = co_await s.async_read_some(buffer(&c, 1), as_tuple);
        EXPECT_EQ(std::get<0>(again), error::eof);
    });
}

TEST(SimWorld, ConnectingWhereNobodyListensIsRefused) {
    under_each_seed([](world& w) -> awaitable<> {
        tcp::socket s(w.context());
        auto const before = w.now();
        auto const [ec] = co_await s.async_connect(tcp::endpoint(ip::address_v4::loopback(), 4000), as_tuple);
        EXPECT_EQ(ec, error::connection_refused);
        EXPECT_GT(w.now(), before);
        stream_protocol::socket l(w.context());
        auto const [local_ec] = co_await l.async_connect(stream_protocol::endpoint("/nowhere"), as_tuple);
        EXPECT_EQ(local_ec, std::errc::no_such_file_or_directory);
        // The same socket may try again.
        tcp::acceptor a(w.context(), tcp::endpoint(tcp::v4(), 4000));
        EXPECT_EQ(a.local_endpoint().port(), 4000);
        co_await s.async_connect(tcp::endpoint(ip::address_v4::loopback(), 4000));
        auto const [twice] = co_await s.async_connect(tcp::endpoint(ip::address_v4::loopback(), 4000), as_tuple);
        EXPECT_EQ(twice, error::already_connected);
    });
}

awaitable<> accept_into(tcp::acceptor& a, tcp::socket& s) { co_await a.async_accept(s); }

/// Two ends of a connection.
struct ends {
    explicit ends(world& w) : acceptor(w.context(), tcp::endpoint(tcp::v4(), 0)), near(w.context()), far(w.context()) {}
    awaitable<> connect() {
        co_spawn(acceptor.get_executor(), accept_into(acceptor, far), detached);
        co_await near.async_connect(at_loopback(acceptor));
        steady_timer t(acceptor.get_executor());
        while (!far.is_open()) {
            t.expires_after(1ms);
            co_await t.async_wait();
        }
    }
    tcp::acceptor acceptor;
    tcp::socket near, far;
};

awaitable<> pause(world& w, std::chrono::nanoseconds d) {
    steady_timer t(w.context(), d);
    co_await t.async_wait();
}

TEST(SimWorld, ClosingWithUnreadDataResetsTheConnection) {
    under_each_seed([](world& w) -> awaitable<> {
        ends e(w);
        co_await e.connect();
        co_await write_all(e.near, 10);
        co_await pause(w, 1s);
        e.far.close();
        char c;
        auto const [ec, n] = co_await e.near.async_read_some(buffer(&c, 1), as_tuple);
        EXPECT_EQ(ec, error::connection_reset);
        EXPECT_EQ(n, 0U);
        auto const [write_ec, written] = co_await e.near.async_write_some(buffer("x", 1), as_tuple);
        EXPECT_EQ(write_ec, error::broken_pipe);
        EXPECT_EQ(written, 0U);
        EXPECT_EQ(w.counts().resets, 1U);
    });
}

TEST(SimWorld, WritingToAClosedPeerSucceedsOnceThenFails) {
    under_each_seed([](world& w) -> awaitable<> {
        ends e(w);
        co_await e.connect();
        e.far.close();
        co_await pause(w, 1s);
        char c;
        auto const [end, none] = co_await e.near.async_read_some(buffer(&c, 1), as_tuple);
        EXPECT_EQ(end, error::eof);
        EXPECT_EQ(none, 0U);
        EXPECT_EQ(co_await e.near.async_write_some(buffer("x", 1)), 1U);
        co_await pause(w, 1s);
        auto const [ec, n] = co_await e.near.async_write_some(buffer("x", 1), as_tuple);
        EXPECT_EQ(ec, error::broken_pipe);
        EXPECT_EQ(n, 0U);
    });
}

TEST(SimWorld, LingerOfZeroResets) {
    under_each_seed([](world& w) -> awaitable<> {
        ends e(w);
        co_await e.connect();
        e.far.set_option(socket_base::linger(true, 0));
        e.far.close();
        std::string nothing;
        error_code end;
        co_await read_to_end(e.near, nothing, end);
        EXPECT_EQ(end, error::connection_reset);
    });
}

TEST(SimWorld, LocalPeerThatClosesBreaksThePipeAtOnceButDeliversWhatItWrote) {
    under_each_seed([](world& w) -> awaitable<> {
        stream_protocol::socket a(w.context()), b(w.context());
        local::connect_pair(a, b);
        co_await write_all(a, 5'000);
        co_await write_all(b, 1); // never read: a resets
        co_await pause(w, 1s);
        a.close();
        auto const [ec, n] = co_await b.async_write_some(buffer("x", 1), as_tuple);
        EXPECT_TRUE(ec == error::broken_pipe || ec == error::connection_reset) << ec.message();
        EXPECT_EQ(n, 0U);
        std::string text;
        error_code end;
        co_await read_to_end(b, text, end);
        EXPECT_EQ(text.size(), 5'000U);
        EXPECT_TRUE(end == error::connection_reset || end == error::eof) << end.message();
    });
}

TEST(SimWorld, WriterStopsWhenNobodyReads) {
    under_each_seed([](world& w) -> awaitable<> {
        ends e(w);
        co_await e.connect();
        std::string const text(300'000, 'x');
        std::size_t done = 0;
        error_code blocked;
        e.near.non_blocking(true);
        // Only what has space goes; a synchronous write of a non-blocking socket says when that is over.
        while (!blocked) {
            done += e.near.write_some(buffer(text), blocked);
        }
        EXPECT_EQ(blocked, error::would_block);
        EXPECT_EQ(done, 65'536U);
        co_await pause(w, 1s);
        EXPECT_EQ(e.far.available(), 65'536U);
        co_spawn(w.context(), write_all(e.near, 200'000), detached);
        std::string got;
        char chunk[5000];
        while (got.size() != 265'536) {
            auto const n = co_await e.far.async_read_some(buffer(chunk));
            got.append(chunk, n);
            EXPECT_LE(e.far.available(), 65'536U);
        }
    });
}

TEST(SimWorld, BacklogThatIsFullDelaysAndThenTimesOut) {
    world w(5);
    tcp::acceptor a(w.context(), tcp::v4());
    a.bind(tcp::endpoint(tcp::v4(), 0));
    a.listen(1);
    std::vector<tcp::socket> clients;
    clients.reserve(4);
    int connected = 0, timed_out = 0;
    for (int i = 0; i != 4; ++i)
        clients.emplace_back(w.context()).async_connect(at_loopback(a), [&](error_code ec) {
            connected += !ec;
            timed_out += ec == error::timed_out;
        });
    w.run();
    EXPECT_EQ(connected, 2);
    EXPECT_EQ(timed_out, 2);
    EXPECT_GT(w.now(), steady_clock::time_point(30s));
}

// ---- cancelling

TEST(SimWorld, CancelledAndClosedOperationsCompleteOnceWithOperationAborted) {
    for (std::uint64_t seed = 1; seed <= world_seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        world w(seed);
        stream_protocol::socket a(w.context()), b(w.context());
        local::connect_pair(a, b);
        tcp::acceptor acceptor(w.context(), tcp::endpoint(tcp::v4(), 0));
        tcp::socket connecting(w.context());
        char c;
        int aborted = 0, other = 0;
        auto count = [&](error_code ec, auto&&...) { ++(ec == error::operation_aborted ? aborted : other); };
        post(w.context(), [&] {
            a.async_read_some(buffer(&c, 1), count);
            a.async_read_some(buffer(&c, 1), count);
            acceptor.async_accept(count);
            connecting.async_connect(tcp::endpoint(ip::address_v4::loopback(), 9), count);
            a.cancel();
            acceptor.close();
            connecting.close();
            a.async_read_some(buffer(&c, 1), count); // still usable
            a.close();
        });
        w.run();
        EXPECT_EQ(aborted, 5);
        EXPECT_EQ(other, 0);
        EXPECT_FALSE(a.is_open());
    }
}

TEST(SimWorld, OperationsStartedBeforeRunCanBeCancelledBeforeRun) {
    for (std::uint64_t seed = 1; seed <= world_seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        world w(seed);
        w.set(sim::rule::late_cancel, 0); // The peer's closing may end a late one before it is cancelled.
        stream_protocol::socket a(w.context()), b(w.context());
        local::connect_pair(a, b);
        char c;
        int aborted = 0, other = 0;
        auto count = [&](error_code ec, auto&&...) { ++(ec == error::operation_aborted ? aborted : other); };
        a.async_read_some(buffer(&c, 1), count);
        a.cancel();
        {
            steady_timer t(w.context(), 1h);
            t.async_wait(count);
        }
        b.async_read_some(buffer(&c, 1), count);
        b.close();
        w.run();
        EXPECT_EQ(aborted, 3);
        EXPECT_EQ(other, 0);
    }
}

TEST(SimWorld, ReadsOfOneSocketAreServedInTheirOrder) {
    for (std::uint64_t seed = 1; seed <= world_seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        world w(seed);
        stream_protocol::socket a(w.context()), b(w.context());
        local::connect_pair(a, b);
        char got[8] = {};
        std::string const text = "12345678";
        post(w.context(), [&] {
            for (auto& c : got)
                a.async_read_some(buffer(&c, 1), [](error_code ec, std::size_t n) { EXPECT_TRUE(!ec && n == 1); });
            for (auto const& c : text)
                b.async_write_some(buffer(&c, 1), [](error_code ec, std::size_t n) { EXPECT_TRUE(!ec && n == 1); });
        });
        w.run();
        EXPECT_EQ(std::string(got, 8), text);
    }
}

// ---- the end of a world

// The token tells whether the frame is still there, started or not.
using token = std::shared_ptr<int>;

awaitable<> wait_for_ever(tcp::acceptor& a, token) { auto s = co_await a.async_accept(); }
awaitable<> read_for_ever(stream_protocol::socket s, token) {
    char c;
    co_await s.async_read_some(buffer(&c, 1));
}
awaitable<> sleep_for_ever(io_context& c, token) {
    steady_timer t(c, 1000h);
    co_await t.async_wait();
}
awaitable<> nested(io_context& c, token t) { co_await sleep_for_ever(c, t); }
awaitable<> look_up_for_ever(io_context& c, token) {
    tcp::resolver r(c);
    for (;;)
        co_await r.async_resolve("localhost", "6379");
}
awaitable<> connect_for_ever(tcp::endpoint to, io_context& c, token) {
    for (;;) {
        tcp::socket s(c);
        co_await s.async_connect(to, as_tuple);
    }
}

TEST(SimWorld, DestroyedWithEverythingPendingItGivesUpEverything) {
    for (std::uint64_t seed = 1; seed <= world_seeds; ++seed)
        for (int steps = 0; steps < 50; steps += 1 + steps / 4) {
            auto const alive = std::make_shared<int>();
            {
                world w(seed);
                auto& c = w.context();
                auto a = std::make_shared<tcp::acceptor>(c, tcp::endpoint(tcp::v4(), 0));
                auto x = std::make_shared<stream_protocol::socket>(c), y = std::make_shared<stream_protocol::socket>(c);
                local::connect_pair(*x, *y);
                stream_protocol::socket s(c), t(c);
                local::connect_pair(s, t);
                co_spawn(c, wait_for_ever(*a, alive), detached);
                co_spawn(c, read_for_ever(std::move(s), alive), detached);
                co_spawn(c, nested(c, alive), detached);
                co_spawn(c, look_up_for_ever(c, alive), detached);
                auto r = std::make_shared<tcp::resolver>(c);
                r->async_resolve("localhost", "6379", [r, alive](error_code, tcp::resolver::results_type) {});
                co_spawn(c, connect_for_ever(at_loopback(*a), c, alive), detached);
                auto bytes = std::make_shared<std::string>(100'000, 'x');
                x->async_read_some(buffer(*bytes), [x, bytes, alive](error_code, std::size_t) {});
                y->async_wait(socket_base::wait_error, [y, alive](error_code) {});
                for (int i = 0; i != steps; ++i)
                    c.run_one();
                post(c, [a, alive] {});
                EXPECT_GT(alive.use_count(), 5);
            }
            EXPECT_EQ(alive.use_count(), 1) << "seed " << seed << ", " << steps << " steps";
        }
}

std::string what_run_throws(world& w) {
    try {
        w.run();
    } catch (std::runtime_error const& e) {
        return e.what();
    }
    return "nothing was thrown";
}

bool contains(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

TEST(SimWorld, StuckProgramIsReportedWithSeedAndWaitingOperations) {
    world w(4711);
    tcp::acceptor a(w.context(), tcp::endpoint(tcp::v4(), 0));
    stream_protocol::socket near(w.context()), far(w.context());
    local::connect_pair(near, far);
    char c;
    error_code read;
    near.async_read_some(buffer(&c, 1), [&](error_code ec, std::size_t) { read = ec; });
    auto const text = what_run_throws(w);
    EXPECT_TRUE(contains(text, "seed 4711")) << text;
    EXPECT_TRUE(contains(text, "receive on #1 of localhost")) << text;
    EXPECT_TRUE(contains(text, "#0 bound, port 32768")) << text;
    // The world goes on when there is something to do again.
    near.close();
    w.run();
    EXPECT_EQ(read, error::operation_aborted);
}

TEST(SimWorld, ServerThatWaitsForClientsIsNotStuck) {
    world w(1);
    tcp::acceptor a(w.context(), tcp::endpoint(tcp::v4(), 0));
    error_code accepted;
    a.async_accept([&](error_code ec, tcp::socket) { accepted = ec; });
    w.run();
    a.close();
    w.run();
    EXPECT_EQ(accepted, error::operation_aborted);
}

TEST(SimWorld, GuardThatNobodyReleasesIsReported) {
    world w(12);
    auto guard = make_work_guard(w.context());
    EXPECT_TRUE(contains(what_run_throws(w), "seed 12"));
    steady_timer t(w.context(), steady_clock::time_point::max());
    t.async_wait([](error_code) {});
    EXPECT_TRUE(contains(what_run_throws(w), "a timer that never expires"));
    guard.reset();
    t.cancel();
    w.run();
}

TEST(SimWorld, ProgramThatIsBusyForEverIsReported) {
    world w(99);
    w.step_limit(1000);
    bool never = false;
    std::uint64_t turns = 0;
    co_spawn(w.context(), yield_until(never, turns), detached);
    auto const text = what_run_throws(w);
    EXPECT_TRUE(contains(text, "seed 99")) << text;
    EXPECT_TRUE(contains(text, "1000 steps")) << text;
}

TEST(SimWorld, ExceptionOfAHandlerLeavesRunAndTheWorldGoesOn) {
    world w(1);
    int ran = 0;
    post(w.context(), [] { throw std::logic_error("mine"); });
    post(w.context(), [&] { ++ran; });
    EXPECT_THROW(w.run(), std::logic_error);
    w.run();
    EXPECT_EQ(ran, 1);
}

// ---- names, options, blocking

TEST(SimWorld, LookUpsFindLocalhostNumbersAndRegisteredNames) {
    under_each_seed([](world& w) -> awaitable<> {
        w.add_name("redis", "127.0.0.1");
        w.add_name("redis", "::1");
        tcp::resolver r(w.context());
        auto const before = w.now();
        auto const redis = co_await r.async_resolve("redis", "6379");
        EXPECT_GT(w.now(), before);
        EXPECT_EQ(redis.size(), 2U);
        EXPECT_EQ(redis.begin()->endpoint(), tcp::endpoint(ip::address_v4::loopback(), 6379));
        auto const localhost = co_await r.async_resolve(tcp::v4(), "localhost", "http");
        EXPECT_EQ(localhost.size(), 1U);
        EXPECT_EQ(localhost.begin()->endpoint(), tcp::endpoint(ip::address_v4::loopback(), 80));
        auto const number = co_await r.async_resolve("::1", "7");
        EXPECT_EQ(number.begin()->endpoint(), tcp::endpoint(ip::address_v6::loopback(), 7));
        auto const [ec, none] = co_await r.async_resolve("elsewhere", "7", as_tuple);
        EXPECT_EQ(ec, error::host_not_found);
        auto const [service_ec, none_either] = co_await r.async_resolve("localhost", "no such service", as_tuple);
        EXPECT_EQ(service_ec, error::service_not_found);
    });
    world w(1);
    EXPECT_THROW(w.add_name("redis", "not an address"), system_error);
}

TEST(SimWorld, LookUpCanBeCancelled) {
    world w(2);
    tcp::resolver r(w.context());
    error_code got;
    r.async_resolve("localhost", "1", [&](error_code ec, tcp::resolver::results_type) { got = ec; });
    post(w.context(), [&] { r.cancel(); });
    w.run();
    EXPECT_EQ(got, error::operation_aborted);
}

TEST(SimWorld, OptionsAreKept) {
    world w(1);
    tcp::socket s(w.context(), tcp::v4());
    tcp::no_delay delay;
    s.get_option(delay);
    EXPECT_FALSE(delay.value());
    s.set_option(tcp::no_delay(true));
    s.get_option(delay);
    EXPECT_TRUE(delay.value());
    socket_base::linger linger;
    s.set_option(socket_base::linger(true, 17));
    s.get_option(linger);
    EXPECT_TRUE(linger.enabled());
    EXPECT_EQ(linger.timeout(), 17);
    EXPECT_EQ(s.native_handle(), -1) << "there is no descriptor of the system";
}

TEST(SimWorld, PortsAreTakenOnce) {
    world w(1);
    tcp::acceptor a(w.context(), tcp::endpoint(tcp::v4(), 80));
    tcp::acceptor b(w.context(), tcp::v4());
    error_code ec;
    b.bind(tcp::endpoint(ip::address_v4::loopback(), 80), ec);
    EXPECT_EQ(ec, error::address_in_use);
    b.bind(tcp::endpoint(ip::make_address_v4("10.0.0.1"), 80), ec);
    EXPECT_EQ(ec, std::errc::address_not_available);
    b.bind(tcp::endpoint(tcp::v4(), 0), ec);
    EXPECT_FALSE(ec);
    EXPECT_NE(b.local_endpoint().port(), 0);
    a.close();
    tcp::acceptor again(w.context(), tcp::endpoint(tcp::v4(), 80));
}

TEST(SimWorld, WhatWouldBlockSaysThatNothingElseCouldHappen) {
    world w(1);
    tcp::acceptor a(w.context(), tcp::endpoint(tcp::v4(), 0));
    tcp::socket s(w.context());
    s.connect(at_loopback(a)); // possible at once
    auto peer = a.accept();
    EXPECT_EQ(peer.remote_endpoint(), s.local_endpoint());
    char c;
    error_code ec;
    EXPECT_EQ(s.read_some(buffer(&c, 1), ec), 0U);
    EXPECT_EQ(ec, std::errc::resource_deadlock_would_occur);
    s.non_blocking(true);
    s.read_some(buffer(&c, 1), ec);
    EXPECT_EQ(ec, error::would_block);
    steady_timer t(w.context(), 1s);
    t.wait(ec);
    EXPECT_TRUE(ec);
}

TEST(SimWorld, OrderFollowsTheSeed) {
    bool reordered = false;
    for (std::uint64_t seed = 1; seed <= world_seeds; ++seed) {
        std::vector<int> order[2];
        for (auto& o : order) {
            world w(seed);
            for (int i = 0; i != 20; ++i)
                post(w.context(), [&o, i] { o.push_back(i); });
            w.run();
        }
        EXPECT_EQ(order[0], order[1]);
        EXPECT_EQ(order[0].size(), 20U);
        reordered = reordered || !std::is_sorted(order[0].begin(), order[0].end());
    }
    EXPECT_TRUE(reordered);
}

} // namespace
