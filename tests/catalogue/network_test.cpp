// Names, ports, odd descriptors and peers that go: more rows E, I, N and R of the failure catalogue, and D06.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <support/scale.hpp>

#include <catalogue/small_stack.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <netdb.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using local_socket = local::stream_protocol::socket;
using ip::tcp;

struct stream_pair {
    stream_pair() : a(context), b(context) { local::connect_pair(a, b); }
    io_context context;
    local_socket a, b;
};

// ---- E: descriptors that epoll does not take, events that come to nothing

TEST(Catalogue, E06_DescriptorThatCannotBeWatchedIsAlwaysReady) {
    stream_pair p;
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    int const fd = ::dup(::fileno(file));
    std::fclose(file);
    local_socket odd(p.context);
    odd.assign(local::stream_protocol(), fd);
    char byte[1];
    error_code why;
    odd.async_read_some(buffer(byte), [&](error_code ec, std::size_t) { why = ec; });
    bool read = false;
    p.a.async_read_some(buffer(byte), [&](error_code ec, std::size_t) { read = !ec; });
    p.b.write_some(buffer("x", 1));
    p.context.run();
    EXPECT_EQ(why, error::eof) << "an empty file is at its end, and that is no reason to wait";
    EXPECT_TRUE(read);
}

TEST(Catalogue, E06_DescriptorThatIsWatchedTwiceFailsTheSecondOperationOnly) {
    stream_pair p;
    local_socket twin(p.context);
    twin.assign(local::stream_protocol(), p.a.native_handle());
    char bytes[2];
    error_code first = error::eof, second;
    p.a.async_read_some(buffer(bytes, 1), [&](error_code ec, std::size_t) { first = ec; });
    twin.async_read_some(buffer(bytes + 1, 1), [&](error_code ec, std::size_t) { second = ec; });
    p.b.write_some(buffer("x", 1));
    p.context.run();
    EXPECT_FALSE(first);
    EXPECT_EQ(second, std::errc::file_exists);
    twin.release();
}

TEST(Catalogue, E09_ReadinessThatSomebodyElseUsedUpIsWaitedForAgain) {
    // Two descriptors of one socket: the event comes to both, the byte to one.
    stream_pair p;
    local_socket twin(p.context);
    twin.assign(local::stream_protocol(), ::dup(p.a.native_handle()));
    char bytes[2] = {};
    int done = 0;
    auto const count = [&](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec) << "EAGAIN is nobody's business";
        EXPECT_EQ(n, 1U);
        ++done;
    };
    p.a.async_read_some(buffer(bytes, 1), count);
    twin.async_read_some(buffer(bytes + 1, 1), count);
    p.context.poll();
    p.b.write_some(buffer("x", 1));
    while (done == 0)
        p.context.run_one();
    p.context.poll();
    EXPECT_EQ(done, 1);
    p.b.write_some(buffer("y", 1));
    p.context.run();
    EXPECT_EQ(done, 2);
    EXPECT_EQ(std::set<char>({'x', 'y'}), std::set<char>({bytes[0], bytes[1]}));
}

// ---- the end of a stream

TEST(Catalogue, E05_SomeReadsOfWhatWasLeftAtTheEndReachTheEnd) {
    for (bool const waits_first : {false, true}) {
        stream_pair p;
        char bytes[8];
        std::size_t total = 0;
        error_code end;
        auto const read = [](local_socket& s, char* into, std::size_t& n, error_code& ec) -> awaitable<void> {
            while (!ec) {
                auto [e, k] = co_await s.async_read_some(buffer(into, 8), as_tuple);
                n += k;
                ec = e;
            }
        };
        if (waits_first) {
            co_spawn(p.context, read(p.a, bytes, total, end), detached);
            p.context.poll();
        }
        p.b.write_some(buffer("abc", 3));
        p.b.close();
        if (!waits_first)
            co_spawn(p.context, read(p.a, bytes, total, end), detached);
        p.context.run();
        EXPECT_EQ(total, 3U);
        EXPECT_EQ(end, error::eof);
    }
}

TEST(Catalogue, E05_WholeReadEndsWithWhatWasLeftWhenThePeerCloses) {
    for (bool const waits_first : {false, true}) {
        stream_pair p;
        char bytes[8];
        std::size_t total = 0;
        error_code end;
        auto const read = [&] {
            async_read(p.a, buffer(bytes), [&](error_code ec, std::size_t n) {
                end = ec;
                total = n;
            });
        };
        if (waits_first) {
            read();
            p.context.poll();
        }
        p.b.write_some(buffer("abc", 3));
        p.b.close();
        if (!waits_first)
            read();
        p.context.run(); // a failure shows as the test's time-out
        EXPECT_EQ(total, 3U);
        EXPECT_EQ(end, error::eof);
    }
}

// ---- I: resets

TEST(Catalogue, I08_BytesThatCameBeforeAResetAreDeliveredBeforeIt) {
    for (bool const waits_first : {false, true}) {
        io_context context;
        tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        tcp::socket a(context), b(context);
        a.connect(acceptor.local_endpoint());
        acceptor.accept(b);
        std::string got;
        error_code end;
        auto const read = [](tcp::socket& s, std::string& out, error_code& ec) -> awaitable<void> {
            char bytes[3];
            while (!ec) {
                auto [e, n] = co_await s.async_read_some(buffer(bytes), as_tuple);
                out.append(bytes, n);
                ec = e;
            }
        };
        if (waits_first) {
            co_spawn(context, read(a, got, end), detached);
            context.poll();
        }
        b.write_some(buffer("eight by", 8));
        while (!waits_first && a.available() != 8) {
        }
        b.set_option(socket_base::linger(true, 0));
        b.close();
        if (!waits_first)
            co_spawn(context, read(a, got, end), detached);
        context.run();
        EXPECT_EQ(got, "eight by");
        EXPECT_EQ(end, error::connection_reset);
    }
}

TEST(Catalogue, I18_PeerThatGoesDuringTheConnectIsAnErrorOrAnEndInEverySimulatedWorld) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        auto acceptor = std::make_unique<tcp::acceptor>(w.context(), tcp::endpoint(ip::address_v4::loopback(), 0));
        tcp::socket s(w.context());
        int completions = 0;
        error_code connected, end;
        char byte;
        s.async_connect(acceptor->local_endpoint(), [&](error_code ec) {
            ++completions;
            connected = ec;
            if (!ec)
                s.async_read_some(buffer(&byte, 1), [&](error_code e, std::size_t) { end = e; });
        });
        steady_timer timer(w.context(), std::chrono::microseconds(seed * 3));
        timer.async_wait([&](error_code) { acceptor.reset(); });
        w.run(); // throws when somebody waits for ever
        EXPECT_EQ(completions, 1);
        if (connected)
            EXPECT_EQ(connected, error::connection_refused);
        else
            EXPECT_TRUE(end == error::connection_reset || end == error::eof) << end.message();
    }
}

// ---- R07: ports

TEST(Catalogue, R07_PortThatIsTakenAndAddressThatIsNotOursAreErrors) {
    io_context context;
    tcp::acceptor const taken(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    EXPECT_THROW(tcp::acceptor(context, taken.local_endpoint(), false), system_error);
    tcp::socket s(context, tcp::v4());
    error_code ec;
    s.bind(taken.local_endpoint(), ec);
    EXPECT_EQ(ec, error::address_in_use);
    s.bind(tcp::endpoint(ip::make_address("192.0.2.1"), 0), ec); // reserved for documentation
    EXPECT_EQ(ec, std::errc::address_not_available);
    s.bind(tcp::endpoint(ip::address_v4::loopback(), 0), ec);
    EXPECT_FALSE(ec) << "the socket is still good";
}

/// The ports that connect() may choose from, for one socket (Linux 6.3).
struct local_port_range {
    std::uint32_t value;
    explicit local_port_range(unsigned low, unsigned high) : value(high << 16 | low) {}
    template <class P> int level(P const&) const { return IPPROTO_IP; }
    template <class P> int name(P const&) const { return 51; }
    template <class P> void const* data(P const&) const { return &value; }
    template <class P> std::size_t size(P const&) const { return sizeof value; }
};

TEST(Catalogue, R07_WhenNoPortIsLeftConnectFailsAtOnce) {
    io_context context;
    tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
    unsigned const port = tcp::acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0)).local_endpoint().port();
    int connected = 0, refused = 0;
    std::vector<std::unique_ptr<tcp::socket>> sockets;
    for (int i = 0; i != 3; ++i) {
        auto& s = *sockets.emplace_back(std::make_unique<tcp::socket>(context, tcp::v4()));
        error_code ec;
        s.set_option(local_port_range(port, port), ec);
        if (ec)
            GTEST_SKIP() << "this system cannot restrict the ports of one socket: " << ec.message();
        s.async_connect(acceptor.local_endpoint(), [&](error_code e) {
            ++(e ? refused : connected);
            if (e) {
                EXPECT_EQ(e, std::errc::address_not_available);
            }
        });
    }
    context.run();
    EXPECT_EQ(connected + refused, 3);
    EXPECT_GE(refused, 2) << "there is one port, and another program may have taken it";
}

// ---- N: names

TEST(Catalogue, N03_EachAnswerOfTheNameServiceHasAnErrorOfItsOwn) {
    std::set<std::pair<std::string, int>> seen;
    int answers = 0;
    for (int const failure :
         {EAI_AGAIN, EAI_BADFLAGS, EAI_FAIL, EAI_FAMILY, EAI_MEMORY, EAI_NONAME, EAI_SERVICE, EAI_SOCKTYPE}) {
        io::resolve_op o;
        o.result = {};
        o.failure = failure;
        o.found_count = 0;
        auto const ec = impl::net::resolve_error(o);
        EXPECT_TRUE(ec);
        seen.emplace(ec.category().name(), ec.value());
        ++answers;
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(answers));
    io::resolve_op o;
    o.result = {};
    o.failure = EAI_AGAIN;
    EXPECT_EQ(impl::net::resolve_error(o), error::host_not_found_try_again);
    o.failure = EAI_NONAME;
    EXPECT_EQ(impl::net::resolve_error(o), error::host_not_found);
    o.failure = EAI_FAIL;
    EXPECT_EQ(impl::net::resolve_error(o), error::no_recovery);
    o.result.error = EMFILE;
    EXPECT_EQ(impl::net::resolve_error(o), error::no_descriptors) << "the system's own error counts first";
}

TEST(Catalogue, N05_DeadAddressesAreTriedInOrderAndTheLastErrorIsReported) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        std::vector<tcp::endpoint> dead;
        for (unsigned i = 0; i != 6; ++i)
            dead.emplace_back(ip::address_v4(0x7f000001U), static_cast<std::uint16_t>(20'000 + i));
        std::vector<unsigned> order;
        error_code end;
        tcp::socket s(w.context());
        async_connect(
            s, dead,
            [&order](error_code const&, tcp::endpoint const& e) {
                order.push_back(e.port());
                return true;
            },
            [&](error_code ec, tcp::endpoint) { end = ec; });
        w.run();
        EXPECT_EQ(order, (std::vector<unsigned>{20'000, 20'001, 20'002, 20'003, 20'004, 20'005}));
        EXPECT_EQ(end, error::connection_refused);
    }
}

TEST(Catalogue, N05_OneDeadlineEndsTheTriesOfAllAddresses) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        auto& context = w.context();
        tcp::acceptor full(context, tcp::v4());
        full.bind(tcp::endpoint(ip::address_v4::loopback(), 0));
        full.listen(0);
        std::vector<std::unique_ptr<tcp::socket>> first;
        for (int i = 0; i != 4; ++i) { // its queue is full of these
            first.push_back(std::make_unique<tcp::socket>(context));
            first.back()->async_connect(full.local_endpoint(), [](error_code) {});
        }
        std::vector<tcp::endpoint> const same(5, full.local_endpoint());
        int tries = 0, ends = 0;
        error_code end;
        tcp::socket s(context);
        steady_timer start(context, 100ms), deadline(context, 1s);
        start.async_wait([&](error_code) {
            async_connect(
                s, same, [&tries](error_code const&, tcp::endpoint const&) { return ++tries > 0; },
                [&](error_code ec, tcp::endpoint) {
                    end = ec;
                    ++ends;
                });
        });
        deadline.async_wait([&](error_code) { s.cancel(); });
        w.run();
        EXPECT_EQ(ends, 1);
        EXPECT_EQ(end, error::operation_aborted);
        EXPECT_EQ(tries, 1) << "cancelled means that no other address is tried";
    }
}

TEST(Catalogue, N06_EachRunOfAConnectionLooksItsNameUpAgain) {
    sim::world w(6);
    redis::server server(w.context());
    redis::connection conn(w.context());
    redis::config cfg;
    cfg.address = "moved.test:" + std::to_string(server.port());
    std::vector<error_code> ends;
    std::string pong;
    redis::request ping;
    ping.push("PING", "here");
    co_spawn(
        w.context(),
        [](sim::world& world, redis::connection& c, redis::config config,
           std::vector<error_code>& out) -> awaitable<void> {
            auto unknown = c.async_run(config, as_tuple);
            auto const [first] = co_await std::move(unknown);
            out.push_back(first);
            world.add_name("moved.test", "127.0.0.1");
            auto known = c.async_run(as_tuple);
            auto const [second] = co_await std::move(known);
            out.push_back(second);
        }(w, conn, cfg, ends),
        detached);
    steady_timer later(w.context(), 1s);
    later.async_wait([&](error_code) {
        conn.async_exec(ping, pong, [&](error_code ec, std::size_t) {
            EXPECT_FALSE(ec) << ec.message();
            conn.cancel();
            server.stop();
        });
    });
    w.run();
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_EQ(ends[0], error::host_not_found);
    EXPECT_EQ(ends[1], error::operation_aborted);
    EXPECT_EQ(pong, "here");
}

// ---- I16: nobody says that the network is gone

awaitable<void> serve_for_ever(io_context& context) {
    redis::server const server(context, {"0.0.0.0", 6379});
    steady_timer never(context, steady_clock::time_point::max());
    co_await never.async_wait();
}

awaitable<void> ask_again_and_again(io_context& context, redis::connection& conn, error_code& last) {
    redis::request ping;
    ping.push("PING");
    steady_timer pause(context);
    do {
        pause.expires_after(300ms);
        co_await pause.async_wait();
        auto executing = conn.async_exec(ping, redis::ignore, redirect_error(last));
        co_await std::move(executing);
    } while (!last);
}

TEST(Catalogue, I16_SilentPartitionIsNoticedWithinTwoIntervals) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        sim::world w(seed);
        auto& far = w.add_server("redis", serve_for_ever);
        auto& near = w.add_host("app");
        redis::connection conn(near.context());
        redis::config cfg;
        cfg.address = "redis:6379";
        cfg.health_check_interval = 2s;
        error_code ended, last;
        std::chrono::nanoseconds noticed{};
        conn.async_run(cfg, [&](error_code ec) {
            ended = ec;
            noticed = w.elapsed();
        });
        co_spawn(near.context(), ask_again_and_again(near.context(), conn, last),
                 [](std::exception_ptr e) { EXPECT_FALSE(e); });
        w.at(10s, [&] { w.partition(far, near); });
        w.run_for(60s);
        EXPECT_EQ(ended, redis::error::server_silent);
        EXPECT_EQ(last, redis::error::maybe_executed) << "written, and nobody knows what became of it";
        EXPECT_GE(noticed, 10s);
        EXPECT_LE(noticed, 10s + 2 * cfg.health_check_interval + 100ms);
    }
}

// ---- F10: one connection, one giant

TEST(Catalogue, F10_GiantRequestAndReplyLeaveOthersTheirTurn) {
    io_context context;
    redis::server server(context);
    redis::connection conn(context);
    redis::config cfg;
    cfg.address = server.address();
    conn.async_run(cfg, detached);
    static constexpr std::size_t size = std::size_t{32} << 20;
    bool done = false;
    std::uint64_t turns = 0;
    co_spawn(
        context,
        [](redis::connection& c, redis::server& s, bool& out) -> awaitable<void> {
            redis::request set, get;
            set.push("SET", "giant", std::string(size, 'g'));
            get.push("GET", "giant");
            std::string value;
            co_await c.async_exec(set, redis::ignore);
            co_await c.async_exec(get, value);
            EXPECT_EQ(value.size(), size);
            out = true;
            c.cancel();
            s.stop();
        }(conn, server, done),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    co_spawn(
        context,
        [](bool const& end, std::uint64_t& n) -> awaitable<void> {
            while (!end) {
                co_await this_coro::yield();
                ++n;
            }
        }(done, turns),
        detached);
    context.run();
    EXPECT_TRUE(done);
    // Both ways in pieces, no larger than the connection reads at once: somebody else has a turn between any two.
    EXPECT_GE(turns, 2 * size / cfg.read_bytes_max);
}

// ---- D06: a stack of 64 KiB is enough for everything

awaitable<void> serve_one(tcp::acceptor& acceptor) {
    auto s = co_await acceptor.async_accept();
    std::string line;
    auto const n = co_await async_read_until(s, dynamic_buffer(line), "\r\n");
    co_await async_write(s, buffer(line, n));
}

awaitable<void> use_everything(io_context& context, tcp::acceptor& acceptor, redis::server& server, bool& done) {
    tcp::resolver resolver(context);
    auto asking = resolver.async_resolve("localhost", std::to_string(acceptor.local_endpoint().port()));
    auto const found = co_await std::move(asking);
    tcp::socket s(context);
    co_await async_connect(s, found);
    co_await async_write(s, buffer("a line\r\n", 8));
    char echoed[8];
    EXPECT_EQ(co_await async_read(s, buffer(echoed)), 8U);
    steady_timer timer(context, 100us);
    co_await timer.async_wait();

    redis::connection conn(context);
    redis::config cfg;
    cfg.address = server.address();
    conn.async_run(cfg, detached);
    redis::request req;
    req.push("SET", "k", std::string(100'000, 'v'));
    req.push("GET", "k");
    redis::response<redis::ignore_t, std::string> resp;
    co_await conn.async_exec(req, resp);
    EXPECT_EQ(std::get<1>(resp).value().size(), 100'000U);
    redis::request unknown;
    unknown.push("NOSUCHCOMMAND");
    auto executing = conn.async_exec(unknown, redis::ignore, as_tuple);
    auto const [ec, n] = co_await std::move(executing);
    EXPECT_EQ(ec, redis::error::server_error);
    conn.cancel();
    server.stop();
    done = true;
}

/// Either half waits for the other: what ends the one with an exception ends the test.
auto reports_and_stops(io_context& context) {
    return [&context](std::exception_ptr e) {
        if (!e)
            return;
        try {
            std::rethrow_exception(e);
        } catch (std::exception const& why) {
            ADD_FAILURE() << why.what();
        }
        context.stop();
    };
}

TEST(Catalogue, D06_EverythingRunsOnAStackOf64KiB) {
    fairlead::test::on_small_stack([] {
        io_context context;
        tcp::acceptor acceptor(context, tcp::endpoint(ip::address_v4::loopback(), 0));
        redis::server server(context);
        bool done = false;
        co_spawn(context, serve_one(acceptor), reports_and_stops(context));
        co_spawn(context, use_everything(context, acceptor, server, done), reports_and_stops(context));
        context.run();
        EXPECT_TRUE(done);
    });
}

TEST(Catalogue, D06_SimulatedWorldsToo) {
    fairlead::test::on_small_stack([] {
        sim::world w(4);
        tcp::acceptor acceptor(w.context(), tcp::endpoint(ip::address_v4::loopback(), 0));
        redis::server server(w.context());
        bool done = false;
        co_spawn(w.context(), serve_one(acceptor), reports_and_stops(w.context()));
        co_spawn(w.context(), use_everything(w.context(), acceptor, server, done), reports_and_stops(w.context()));
        w.run();
        EXPECT_TRUE(done);
    });
}

} // namespace
