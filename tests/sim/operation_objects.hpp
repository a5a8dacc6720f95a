// The objects of the operations of core_operations_test.cpp, each with an account of what was sent and what arrived.
// An object that has been closed, destroyed or moved away is replaced by another one. It stays for the operations that
// were started on it.
#pragma once

#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/timer.hpp>

#include <sim/ledger.hpp>
#include <sim/operation_home.hpp>
#include <sim/operation_streams.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace fairlead::test::script {

using local_datagram_socket = local::datagram_protocol::socket;
using ip::tcp;
using ip::udp;

template <class Acceptor> std::size_t accept_rest(Acceptor& a) {
    std::size_t n = 0;
    for (error_code ec; !ec;) {
        auto const peer = a.accept(ec);
        n += !ec;
    }
    return n;
}

/// Somebody who listens, and the connections to him.
template <class Protocol> struct door {
    using acceptor = typename Protocol::acceptor;
    using endpoint = typename Protocol::endpoint;
    home<acceptor> listens;
    endpoint where;
    std::vector<std::unique_ptr<typename Protocol::socket>> knocking;
    std::size_t tried = 0, connected = 0, accepted = 0;
    std::vector<std::uint16_t> ports; ///< from which connections were accepted
    bool is_gone = false;

    door(io_context& c, endpoint const& at) : listens(c, at), where(listens.here().local_endpoint()) {}
    home<acceptor>& home_of() noexcept { return listens; }
    void knock(io_context& c) {
        error_code ec;
        auto s = std::make_unique<typename Protocol::socket>(c);
        ++tried;
        s->connect(where, ec);
        connected += !ec;
        knocking.push_back(std::move(s));
    }
    void check(ledger& l) {
        if (is_gone)
            return;
        auto const all = accepted + accept_rest(listens.now());
        l.check(all >= connected, "a connection got lost that its client knows");
        l.check(all <= tried, "a connection is accepted twice, or nobody made it");
        for (std::size_t i = 0; i != ports.size(); ++i)
            for (std::size_t j = 0; j != i; ++j)
                l.check(ports[i] != ports[j], "a connection is accepted twice");
    }
};

using path_door = door<local::stream_protocol>;

/// A socket that sends datagrams to itself. Each is there once.
template <class Protocol> struct box {
    using endpoint = typename Protocol::endpoint;
    using socket = typename Protocol::socket;
    static constexpr std::size_t size = 4;
    home<socket> of;
    endpoint self;
    std::array<bool, 256> is_sent{}, has_arrived{};
    unsigned next = 0;
    bool is_gone = false;

    box(io_context& c, endpoint const& at, bool connects) : of(c, at), self(of.here().local_endpoint()) {
        if (connects)
            of.here().connect(self);
    }
    home<socket>& home_of() noexcept { return of; }
    bool has_more() const noexcept { return next != 255; }
    std::string take() {
        auto const n = static_cast<char>(next++);
        return {n, 'd', 'g', n};
    }
    void drop_in() {
        if (!has_more())
            return;
        auto const text = take();
        error_code ec;
        if (of.now().send_to(buffer(text), self, 0, ec) == size)
            sent(text);
    }
    void sent(std::string_view text) { is_sent[static_cast<unsigned char>(text[0])] = true; }
    void received(ledger& l, std::string_view text) {
        l.check(text.size() == size && text[0] == text[3] && text.substr(1, 2) == "dg", "a datagram is not whole");
        if (text.empty())
            return;
        auto& has = has_arrived[static_cast<unsigned char>(text[0])];
        l.check(!has, "a datagram arrives twice");
        has = true;
    }
    void drain(ledger& l) {
        if (is_gone)
            return;
        char bytes[16];
        endpoint from;
        for (;;) {
            error_code ec;
            auto const n = of.now().receive_from(buffer(bytes), from, 0, ec);
            if (ec)
                return;
            received(l, {bytes, n});
        }
    }
    void check(ledger& l) {
        drain(l);
        for (std::size_t i = 0; i != is_sent.size(); ++i) {
            l.check(is_sent[i] || !has_arrived[i], "a datagram arrives that nobody has sent");
            l.check(has_arrived[i] || !is_sent[i] || is_gone, "a datagram is lost");
        }
    }
};

using path_box = box<local::datagram_protocol>;

/// A timer. Its waits do not end with success before the deadline.
struct alarm {
    home<steady_timer> timer;
    steady_clock::time_point deadline{};
    bool is_gone = false;
    explicit alarm(io_context& c) : timer(c) {}
    home<steady_timer>& home_of() noexcept { return timer; }
    void set(std::chrono::microseconds after) {
        timer.now().expires_after(after);
        deadline = timer.now().expiry();
    }
    void check(ledger& l) {
        l.check(is_gone || timer.now().expiry() == deadline, "a timer has another deadline than it was given");
    }
};
/// A set with one signal. Each time that it has come ends one wait.
struct horn {
    home<signal_set> set;
    std::size_t blown = 0, heard = 0;
    bool is_gone = false;
    explicit horn(io_context& c) : set(c) { set.here().add(SIGUSR1); }
    home<signal_set>& home_of() noexcept { return set; }
    void check(ledger& l) { l.check(heard <= blown, "a signal comes that nobody has sent"); }
};
struct questions {
    home<tcp::resolver> resolver;
    bool is_gone = false;
    explicit questions(io_context& c) : resolver(c) {}
    home<tcp::resolver>& home_of() noexcept { return resolver; }
};

} // namespace fairlead::test::script
