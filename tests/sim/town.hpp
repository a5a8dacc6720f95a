// A small town of hosts in which everything goes wrong: what the simulator's own tests let happen under many seeds.
#pragma once

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

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

namespace fairlead::test {

/// The observations of a town's programs.
struct town_report {
    int rounds = 0;
    int answered = 0;
    int failed = 0;
    int datagrams_answered = 0;
};

namespace town_detail {

using ip::tcp;
using ip::udp;

inline awaitable<> echo_stream(tcp::socket s) {
    char bytes[1024];
    for (;;) {
        auto const [ec, n] = co_await s.async_read_some(buffer(bytes), as_tuple);
        if (ec)
            co_return;
        auto const [failed, sent] = co_await async_write(s, buffer(bytes, n), as_tuple);
        if (failed)
            co_return;
    }
}

inline awaitable<> echo_datagrams(io_context& c) {
    udp::socket s(c);
    error_code ec;
    s.open(udp::v4(), ec);
    if (ec)
        co_return;
    s.bind(udp::endpoint(udp::v4(), 7));
    char bytes[600];
    for (;;) {
        udp::endpoint from;
        auto const [failed, n] = co_await s.async_receive_from(buffer(bytes), from, as_tuple);
        if (!failed)
            co_await s.async_send_to(buffer(bytes, n), from, as_tuple);
    }
}

inline awaitable<> serve(sim::host& h) {
    io_context& c = h.context();
    co_spawn(c, echo_datagrams(c), detached);
    tcp::acceptor a(c);
    error_code ec;
    a.open(tcp::v4(), ec);
    if (ec)
        co_return; // without a descriptor: a server that is not there
    a.set_option(socket_base::reuse_address(true));
    a.bind(tcp::endpoint(tcp::v4(), 7));
    a.listen();
    steady_timer pause(c);
    for (;;) {
        auto [failed, s] = co_await a.async_accept(as_tuple);
        if (!failed) {
            if (!h.disk().append("visitors", "x"))
                h.disk().sync("visitors");
            co_spawn(c, echo_stream(std::move(s)), detached);
        } else {
            pause.expires_after(std::chrono::milliseconds(10));
            co_await pause.async_wait();
        }
    }
}

/// Ends what is pending if it is not done in time.
template <class Socket> void give_up_after(steady_timer& t, std::shared_ptr<Socket> s, std::chrono::milliseconds d) {
    t.expires_after(d);
    t.async_wait([s](error_code ec) {
        if (!ec)
            s->cancel(ec);
    });
}

inline awaitable<> talk(io_context& c, sim::random_stream& random, town_report& report) {
    ++report.rounds;
    steady_timer patience(c);
    tcp::resolver resolver(c);
    auto const [no_name, addresses] = co_await resolver.async_resolve("server", "7", as_tuple);
    if (no_name) {
        ++report.failed;
        co_return;
    }
    auto const s = std::make_shared<tcp::socket>(c);
    give_up_after(patience, s, std::chrono::milliseconds(3000));
    auto const [failed, to] = co_await async_connect(*s, addresses, as_tuple);
    if (failed) {
        ++report.failed;
        co_return;
    }
    for (int i = 0; i != 3; ++i) {
        std::string text(1 + random.below(3000), ' ');
        for (auto& each : text)
            each = static_cast<char>('a' + random.below(26));
        auto const [not_sent, sent] = co_await async_write(*s, buffer(text), as_tuple);
        std::string got(text.size(), ' ');
        auto const [not_read, n] = co_await async_read(*s, buffer(got), as_tuple);
        if (not_sent || not_read) {
            ++report.failed;
            co_return;
        }
        if (got != text)
            throw std::logic_error("the echo of a stream differs");
        ++report.answered;
    }
}

inline awaitable<> ping(io_context& c, sim::random_stream& random, town_report& report) {
    ++report.rounds;
    auto const s = std::make_shared<udp::socket>(c);
    error_code ec;
    s->open(udp::v4(), ec);
    if (ec)
        co_return;
    tcp::resolver resolver(c);
    auto const [no_name, addresses] = co_await resolver.async_resolve("server", "7", as_tuple);
    if (no_name)
        co_return;
    udp::endpoint const to(addresses.begin()->endpoint().address(), 7);
    steady_timer patience(c);
    std::string const text = "ping " + std::to_string(random.below(1000));
    give_up_after(patience, s, std::chrono::milliseconds(500));
    co_await s->async_send_to(buffer(text), to, as_tuple);
    char bytes[100];
    udp::endpoint from;
    auto const [failed, n] = co_await s->async_receive_from(buffer(bytes), from, as_tuple);
    if (failed)
        co_return;
    if (std::string(bytes, n) != text || from != to)
        throw std::logic_error("the echo of a datagram differs");
    ++report.datagrams_answered;
}

inline awaitable<> live(io_context& c, sim::random_stream random, std::uint64_t rounds, town_report& report) {
    steady_timer pause(c);
    for (std::uint64_t i = 0; i != rounds; ++i) {
        if (random.below(3) == 0)
            co_await ping(c, random, report);
        else
            co_await talk(c, random, report);
        pause.expires_after(std::chrono::milliseconds(random.below(400)));
        co_await pause.async_wait();
    }
}

} // namespace town_detail

/// One server, two clients, and so many accidents; everything may fail until the last has happened.
inline town_report run_town(sim::world& w) {
    using namespace town_detail;
    town_report report;
    w.allow_everything();
    auto const rounds = w.choose("rounds", 1, 6);
    auto const accidents = w.choose("accidents", 0, 6);
    auto& server = w.add_server("server", [](sim::host& h) { return serve(h); });
    auto& a = w.add_host(
        "a", [&, rounds](io_context& c) { return live(c, sim::random_stream(w.seed(), 11), rounds, report); });
    auto& b = w.add_host(
        "b", [&, rounds](io_context& c) { return live(c, sim::random_stream(w.seed(), 12), rounds, report); });
    auto& random = w.random();
    for (std::uint64_t i = 0; i != accidents; ++i) {
        auto const when = std::chrono::milliseconds(random.below(3000));
        auto const until = when + std::chrono::milliseconds(random.below(1000));
        auto& victim = random.below(2) ? a : b;
        switch (random.below(7)) {
        case 0: w.at(when, [&] { server.kill(); }), w.at(until, [&] { server.restart(); }); break;
        case 1: w.at(when, [&] { server.crash(); }), w.at(until, [&] { server.restart(); }); break;
        case 2: w.at(when, [&] { w.partition(victim, server); }), w.at(until, [&] { w.heal(); }); break;
        case 3: w.at(when, [&] { w.partition_one_way(server, victim); }), w.at(until, [&] { w.heal(); }); break;
        case 4: w.at(when, [&] { server.pause(); }), w.at(until, [&] { server.resume(); }); break;
        case 5: w.at(when, [&] { victim.clock_drift(50'000); }); break;
        case 6: w.at(when, [&] { victim.crash(); }), w.at(until, [&] { victim.restart(); }); break;
        }
    }
    w.at(std::chrono::seconds(5), [&] { w.calm(); });
    w.run();
    return report;
}

} // namespace fairlead::test
