// Hosts, links and accidents: what the simulated world does to programs that are right.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using ip::udp;
using sim::rule;
using sim::world;

constexpr std::uint64_t host_seeds = 20;

/// A world in which nothing goes wrong but what the test does.
void without_chance(world& w) {
    for (std::size_t i = 0; i != sim::rules; ++i)
        w.set(static_cast<rule>(i), 0);
}

awaitable<> echo_back(tcp::socket s) {
    std::vector<char> bytes(4096);
    for (;;) {
        auto const [ec, n] = co_await s.async_read_some(buffer(bytes), as_tuple);
        if (ec)
            break;
        auto const [failed, sent] = co_await async_write(s, buffer(bytes.data(), n), as_tuple);
        if (failed)
            break;
    }
}

awaitable<> serve_echo(io_context& c) {
    tcp::acceptor a(c, tcp::endpoint(tcp::v4(), 7));
    for (;;)
        co_spawn(c, echo_back(co_await a.async_accept()), detached);
}

awaitable<> pause_for(std::chrono::nanoseconds d) {
    steady_timer t(co_await this_coro::executor, d);
    co_await t.async_wait();
}

/// A connection to the echo server; tries until there is one.
awaitable<tcp::socket> connect_to_server() {
    auto const ex = co_await this_coro::executor;
    for (;;) {
        tcp::resolver r(ex);
        tcp::socket s(ex);
        auto const [ec, to] = co_await async_connect(s, co_await r.async_resolve("server", "7"), as_tuple);
        if (!ec)
            co_return s;
        co_await pause_for(10ms);
    }
}

awaitable<error_code> exchange(tcp::socket& s, std::string text) {
    auto const [not_sent, sent] = co_await async_write(s, buffer(text), as_tuple);
    if (not_sent)
        co_return not_sent;
    std::string got(text.size(), ' ');
    auto const [not_read, n] = co_await async_read(s, buffer(got), as_tuple);
    if (!not_read) {
        EXPECT_EQ(got, text);
    }
    co_return not_read;
}

using user_timeout = impl::net::integer_option<impl::net::option_key<IPPROTO_TCP, TCP_USER_TIMEOUT>>;

// ---- hosts

TEST(SimHosts, WhatAProgramDoesToAnotherHostInOneTurnHappensInThatOrder) {
    for (std::uint64_t seed = 1; seed <= host_seeds; ++seed) {
        world w(seed);
        without_chance(w);
        int begun = 0;
        auto& other = w.add_server("other", [&](io_context& c) -> awaitable<> {
            ++begun;
            return serve_echo(c);
        });
        w.add_host("program", [&](io_context& c) -> awaitable<> {
            steady_timer wait(c, 1s);
            co_await wait.async_wait();
            other.pause();
            other.kill();
            other.restart();
            other.pause();
            other.resume();
            tcp::socket s(c);
            wait.expires_after(1s);
            co_await wait.async_wait();
            co_await s.async_connect(tcp::endpoint(other.address(), 7));
            co_await async_write(s, buffer("word", 4));
            char word[4];
            EXPECT_EQ(co_await async_read(s, buffer(word)), 4U);
        });
        w.run();
        EXPECT_EQ(begun, 2);
    }
}

TEST(SimHosts, FindEachOtherByNameAndAddress) {
    for (std::uint64_t seed = 1; seed <= host_seeds; ++seed) {
        world w(seed);
        auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
        bool done = false;
        auto& app = w.add_host("app", [&](io_context&) -> awaitable<> {
            auto s = co_await connect_to_server();
            EXPECT_EQ(s.remote_endpoint(), tcp::endpoint(server.address(), 7));
            EXPECT_FALSE(co_await exchange(s, std::string(20'000, 'x')));
            done = true;
        });
        EXPECT_EQ(server.address().to_string(), "10.0.0.1");
        EXPECT_EQ(app.address().to_string(), "10.0.0.2");
        EXPECT_EQ(app.address_v6().to_string(), "fd00::2");
        EXPECT_EQ(server.name(), "server");
        w.run();
        EXPECT_TRUE(done);
        EXPECT_TRUE(app.is_done());
        EXPECT_FALSE(server.is_done());
    }
}

TEST(SimHosts, ProgramTakesNothingTheContextOrTheHost) {
    world w(1);
    int called = 0;
    w.add_host("nothing", [&] { ++called; });
    w.add_host("context", [&](io_context& c) { called += !c.stopped(); });
    w.add_host("host", [&](sim::host& h) { called += h.name() == "host"; });
    w.add_host("coroutine", [&]() -> awaitable<> {
        co_await pause_for(1s);
        ++called;
    });
    w.run();
    EXPECT_EQ(called, 4);
    EXPECT_GE(w.elapsed(), 1s);
}

TEST(SimHosts, ExceptionOfAProgramLeavesRun) {
    world w(1);
    w.add_host("app", []() -> awaitable<> {
        co_await pause_for(1s);
        throw std::domain_error("mine");
    });
    EXPECT_THROW(w.run(), std::domain_error);
    world v(1);
    v.add_host("app", [] { throw std::domain_error("mine"); });
    EXPECT_THROW(v.run(), std::domain_error);
}

TEST(SimHosts, LibraryClockShowsVirtualTimeInActionsToo) {
    world w(1);
    std::optional<steady_clock::time_point> seen;
    w.at(3s, [&] { seen = steady_clock::now(); });
    w.run();
    ASSERT_TRUE(seen);
    EXPECT_EQ(*seen, w.now());
    EXPECT_EQ(w.elapsed(), 3s);
}

struct witness {
    int* live;
    explicit witness(int& n) : live(&n) { ++n; }
    witness(witness const&) = delete;
    witness& operator=(witness const&) = delete;
    ~witness() { --*live; }
};

TEST(SimHosts, KilledProcessIsDestroyedAndItsPeersLearnOfIt) {
    for (std::uint64_t seed = 1; seed <= host_seeds; ++seed) {
        int live = 0, started = 0; // The world goes first, with the coroutine that refers to them.
        std::vector<error_code> seen;
        world w(seed);
        auto& server = w.add_server("server", [&](io_context& c) -> awaitable<> {
            witness const mine(live);
            ++started;
            co_await serve_echo(c);
        });
        w.add_host("app", [&]() -> awaitable<> {
            for (int i = 0; i != 2; ++i) {
                auto s = co_await connect_to_server();
                EXPECT_FALSE(co_await exchange(s, "hello"));
                char c;
                auto const [ec, n] = co_await s.async_read_some(buffer(&c, 1), as_tuple);
                seen.push_back(ec);
            }
        });
        w.at(10s, [&] {
            server.kill();
            EXPECT_EQ(live, 0);
            EXPECT_TRUE(server.is_up());
            EXPECT_TRUE(server.is_done());
        });
        w.at(11s, [&] { server.restart(); });
        w.at(20s, [&] { server.restart(); });
        w.run();
        EXPECT_EQ(seen, (std::vector<error_code>{error::eof, error::eof})) << seed;
        EXPECT_EQ(started, 3);
        EXPECT_EQ(live, 1);
    }
}

TEST(SimHosts, PowerFailureIsNoticedByWhoSends) {
    for (std::uint64_t seed = 1; seed <= host_seeds; ++seed) {
        world w(seed);
        auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
        std::vector<error_code> seen;
        std::vector<double> when;
        w.add_host("app", [&]() -> awaitable<> {
            auto patient = co_await connect_to_server();
            auto impatient = co_await connect_to_server();
            impatient.set_option(user_timeout(5'000));
            EXPECT_FALSE(co_await exchange(patient, "hello"));
            co_await pause_for(10s);
            auto const ec = co_await exchange(impatient, "is anybody there?");
            seen.push_back(ec);
            when.push_back(std::chrono::duration<double>(w.elapsed()).count());
            co_await pause_for(10s);
            seen.push_back(co_await exchange(patient, "and now?"));
        });
        w.at(5s, [&] {
            server.crash();
            EXPECT_FALSE(server.is_up());
        });
        w.at(19s, [&] { server.restart(); });
        w.run();
        ASSERT_EQ(seen.size(), 2U);
        EXPECT_EQ(seen[0], error::timed_out) << seed;
        EXPECT_GE(when[0], 15.0);
        EXPECT_LT(when[0], 26.0);
        EXPECT_EQ(seen[1], error::connection_reset) << seed; // The new system knows nothing of the connection.
    }
}

TEST(SimHosts, ProgramThatKillsItselfRunsToTheEndOfItsTurn) {
    world w(1);
    int step = 0;
    sim::host* self = nullptr;
    auto& h = w.add_host("app", [&]() -> awaitable<> {
        ++step;
        self->kill();
        ++step;
        co_await pause_for(1s);
        ++step;
    });
    self = &h;
    w.run();
    EXPECT_EQ(step, 2);
}

TEST(SimHosts, PausedProcessCatchesUpOnce) {
    world w(3);
    auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
    int ticks = 0;
    auto& app = w.add_host("app", [&]() -> awaitable<> {
        steady_timer t(co_await this_coro::executor);
        for (int i = 0; i != 5; ++i) {
            t.expires_after(1s);
            co_await t.async_wait();
            ++ticks;
        }
    });
    w.at(1500ms, [&] { app.pause(); });
    w.at(60s, [&] {
        EXPECT_EQ(ticks, 1);
        app.resume();
    });
    w.run();
    EXPECT_EQ(ticks, 5);
    EXPECT_GE(w.elapsed(), 63s);
    EXPECT_LT(w.elapsed(), 64s);
    EXPECT_TRUE(server.is_up());
}

TEST(SimHosts, SystemOfAPausedProcessGoesOnReceiving) {
    world w(3);
    without_chance(w);
    auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
    std::size_t sent = 0;
    w.add_host("app", [&]() -> awaitable<> {
        auto s = co_await connect_to_server();
        server.pause();
        std::string const text(10'000'000, 'x');
        steady_timer t(co_await this_coro::executor, 10s);
        t.async_wait([&](error_code) { s.cancel(); });
        auto const [ec, n] = co_await async_write(s, buffer(text), as_tuple);
        EXPECT_EQ(ec, error::operation_aborted);
        sent = n;
    });
    w.run();
    EXPECT_GE(sent, 65'536U); // what its window holds, and no more
    EXPECT_LT(sent, 300'000U);
}

TEST(SimHosts, ClocksDriftAndTheWallClockJumps) {
    world w(1);
    auto& fast = w.add_host("fast");
    fast.clock_drift(100'000);
    steady_timer t(fast.context(), 11s);
    t.async_wait([](error_code) {});
    w.run();
    EXPECT_GE(w.elapsed(), 9'999'999'000ns);
    EXPECT_LE(w.elapsed(), 10'000'001'000ns);
    auto const before = fast.context().driver().host().wall_ns();
    fast.jump_wall_clock(-1h);
    EXPECT_EQ(fast.context().driver().host().wall_ns(), before - 3'600'000'000'000);
    auto const steady = fast.context().now();
    fast.clock_drift(-100'000);
    EXPECT_EQ(fast.context().now(), steady);
}

TEST(SimHosts, DescriptorsRunOut) {
    world w(1);
    auto& h = w.add_host("small");
    h.descriptor_limit(2);
    tcp::socket a(h.context(), tcp::v4()), b(h.context(), tcp::v4()), c(h.context());
    error_code ec;
    c.open(tcp::v4(), ec);
    EXPECT_EQ(ec, error::no_descriptors);
    a.close();
    c.open(tcp::v4(), ec);
    EXPECT_FALSE(ec);
}

TEST(SimHosts, ServersDoNotKeepTheWorldRunning) {
    world w(1);
    int ticks = 0;
    w.add_server("clock", [&]() -> awaitable<> {
        for (;;) {
            co_await pause_for(1s);
            ++ticks;
        }
    });
    w.add_host("app", []() -> awaitable<> { co_await pause_for(10500ms); });
    w.run();
    EXPECT_EQ(ticks, 10);
    EXPECT_GE(w.elapsed(), 10500ms);
    EXPECT_LT(w.elapsed(), 10501ms);
    EXPECT_TRUE(w.run_for(5s)); // The application is done.
}

TEST(SimHosts, RunForStopsTheClockThere) {
    world w(1);
    w.add_host("app", []() -> awaitable<> { co_await pause_for(10s); });
    EXPECT_FALSE(w.run_for(4s));
    EXPECT_EQ(w.elapsed(), 4s);
    EXPECT_TRUE(w.run_for(60s));
    EXPECT_EQ(w.elapsed(), 64s);
}

// ---- links

TEST(SimLinks, PartitionLosesNothing) {
    for (std::uint64_t seed = 1; seed <= host_seeds; ++seed) {
        world w(seed);
        auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
        int exchanged = 0;
        auto& app = w.add_host("app", [&]() -> awaitable<> {
            auto s = co_await connect_to_server();
            for (int i = 0; i != 40; ++i) {
                EXPECT_FALSE(co_await exchange(s, std::to_string(i) + std::string(500, 'x')));
                ++exchanged;
                co_await pause_for(100ms);
            }
        });
        w.at(1s, [&] { w.partition(app, server); });
        w.at(4s, [&] {
            EXPECT_LT(exchanged, 40);
            w.heal();
        });
        w.run();
        EXPECT_EQ(exchanged, 40);
        EXPECT_GT(w.elapsed(), 7s);
    }
}

TEST(SimLinks, ConnectingIntoAPartitionTakesTwoMinutes) {
    world w(1);
    without_chance(w);
    auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
    auto& app = w.add_host("app", [&](io_context& c) -> awaitable<> {
        tcp::socket s(c);
        auto const [ec] = co_await s.async_connect(tcp::endpoint(server.address(), 7), as_tuple);
        EXPECT_EQ(ec, error::timed_out);
    });
    w.partition_one_way(server, app);
    w.run();
    EXPECT_GE(w.elapsed(), 63s);
    EXPECT_LT(w.elapsed(), 130s);
}

TEST(SimLinks, LostAcknowledgementsEndTheConnectionOfTheSender) {
    world w(1);
    without_chance(w);
    auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
    error_code seen;
    auto& app = w.add_host("app", [&]() -> awaitable<> {
        auto s = co_await connect_to_server();
        s.set_option(user_timeout(2'000));
        co_await pause_for(1s);
        seen = co_await exchange(s, "hello");
    });
    w.at(500ms, [&] { w.partition_one_way(server, app); }); // A message arrives, its answer does not.
    w.run();
    EXPECT_EQ(seen, error::timed_out);
    EXPECT_GE(w.elapsed(), 3s);
    EXPECT_LT(w.elapsed(), 10s);
}

TEST(SimLinks, LatencyAndBandwidthTakeTime) {
    world w(1);
    without_chance(w);
    auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
    std::chrono::nanoseconds small{}, large{};
    auto& app = w.add_host("app", [&]() -> awaitable<> {
        auto s = co_await connect_to_server();
        auto begin = w.elapsed();
        EXPECT_FALSE(co_await exchange(s, "x"));
        small = w.elapsed() - begin;
        begin = w.elapsed();
        EXPECT_FALSE(co_await exchange(s, std::string(60'000, 'x')));
        large = w.elapsed() - begin;
    });
    w.set_link(app, server, {.latency = 20ms, .jitter = 0ms, .bytes_per_second = 100'000});
    w.run();
    EXPECT_GE(small, 40ms);
    EXPECT_LT(small, 50ms);
    EXPECT_GE(large, 640ms); // there and back at the same time, each way 600 ms
    EXPECT_LT(large, 1300ms);
}

TEST(SimLinks, UnknownNeighbourIsUnreachableAfterAWhileAndOtherNetworksAtOnce) {
    world w(1);
    without_chance(w);
    w.add_host("app", [&](io_context& c) -> awaitable<> {
        tcp::socket s(c);
        auto const [none] = co_await s.async_connect(tcp::endpoint(ip::make_address("10.0.0.99"), 7), as_tuple);
        EXPECT_EQ(none, error::host_unreachable);
        EXPECT_GE(w.elapsed(), 3s);
        auto const [far] = co_await s.async_connect(tcp::endpoint(ip::make_address("192.0.2.1"), 7), as_tuple);
        EXPECT_EQ(far, error::network_unreachable);
        EXPECT_LT(w.elapsed(), 4s);
    });
    w.run();
}

TEST(SimLinks, ListenerForBothFamiliesAcceptsFromBoth) {
    world w(1);
    auto& server = w.add_server("server", [](io_context& c) -> awaitable<> {
        tcp::acceptor a(c, tcp::endpoint(tcp::v6(), 7));
        for (;;)
            co_spawn(c, echo_back(co_await a.async_accept()), detached);
    });
    int done = 0;
    w.add_host("app", [&](io_context& c) -> awaitable<> {
        co_await pause_for(1s);
        for (auto const& to : {tcp::endpoint(server.address(), 7), tcp::endpoint(server.address_v6(), 7)}) {
            tcp::socket s(c);
            co_await s.async_connect(to);
            EXPECT_FALSE(co_await exchange(s, "hello"));
            ++done;
        }
    });
    w.run();
    EXPECT_EQ(done, 2);
}

// ---- rules

/// The first error of a connection attempt or of an exchange, when one rule always applies.
error_code under_rule(rule r, std::uint32_t of_1024, world& w) {
    without_chance(w);
    error_code first;
    w.add_server("server", [](io_context& c) { return serve_echo(c); });
    w.add_host("app", [&](io_context& c) -> awaitable<> {
        co_await pause_for(1s);
        w.set(r, of_1024);
        tcp::resolver names(c);
        auto const [no_name, addresses] = co_await names.async_resolve("server", "7", as_tuple);
        if (no_name) {
            first = no_name;
            co_return;
        }
        tcp::socket s(c);
        auto const [ec, to] = co_await async_connect(s, addresses, as_tuple);
        first = ec ? ec : co_await exchange(s, "hello");
        w.set(r, 0);
    });
    w.run_for(1h);
    return first;
}

TEST(SimRules, EachDoesWhatItSays) {
    struct row {
        rule r;
        std::vector<error_code> expected;
    };
    for (auto const& [r, expected] : std::vector<row>{
             {rule::reset, {error::connection_reset}},
             {rule::refuse, {error::connection_refused}},
             {rule::unreachable, {error::host_unreachable}},
             {rule::unanswered, {error::timed_out}},
             {rule::no_buffers, {error::no_buffer_space}},
             {rule::no_descriptor, {error::no_descriptors}},
             {rule::look_up_failure, {error::host_not_found_try_again, error::no_recovery}},
         }) {
        world w(5);
        auto const ec = under_rule(r, sim::always, w);
        EXPECT_TRUE(std::find(expected.begin(), expected.end(), ec) != expected.end())
            << sim::name_of(r) << ": " << ec.message();
        EXPECT_GT(w.counts().of(r), 0U);
    }
    for (auto const r : {rule::reorder, rule::short_read, rule::short_write, rule::spike, rule::loss, rule::copy,
                         rule::overtaken, rule::look_up_delay, rule::late_cancel}) {
        world w(5);
        EXPECT_FALSE(under_rule(r, sim::always, w)) << sim::name_of(r);
    }
    for (auto const r : {rule::not_ready, rule::starve}) { // Always would be for ever.
        world w(5);
        EXPECT_FALSE(under_rule(r, 900, w)) << sim::name_of(r);
        EXPECT_GT(w.counts().of(r), 0U);
    }
}

TEST(SimRules, SettingsOverrideWhatTheSeedAndTheTestSay) {
    world w(1, "refuse=0,loss=7,requests=3,faults=0");
    w.allow_everything();
    w.set(rule::refuse, sim::always);
    EXPECT_NE(w.description().find("loss=7"), std::string::npos);
    EXPECT_EQ(w.description().find("refuse="), std::string::npos);
    EXPECT_EQ(w.choose("requests", 1, 500), 3U);
    EXPECT_EQ(w.choose("requests", 10, 500), 10U); // never less than the test allows
    auto const other = w.choose("others", 1, 500);
    EXPECT_EQ(world(1).choose("others", 1, 500), other);
    EXPECT_NE(w.description().find("others=" + std::to_string(other)), std::string::npos);
    world v(1, "faults=0");
    EXPECT_FALSE(under_rule(rule::reset, sim::always, v));
    EXPECT_EQ(v.counts().faults, 0U);
    EXPECT_THROW(world(1, "short_read"), std::invalid_argument);
    EXPECT_THROW(world(1, "short_read="), std::invalid_argument);
    EXPECT_THROW(world(1, "short_read=1x"), std::invalid_argument);
    EXPECT_THROW(world(1, "short_read=1025"), std::invalid_argument);
}

TEST(SimRules, CalmEndsAllOfThem) {
    world w(1);
    w.allow_everything();
    w.set(rule::refuse, sim::always);
    auto& server = w.add_server("server", [](io_context& c) { return serve_echo(c); });
    bool done = false;
    auto& app = w.add_host("app", [&]() -> awaitable<> {
        co_await pause_for(10s);
        auto s = co_await connect_to_server();
        auto const before = w.counts().faults;
        EXPECT_FALSE(co_await exchange(s, "hello"));
        EXPECT_EQ(w.counts().faults, before);
        done = true;
    });
    w.isolate(app);
    app.pause();
    server.crash();
    EXPECT_FALSE(w.run_for(5s));
    w.calm();
    EXPECT_TRUE(w.run_for(20s));
    EXPECT_TRUE(done);
}

TEST(SimHosts, FarTimesOfClocksLinksAndNamesSaturate) {
    world w(1);
    without_chance(w);
    auto& server = w.add_host("server", [](io_context& c) -> awaitable<> {
        tcp::acceptor a(c, {tcp::v4(), 80});
        auto const s = co_await a.async_accept();
    });
    bool connected = false, found = false;
    auto& app = w.add_host("app", [&](io_context& c) -> awaitable<> {
        tcp::resolver r(c);
        for (int i = 0; i != 2; ++i) {
            auto const [ec, all] = co_await r.async_resolve("server.test", "80", as_tuple);
            found = !ec;
            co_await pause_for(1h);
        }
        tcp::socket s(c);
        auto const [ec] = co_await s.async_connect({server.address(), 80}, as_tuple);
        connected = !ec;
    });
    w.add_name("server.test", "10.0.0.1", std::chrono::nanoseconds::max());
    w.set_link(app, server, {.latency = std::chrono::nanoseconds::max(), .jitter = std::chrono::nanoseconds::max()});
    for (int i = 0; i != 3; ++i)
        app.jump_wall_clock(std::chrono::nanoseconds::max());
    EXPECT_EQ(app.context().driver().host().wall_ns(), std::numeric_limits<std::int64_t>::max());
    for (int i = 0; i != 3; ++i)
        app.jump_wall_clock(std::chrono::nanoseconds::min());
    EXPECT_LT(app.context().driver().host().wall_ns(), 0);
    w.run_for(24h);
    EXPECT_TRUE(found);
    EXPECT_FALSE(connected);
}

// ---- names

TEST(SimNames, AreRememberedForTheirTimeToLive) {
    world w(1);
    without_chance(w);
    w.add_name("cache", "10.0.0.1", 30s);
    auto const look_up = [](io_context& c) -> awaitable<std::string> {
        tcp::resolver r(c);
        auto const [ec, found] = co_await r.async_resolve("cache", "1", as_tuple);
        co_return ec ? ec.message() : found.begin()->endpoint().address().to_string();
    };
    std::vector<std::string> seen;
    w.add_host("app", [&](io_context& c) -> awaitable<> {
        seen.push_back(co_await look_up(c));
        w.remove_name("cache");
        w.add_name("cache", "10.0.0.2", 30s);
        seen.push_back(co_await look_up(c));
        co_await pause_for(31s);
        seen.push_back(co_await look_up(c));
        w.remove_name("cache");
        co_await pause_for(31s);
        seen.push_back(co_await look_up(c));
    });
    w.run();
    EXPECT_EQ(seen, (std::vector<std::string>{"10.0.0.1", "10.0.0.1", "10.0.0.2",
                                              make_error_code(error::host_not_found).message()}));
}

// ---- datagrams

struct received {
    std::vector<std::string> texts;
};

/// Sends twenty numbered datagrams to another host, which notes what arrives.
received send_twenty(world& w) {
    received r;
    auto& b = w.add_server("b", [&](io_context& c) -> awaitable<> {
        udp::socket s(c, udp::endpoint(udp::v4(), 9));
        char bytes[100];
        for (;;) {
            udp::endpoint from;
            auto const n = co_await s.async_receive_from(buffer(bytes), from);
            EXPECT_EQ(from.address().to_string(), "10.0.0.2");
            r.texts.emplace_back(bytes, n);
        }
    });
    w.add_host("a", [&](io_context& c) -> awaitable<> {
        co_await pause_for(1s);
        udp::socket s(c, udp::v4());
        for (int i = 0; i != 20; ++i) {
            auto const text = std::to_string(100 + i);
            co_await s.async_send_to(buffer(text), udp::endpoint(b.address(), 9));
        }
        co_await pause_for(10s);
    });
    w.run();
    return r;
}

TEST(SimDatagrams, ArriveInOrderWhereNothingGoesWrong) {
    world w(1);
    without_chance(w);
    auto const r = send_twenty(w);
    EXPECT_EQ(r.texts.size(), 20U);
}

TEST(SimDatagrams, AreLostDoubledAndOvertaken) {
    world lossy(1);
    without_chance(lossy);
    lossy.set(rule::loss, 512);
    auto const some = send_twenty(lossy);
    EXPECT_LT(some.texts.size(), 20U);
    EXPECT_GT(some.texts.size(), 0U);
    EXPECT_EQ(some.texts.size() + lossy.counts().of(rule::loss), 20U);

    world doubling(1);
    without_chance(doubling);
    doubling.set(rule::copy, sim::always);
    EXPECT_EQ(send_twenty(doubling).texts.size(), 40U);

    world late(1);
    without_chance(late);
    late.set(rule::overtaken, 300);
    auto const mixed = send_twenty(late);
    EXPECT_EQ(mixed.texts.size(), 20U);
    EXPECT_FALSE(std::is_sorted(mixed.texts.begin(), mixed.texts.end()));
}

TEST(SimDatagrams, WhereNobodyListensAConnectedSocketIsTold) {
    world w(1);
    without_chance(w);
    auto& b = w.add_host("b");
    w.add_host("a", [&](io_context& c) -> awaitable<> {
        udp::socket s(c, udp::v4());
        co_await s.async_connect(udp::endpoint(b.address(), 9));
        co_await s.async_send(buffer("x", 1));
        char byte;
        auto const [ec, n] = co_await s.async_receive(buffer(&byte, 1), as_tuple);
        EXPECT_EQ(ec, error::connection_refused);
    });
    w.run();
}

TEST(SimDatagrams, DoNotCrossAPartition) {
    world w(1);
    without_chance(w);
    auto& b = w.add_host("b");
    auto& a = w.add_host("a");
    udp::socket in(b.context(), udp::endpoint(udp::v4(), 9)), out(a.context(), udp::v4());
    char bytes[10];
    std::size_t got = 0;
    udp::endpoint from;
    in.async_receive_from(buffer(bytes), from, [&](error_code, std::size_t n) { got = n; });
    w.partition_one_way(a, b);
    out.send_to(buffer("lost", 4), udp::endpoint(b.address(), 9));
    w.run();
    EXPECT_EQ(got, 0U);
    w.heal();
    out.send_to(buffer("arrives", 7), udp::endpoint(b.address(), 9));
    w.run();
    EXPECT_EQ(got, 7U);
    EXPECT_EQ(from.address(), ip::address(a.address()));
}

} // namespace
