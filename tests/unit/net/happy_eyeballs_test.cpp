// Attempts that overlap: which one wins, when the next one begins, and what is left of the others.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/recycler.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/connect_options.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/sim/seeds.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using results = tcp::resolver::results_type;

constexpr std::uint16_t race_port = 80;

/// The connections of a server.
struct guests {
    int accepted = 0;
    int here = 0;
    std::vector<std::uint16_t> from; ///< their ports
};

awaitable<> entertain(tcp::socket s, guests& g) {
    ++g.accepted;
    ++g.here;
    error_code unnamed; // It may have gone again.
    auto const who = s.remote_endpoint(unnamed).port();
    if (!unnamed)
        g.from.push_back(who);
    char c = 0;
    error_code gone;
    auto reading = s.async_read_some(buffer(&c, 1), redirect_error(gone));
    co_await std::move(reading);
    std::erase(g.from, who);
    --g.here;
}
awaitable<> welcome(io_context& c, guests& g) {
    tcp::acceptor a(c, {tcp::v6(), race_port}); // for both families
    for (;;)
        co_spawn(c, entertain(co_await a.async_accept(), g), detached);
}

/// Three servers, a client, and no chance.
class HappyEyeballs : public testing::Test {
public:
    HappyEyeballs() { quiet(world); }
    static void quiet(sim::world& w) {
        for (std::size_t i = 0; i != sim::rules; ++i)
            w.set(static_cast<sim::rule>(i), 0);
    }
    /// Also when nothing but servers is left that has something to do.
    void pass(std::chrono::nanoseconds d) {
        steady_timer t(app.context(), d);
        t.async_wait([](error_code) {});
        world.run_for(d);
    }
    sim::host& add(std::string const& name, guests& g) {
        return world.add_server(name, [&g](io_context& its) { return welcome(its, g); });
    }
    static tcp::endpoint v4(sim::host const& h, std::uint16_t port = race_port) { return {h.address(), port}; }
    static tcp::endpoint v6(sim::host const& h, std::uint16_t port = race_port) { return {h.address_v6(), port}; }
    static results found(std::vector<tcp::endpoint> const& all) {
        return results::create(all.begin(), all.end(), "service.test", "80");
    }
    /// The results of connecting `socket`, with the time that it took.
    struct outcome {
        error_code ec;
        tcp::endpoint to;
        std::chrono::nanoseconds took{};
        int calls = 0;
    };
    auto into(outcome& o) {
        return [this, &o, begin = world.elapsed()](error_code ec, tcp::endpoint const& to) {
            o.ec = ec;
            o.to = to;
            o.took = world.elapsed() - begin;
            ++o.calls;
        };
    }
    template <class... Options> outcome race(std::vector<tcp::endpoint> const& all, Options const&... options) {
        pass(1s); // The servers listen.
        outcome o;
        async_connect(socket, found(all), options..., into(o));
        world.run();
        EXPECT_EQ(o.calls, 1);
        return o;
    }
    int guests_everywhere() const { return at_a.here + at_b.here + at_c.here; }
    void expect_only_guest(guests const& g, tcp::endpoint const& to) {
        pass(10s);
        EXPECT_EQ(g.here, 1);
        EXPECT_EQ(guests_everywhere(), 1);
        ASSERT_TRUE(socket.is_open());
        EXPECT_EQ(socket.remote_endpoint(), to);
        EXPECT_EQ(g.from, std::vector<std::uint16_t>{socket.local_endpoint().port()});
    }

    guests at_a, at_b, at_c;
    sim::world world{1};
    sim::host& a = add("a", at_a);
    sim::host& b = add("b", at_b);
    sim::host& c = add("c", at_c);
    sim::host& app = world.add_host("app");
    tcp::socket socket{app.context()};
    std::uint16_t const nobody = 81;
};

TEST_F(HappyEyeballs, SecondAddressIsTriedAfter250MillisecondsAndWins) {
    world.partition(app, a);
    world.add_name("service.test", a.address().to_string());
    world.add_name("service.test", b.address().to_string());
    pass(1s);
    tcp::resolver resolver(app.context());
    results addresses;
    resolver.async_resolve("service.test", "80", [&](error_code, results const& r) { addresses = r; });
    world.run();
    ASSERT_EQ(addresses.size(), 2U);
    outcome o;
    async_connect(socket, addresses, into(o));
    world.run();
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(b));
    EXPECT_GE(o.took, 250ms);
    EXPECT_LT(o.took, 260ms);
    world.heal();
    pass(1h);
    expect_only_guest(at_b, v4(b));
    EXPECT_EQ(at_a.accepted, 0);
}

TEST_F(HappyEyeballs, FirstAddressThatAnswersAfterTheSecondHasBegunWins) {
    world.set_link(app, a, {.latency = 200ms});
    world.set_link(app, b, {.latency = 300ms});
    auto const o = race({v4(a), v4(b)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(a));
    EXPECT_GE(o.took, 400ms);
    EXPECT_LT(o.took, 410ms);
    expect_only_guest(at_a, v4(a));
}

TEST_F(HappyEyeballs, AnswersOfBothMakeOneConnection) {
    world.set_link(app, a, {.latency = 250ms, .jitter = 0ns});
    world.set_link(app, b, {.latency = 125ms, .jitter = 0ns});
    auto const o = race({v4(a), v4(b)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    pass(10s);
    EXPECT_EQ(at_a.accepted, 1);
    EXPECT_EQ(at_b.accepted, 1);
    o.to == v4(a) ? expect_only_guest(at_a, v4(a)) : expect_only_guest(at_b, v4(b));
}

TEST_F(HappyEyeballs, FamiliesTakeTurns) {
    world.partition(app, a);
    world.partition(app, b);
    auto const o = race({v6(a), v6(b), v4(c)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(c));
    EXPECT_LT(o.took, 260ms) << "the third in the list is the second that is tried";
    EXPECT_TRUE(socket.local_endpoint().address().is_v4());
    socket.set_option(tcp::no_delay(true));
}

TEST_F(HappyEyeballs, NextAttemptBeginsAtOnceWhenOneHasFailed) {
    auto const o = race({v4(a, nobody), v6(b, nobody), v4(c)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(c));
    EXPECT_LT(o.took, 10ms);
    expect_only_guest(at_c, v4(c));
}

TEST_F(HappyEyeballs, FailureBesideAnotherAttemptBeginsTheNextAtOnce) {
    world.partition(app, a);
    auto const o = race({v4(a), v4(b, nobody), v4(c)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(c));
    EXPECT_LT(o.took, 260ms);
}

TEST_F(HappyEyeballs, DelayCountsFromTheLastAttempt) {
    world.set_link(app, a, {.latency = 100ms, .jitter = 0ns}); // refused after 200 ms
    world.partition(app, b);
    auto const o = race({v4(a, nobody), v4(b), v4(c)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(c));
    EXPECT_GE(o.took, 450ms);
    EXPECT_LT(o.took, 460ms);
}

TEST_F(HappyEyeballs, EarlierAttemptGoesOnWhenALaterOneHasFailed) {
    world.set_link(app, a, {.latency = 200ms});
    auto const o = race({v4(a), v4(b, nobody)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(a));
    expect_only_guest(at_a, v4(a));
}

TEST_F(HappyEyeballs, LaterAttemptGoesOnInTheSocketWhenTheFirstHasFailed) {
    world.set_link(app, a, {.latency = 150ms});
    world.partition(app, b);
    pass(1s);
    outcome o;
    async_connect(socket, found({v4(a, nobody), v4(b)}), into(o));
    pass(400ms); // The first has been refused, the second is under way.
    EXPECT_EQ(o.calls, 0);
    EXPECT_TRUE(socket.is_open());
    socket.cancel();
    pass(1ms);
    EXPECT_EQ(o.calls, 1);
    EXPECT_EQ(o.ec, error::operation_aborted);
}

TEST_F(HappyEyeballs, DelayIsAtLeast10MillisecondsAndAtMost2Seconds) {
    world.partition(app, a);
    auto const short_delay = race({v4(a), v4(b)}, connect_options{.attempt_delay = 0ns});
    EXPECT_GE(short_delay.took, 10ms);
    EXPECT_LT(short_delay.took, 20ms);
    auto const chosen = race({v4(a), v4(b)}, connect_options{.attempt_delay = 700ms});
    EXPECT_GE(chosen.took, 700ms);
    EXPECT_LT(chosen.took, 710ms);
    auto const long_delay = race({v4(a), v4(b)}, connect_options{.attempt_delay = 1h});
    EXPECT_GE(long_delay.took, 2s);
    EXPECT_LT(long_delay.took, 2010ms);
}

TEST_F(HappyEyeballs, LimitEndsEachAttempt) {
    world.partition(app, a);
    world.partition(app, b);
    auto const o = race({v4(a), v4(b)}, connect_options{.attempt_limit = 1s});
    EXPECT_EQ(o.ec, error::timed_out);
    EXPECT_GE(o.took, 1250ms);
    EXPECT_LT(o.took, 1260ms);
    auto const one = race({v4(a)}, connect_options{.attempt_limit = 3s});
    EXPECT_EQ(one.ec, error::timed_out);
    EXPECT_GE(one.took, 3s);
    EXPECT_LT(one.took, 3010ms);
}

TEST_F(HappyEyeballs, SequentialAttemptsKeepTheOrderAndDoNotOverlap) {
    world.partition(app, a);
    auto const o = race({v6(a), v6(b), v4(c)}, connect_options{.attempt_limit = 1s, .sequential = true});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v6(b));
    EXPECT_GE(o.took, 1s);
    EXPECT_LT(o.took, 1010ms);
}

TEST_F(HappyEyeballs, OtherRangesAndNamelessResultsAreTriedInTheirOrder) {
    world.set_link(app, a, {.latency = 2s});
    pass(10s);
    std::vector<tcp::endpoint> const all{v4(a), v4(b)};
    outcome plain, nameless, raced;
    async_connect(socket, all, into(plain));
    world.run();
    EXPECT_EQ(plain.to, v4(a));
    async_connect(socket, results::create(all.begin(), all.end(), "", "80"), into(nameless));
    world.run();
    EXPECT_EQ(nameless.to, v4(a));
    async_connect(socket, all, connect_options(), into(raced));
    world.run();
    EXPECT_EQ(raced.to, v4(b));
}

TEST_F(HappyEyeballs, AllFailWithTheErrorThatTellsMost) {
    pass(1s);
    outcome o;
    async_connect(socket, found({v4(a, nobody), v6(b, nobody)}), into(o));
    world.run();
    EXPECT_EQ(o.ec, error::connection_refused);
    EXPECT_EQ(o.to, tcp::endpoint());
    tcp::endpoint const elsewhere(ip::make_address("192.0.2.1"), race_port);
    async_connect(socket, found({elsewhere}), into(o));
    world.run();
    EXPECT_EQ(o.ec, error::network_unreachable);
    async_connect(socket, found({v4(a, nobody), elsewhere}), into(o));
    world.run();
    EXPECT_EQ(o.ec, error::connection_refused);
}

TEST(HappyEyeballsErrors, OfAddressesWithoutAWayCountOnlyWhereThereAreNoOthers) {
    using impl::net::more_telling;
    auto const code = [](int e) { return error_code(e, error::get_system_category()); };
    for (int const no_way : {ENETUNREACH, EAFNOSUPPORT, EADDRNOTAVAIL}) {
        EXPECT_EQ(more_telling({}, code(no_way)), code(no_way));
        EXPECT_EQ(more_telling(code(ECONNREFUSED), code(no_way)), code(ECONNREFUSED));
        EXPECT_EQ(more_telling(code(no_way), code(ECONNREFUSED)), code(ECONNREFUSED));
    }
    EXPECT_EQ(more_telling(code(ENETUNREACH), code(EADDRNOTAVAIL)), code(EADDRNOTAVAIL));
    EXPECT_EQ(more_telling(code(ECONNREFUSED), code(EHOSTUNREACH)), code(EHOSTUNREACH));
}

TEST_F(HappyEyeballs, NoEndpointIsNotFound) {
    outcome o;
    async_connect(socket, results(), into(o));
    EXPECT_EQ(o.calls, 0);
    world.run();
    EXPECT_EQ(o.ec, error::not_found);
}

TEST_F(HappyEyeballs, OneAddressArmsNoTimer) {
    auto const first_deadline = [this] {
        return io_loop::of(*app.context().get_executor().native_loop()).look().deadline_ns;
    };
    pass(1s);
    outcome o;
    async_connect(socket, found({v4(a)}), into(o));
    EXPECT_EQ(first_deadline(), INT64_MAX);
    world.run();
    EXPECT_FALSE(o.ec);
    async_connect(socket, found({v4(a), v4(b)}), into(o));
    EXPECT_NE(first_deadline(), INT64_MAX);
    world.run();
    EXPECT_FALSE(o.ec);
}

TEST_F(HappyEyeballs, OpenSocketIsReopened) {
    socket.open(tcp::v6());
    auto const o = race({v4(a)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_TRUE(socket.local_endpoint().address().is_v4());
}

// ---- cancelling

TEST_F(HappyEyeballs, RequestDuringTheRaceClosesEverything) {
    for (auto const type : {cancellation_type::terminal, cancellation_type::partial}) {
        world.set_link(app, a, {.latency = 2s});
        world.set_link(app, b, {.latency = 2s});
        pass(10s);
        cancellation_signal signal;
        outcome o;
        async_connect(socket, found({v4(a), v4(b), v4(c, nobody)}), bind_cancellation_slot(signal.slot(), into(o)));
        pass(400ms);
        signal.emit(type);
        pass(1ms);
        EXPECT_EQ(o.calls, 1);
        EXPECT_EQ(o.ec, error::operation_aborted);
        EXPECT_FALSE(socket.is_open());
        pass(1min);
        EXPECT_EQ(guests_everywhere(), 0);
    }
}

TEST_F(HappyEyeballs, TotalRequestIsNotHeard) {
    world.set_link(app, a, {.latency = 1s});
    world.partition(app, b);
    pass(10s);
    cancellation_signal signal;
    outcome o;
    async_connect(socket, found({v4(a), v4(b)}), bind_cancellation_slot(signal.slot(), into(o)));
    signal.emit(cancellation_type::total);
    world.run();
    EXPECT_FALSE(o.ec);
    EXPECT_FALSE(signal.slot().has_handler()) << "the slot is given back";
}

TEST_F(HappyEyeballs, ClosingAndCancellingTheSocketEndTheRace) {
    for (bool const closes : {false, true}) {
        world.partition(app, a);
        world.partition(app, b);
        pass(1s);
        outcome o;
        async_connect(socket, found({v4(a), v4(b)}), into(o));
        pass(400ms);
        if (closes)
            socket.close();
        else
            socket.cancel();
        pass(1ms);
        EXPECT_EQ(o.calls, 1);
        EXPECT_EQ(o.ec, error::operation_aborted);
        EXPECT_FALSE(socket.is_open());
    }
}

TEST_F(HappyEyeballs, LimitOfTheTokenEndsTheRace) {
    world.partition(app, a);
    world.partition(app, b);
    pass(1s);
    outcome o;
    async_connect(socket, found({v4(a), v4(b)}), cancel_after(300ms, into(o)));
    world.run();
    EXPECT_EQ(o.ec, error::operation_aborted);
    EXPECT_GE(o.took, 300ms);
    EXPECT_LT(o.took, 310ms);
}

TEST_F(HappyEyeballs, AbandonedRaceCallsNobody) {
    auto const alive = std::make_shared<int>();
    int calls = 0;
    {
        sim::world w(1);
        auto& server = w.add_host("server");
        auto& client = w.add_host("client");
        w.partition(server, client);
        auto s = std::make_unique<tcp::socket>(client.context());
        cancellation_signal signal;
        async_connect(*s, found({v4(server), v6(server), v4(server, nobody)}),
                      bind_cancellation_slot(signal.slot(), [alive, &calls](error_code, tcp::endpoint) { ++calls; }));
        w.run_for(400ms);
        EXPECT_EQ(alive.use_count(), 2);
        s.reset(); // Its op has not come back.
    }
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(calls, 0);
}

// ---- tokens and memory

TEST_F(HappyEyeballs, AwaitedRaceThrowsWithTheName) {
    std::string text;
    co_spawn(
        app.context(),
        [](tcp::socket& s, results to, std::string& out) -> awaitable<> {
            try {
                co_await async_connect(s, to);
            } catch (system_error const& e) {
                out = e.what();
            }
        }(socket, found({v4(a, nobody), v6(a, nobody)}), text),
        [](std::exception_ptr e) { EXPECT_FALSE(e); });
    world.run();
    EXPECT_EQ(text.find("connect to service.test:80 (each of 2 endpoints): "), 0U) << text;
}

TEST_F(HappyEyeballs, AwaitedRaceIsCancelledWithItsChain) {
    world.partition(app, a);
    world.partition(app, b);
    cancellation_signal signal;
    error_code end;
    co_spawn(
        app.context(),
        [](tcp::socket& s, results to, error_code& out) -> awaitable<> {
            auto const [ec, at] = co_await async_connect(s, to, as_tuple);
            out = ec;
        }(socket, found({v4(a), v4(b)}), end),
        bind_cancellation_slot(signal.slot(), [](std::exception_ptr) {}));
    pass(400ms);
    EXPECT_FALSE(end);
    signal.emit(cancellation_type::terminal);
    pass(1ms);
    EXPECT_EQ(end, error::operation_aborted);
    EXPECT_FALSE(socket.is_open());
}

/// Memory of the program's own, with a bound.
template <class T> struct few_blocks {
    using value_type = T;
    int* left;
    explicit few_blocks(int& n) : left(&n) {}
    template <class U> few_blocks(few_blocks<U> const& other) : left(other.left) {}
    T* allocate(std::size_t n) {
        if (*left == 0)
            throw std::bad_alloc();
        --*left;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) {
        ++*left;
        std::allocator<T>().deallocate(p, n);
    }
    friend bool operator==(few_blocks const&, few_blocks const&) = default;
};

TEST_F(HappyEyeballs, WithoutMemoryForASecondAttemptTheFirstGoesOnAlone) {
    world.partition(app, a);
    pass(1s);
    int blocks = 1;
    outcome o;
    async_connect(socket, found({v4(a), v4(b)}), connect_options{.attempt_limit = 1s},
                  bind_allocator(few_blocks<void>(blocks), into(o)));
    EXPECT_EQ(blocks, 0);
    world.run();
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(b));
    EXPECT_GE(o.took, 1s);
    EXPECT_LT(o.took, 1010ms);
    EXPECT_EQ(blocks, 1);
}

TEST_F(HappyEyeballs, EachOverlappingAttemptTakesABlockAndGivesItBack) {
    world.partition(app, a);
    world.partition(app, b);
    pass(1s);
    int blocks = 5;
    outcome o;
    async_connect(socket, found({v4(a), v4(b), v4(c, nobody)}), bind_allocator(few_blocks<void>(blocks), into(o)));
    EXPECT_EQ(blocks, 4);
    pass(300ms);
    EXPECT_EQ(blocks, 3);
    pass(300ms);
    EXPECT_EQ(blocks, 3) << "the third was refused";
    socket.close();
    pass(1ms);
    EXPECT_EQ(o.ec, error::operation_aborted);
    EXPECT_EQ(blocks, 5);
}

TEST_F(HappyEyeballs, NoDescriptorLeaks) {
    world.partition(app, a);
    app.descriptor_limit(2);
    for (int i = 0; i != 20; ++i) {
        auto const o = race({v4(a), v4(b)});
        EXPECT_FALSE(o.ec) << o.ec.message();
        socket.close();
    }
}

TEST_F(HappyEyeballs, WithoutADescriptorForASecondAttemptTheFirstGoesOn) {
    world.set_link(app, a, {.latency = 200ms});
    app.descriptor_limit(1);
    auto const o = race({v4(a), v4(b)});
    EXPECT_FALSE(o.ec) << o.ec.message();
    EXPECT_EQ(o.to, v4(a));
}

// ---- whatever happens

/// A race of random addresses under random circumstances, which a program may end at a random time.
class random_race {
public:
    struct counts {
        int connected = 0;
        int to_another = 0; ///< than the first in the list
        int aborted = 0;
        int failed = 0;
    };
    random_race(sim::world& w, counts& n) : world_(w), counts_(n) {
        for (auto& h : hosts_) {
            auto& g = guests_.emplace_back(std::make_unique<guests>());
            h = &w.add_server("server" + std::to_string(guests_.size()),
                              [at = g.get()](io_context& its) { return welcome(its, *at); });
            auto const ms = std::chrono::milliseconds(draw(400));
            w.set_link(app_, *h, {.latency = ms, .jitter = std::chrono::milliseconds(draw(50))});
            if (draw(4) == 0)
                w.partition(app_, *h);
        }
    }
    void run() {
        pass(1s); // The servers listen.
        for (auto const r :
             {sim::rule::refuse, sim::rule::unreachable, sim::rule::unanswered, sim::rule::no_descriptor})
            world_.allow(r);
        std::vector<tcp::endpoint> all;
        for (auto n = 1 + draw(6); n != 0; --n) {
            auto const& h = *hosts_[draw(3)];
            auto const port = static_cast<std::uint16_t>(race_port + (draw(4) == 0));
            all.push_back(draw(2) ? tcp::endpoint(h.address(), port) : tcp::endpoint(h.address_v6(), port));
        }
        connect_options o{.attempt_delay = std::chrono::milliseconds(10 + draw(500)), .sequential = draw(4) == 0};
        if (draw(2))
            o.attempt_limit = std::chrono::milliseconds(1 + draw(1000));
        cancellation_signal signal;
        int calls = 0;
        error_code end;
        tcp::endpoint to;
        auto const found = tcp::resolver::results_type::create(all.begin(), all.end(), "service.test", "80");
        async_connect(socket_, found, o,
                      bind_cancellation_slot(signal.slot(), [&](error_code ec, tcp::endpoint const& e) {
                          ++calls;
                          end = ec;
                          to = e;
                      }));
        auto const how = draw(6);
        if (how < 3) {
            pass(std::chrono::microseconds(draw(1'500'000)));
            if (calls == 0) {
                if (how == 0)
                    signal.emit(cancellation_type::terminal);
                else if (how == 1)
                    socket_.close();
                else
                    socket_.cancel();
                pass(1s); // A cancelled attempt may take some time to say so.
                EXPECT_EQ(calls, 1);
            }
        }
        pass(1h);
        EXPECT_EQ(calls, 1);
        ++(!end ? counts_.connected : end == error::operation_aborted ? counts_.aborted : counts_.failed);
        counts_.to_another += !end && to != all[0];
        EXPECT_FALSE(signal.slot().has_handler());
        world_.calm();
        pass(1h);
        int here = 0;
        for (auto const& g : guests_) {
            here += g->here;
            if (!end && g->here) {
                EXPECT_EQ(g->from, std::vector<std::uint16_t>{socket_.local_endpoint().port()});
            }
        }
        EXPECT_EQ(here, end ? 0 : 1) << end.message();
        if (!end) {
            EXPECT_EQ(socket_.remote_endpoint(), to);
        }
        expect_no_descriptor_left();
    }

private:
    std::uint32_t draw(std::uint32_t n) { return world_.random().below(n); }
    void pass(std::chrono::nanoseconds d) {
        steady_timer t(app_.context(), d);
        t.async_wait([](error_code) {});
        world_.run_for(d + 1ms);
    }
    void expect_no_descriptor_left() {
        error_code ignored; // It may be closed.
        socket_.close(ignored);
        pass(1s);
        app_.descriptor_limit(1);
        EXPECT_NO_THROW(tcp::socket(app_.context(), tcp::v4()));
        EXPECT_THROW((tcp::socket(app_.context(), tcp::v4()), tcp::socket(app_.context(), tcp::v4())), system_error);
    }

    sim::world& world_;
    counts& counts_;
    sim::host& app_ = world_.add_host("app");
    tcp::socket socket_{app_.context()};
    sim::host* hosts_[3];
    std::vector<std::unique_ptr<guests>> guests_;
};

TEST(HappyEyeballsWorlds, WhateverHappensOneConnectionIsLeftOrNone) {
    random_race::counts all;
    sim::for_each_seed(test::scaled(1000, 100), [&](sim::world& w) { random_race(w, all).run(); });
    EXPECT_GT(all.connected, all.to_another);
    EXPECT_GT(all.to_another, 0);
    EXPECT_GT(all.aborted, 0);
    EXPECT_GT(all.failed, 0);
}

// ---- threads and executors

/// Two addresses of this computer: the first refuses.
struct on_this_computer {
    io_context context;
    tcp::acceptor acceptor{context, tcp::endpoint(ip::address_v4::loopback(), 0)};
    results found() const {
        std::vector<tcp::endpoint> const all{tcp::endpoint(ip::address_v4::loopback(), 1), acceptor.local_endpoint()};
        return results::create(all.begin(), all.end(), "localhost", "80");
    }
};

bool is_connected(tcp::socket const& s) {
    error_code ec;
    static_cast<void>(s.remote_endpoint(ec));
    return !ec;
}

TEST(HappyEyeballsMemory, OneAwaitedAddressTakesNoBlockAndTwoTakeOne) {
    on_this_computer here;
    for (std::size_t const n : {1U, 2U}) {
        std::vector<tcp::endpoint> const all(n, here.acceptor.local_endpoint());
        std::uint64_t taken = 0;
        tcp::socket socket(here.context);
        co_spawn(
            here.context,
            [](tcp::socket& s, results to, std::uint64_t& out) -> awaitable<> {
                impl::exec::recycler_trim();
                auto const before = this_thread_recycler_counters().fresh;
                co_await async_connect(s, to);
                out = this_thread_recycler_counters().fresh - before;
            }(socket, results::create(all.begin(), all.end(), "localhost", "80"), taken),
            rethrow);
        here.context.run();
        here.context.restart();
        EXPECT_TRUE(socket.is_open());
        EXPECT_EQ(taken, n - 1);
    }
}

TEST(HappyEyeballsExecutors, PoolAndStrandRunTheHandler) {
    on_this_computer here;
    thread_pool pool(2);
    for (auto i = test::scaled(50, 5); i != 0; --i) {
        auto const s = make_strand(pool.get_executor());
        basic_stream_socket<tcp, strand<thread_pool::executor_type>> socket(s);
        std::promise<bool> ran;
        async_connect(socket, here.found(), [&](error_code ec, tcp::endpoint const& to) {
            ran.set_value(!ec && to == here.acceptor.local_endpoint() && s.running_in_this_thread());
        });
        EXPECT_TRUE(ran.get_future().get());
        EXPECT_EQ(socket.remote_endpoint(), here.acceptor.local_endpoint());
    }
}

TEST(HappyEyeballsExecutors, HandlerRunsOnItsOwnExecutor) {
    on_this_computer here;
    thread_pool pool(1);
    tcp::socket socket(here.context);
    std::promise<bool> ran;
    async_connect(socket, here.found(), bind_executor(pool, [&](error_code ec, tcp::endpoint const&) {
                      ran.set_value(!ec && pool.get_executor().running_in_this_thread());
                  }));
    here.context.run();
    EXPECT_TRUE(ran.get_future().get());
}

TEST(HappyEyeballsExecutors, SocketThatIsClosedBeforeTheHandlerRunsIsNotConnected) {
    on_this_computer here;
    io_context other;
    tcp::socket socket(here.context);
    error_code end;
    async_connect(socket, here.found(), bind_executor(other, [&](error_code ec, tcp::endpoint const&) { end = ec; }));
    for (int i = 0; i != 1000 && here.context.run_one_for(1s) + other.poll_one() != 0 && !is_connected(socket); ++i) {
    }
    ASSERT_TRUE(is_connected(socket));
    here.context.restart();
    here.context.poll();
    socket.close();
    other.restart();
    other.run();
    EXPECT_EQ(end, error::operation_aborted);
}

TEST(HappyEyeballsThreads, RequestOfAnotherThreadComesInTimeOrTooLate) {
    on_this_computer here;
    tcp::acceptor full(here.context, tcp::v4());
    full.bind(tcp::endpoint(ip::address_v4::loopback(), 0));
    full.listen(0);
    auto const at = full.local_endpoint();
    std::vector<std::unique_ptr<tcp::socket>> filling;
    for (int i = 0; i != 3; ++i) { // Nobody answers any more.
        filling.push_back(std::make_unique<tcp::socket>(here.context));
        filling.back()->async_connect(at, [](error_code) {});
    }
    thread_pool callers(2);
    auto work = make_work_guard(here.context);
    post(callers, [&] { here.context.run(); });
    int aborted = 0, connected = 0;
    for (std::uint64_t i = 0; i != test::scaled(300, 40); ++i) {
        std::vector<tcp::endpoint> const all{at, here.acceptor.local_endpoint(), at};
        basic_stream_socket<tcp, strand<io_context::executor_type>> socket(make_strand(here.context.get_executor()));
        cancellation_signal signal;
        std::promise<error_code> end;
        async_connect(
            socket, all, connect_options{.attempt_delay = 10ms},
            bind_cancellation_slot(signal.slot(), [&](error_code ec, tcp::endpoint const&) { end.set_value(ec); }));
        auto ended = end.get_future();
        if (i % 3 != 0)
            static_cast<void>(ended.wait_for(std::chrono::microseconds(i % 2 ? 9'900 + i * 2 : i * 10)));
        bool const asks = i % 10 != 9;
        if (asks)
            signal.emit(cancellation_type::terminal);
        auto const ec = ended.get();
        EXPECT_TRUE(!ec || (asks && ec == error::operation_aborted)) << ec.message();
        ++(ec ? aborted : connected);
    }
    EXPECT_GT(aborted, 0);
    EXPECT_GT(connected, 0);
    full.close();
    for (auto& s : filling)
        s->close();
    work.reset();
}

// ---- the order

std::string order_of(std::vector<tcp::endpoint> const& all, bool by_family) {
    impl::net::attempt_order<tcp::endpoint> order(by_family);
    std::string text;
    while (order.find(all))
        text += (text.empty() ? "" : " ") + std::to_string(order.take(all).port());
    return text;
}

TEST(AttemptOrder, FirstFamilyBeginsAndTheRestFollows) {
    auto const four = [](std::uint16_t port) { return tcp::endpoint(ip::address_v4::loopback(), port); };
    auto const six = [](std::uint16_t port) { return tcp::endpoint(ip::address_v6::loopback(), port); };
    std::vector<tcp::endpoint> const all{six(1), six(2), six(3), four(4), four(5)};
    EXPECT_EQ(order_of(all, true), "1 4 2 5 3");
    EXPECT_EQ(order_of(all, false), "1 2 3 4 5");
    EXPECT_EQ(order_of({four(1), six(2), six(3), six(4)}, true), "1 2 3 4");
    EXPECT_EQ(order_of({four(1), four(2)}, true), "1 2");
    EXPECT_EQ(order_of({four(1), four(2), six(3)}, true), "1 3 2");
    EXPECT_EQ(order_of({}, true), "");
}

// ---- N04

TEST(Catalogue, N04_BrokenIpv6CostsOneDelay) {
    sim::world w(4);
    HappyEyeballs::quiet(w);
    guests there;
    auto& server = w.add_server("server", [&](io_context& c) { return welcome(c, there); });
    auto& lost = w.add_host("lost");
    auto& app = w.add_host("app");
    w.partition(app, lost);
    w.add_name("service.test", lost.address_v6().to_string());
    w.add_name("service.test", lost.address_v6().to_string());
    w.add_name("service.test", server.address().to_string());
    w.run_for(1s);
    auto const begin = w.elapsed();
    std::chrono::nanoseconds took{};
    tcp::socket s(app.context());
    co_spawn(
        app.context(),
        [](tcp::socket& to_connect) -> awaitable<> {
            tcp::resolver r(to_connect.get_executor());
            co_await async_connect(to_connect, co_await r.async_resolve("service.test", "80"));
        }(s),
        [&](std::exception_ptr e) {
            EXPECT_FALSE(e);
            took = w.elapsed() - begin;
        });
    w.run();
    EXPECT_GE(took, 250ms);
    EXPECT_LT(took, 270ms);
    EXPECT_EQ(s.remote_endpoint(), tcp::endpoint(server.address(), 80));
}

} // namespace
