// Sockets of every kind at work between two hosts, under many seeds. Every byte is in its place, and every operation is
// over once and with the truth, whoever cancels, moves or destroys whatever meanwhile.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/connect_options.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>
#include <support/scale.hpp>

#include <sim/ledger.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using ip::udp;
using sim::random_stream;
using sim::rule;
using sim::world;
using test::alive;
using test::ledger;
using test::once;
using moved_bytes = std::tuple<error_code, std::size_t>;

constexpr std::uint16_t port = 4000, closed_port = 4001;

/// Lines of different lengths that say where in which stream they stand.
std::string text_of(std::uint64_t stream, std::size_t size) {
    std::string t;
    random_stream lengths(stream, 77);
    while (t.size() < size) {
        for (auto n = lengths.below(120); n != 0; --n) {
            auto const place = (t.size() + 1) * 0x9e3779b97f4a7c15U ^ stream * 0xd1342543de82ef95U;
            t += static_cast<char>('a' + (place >> 40) % 26);
        }
        t += "\r\n";
    }
    return t;
}

/// Awaits what `start(token)` starts, here with a callback, which resumes the coroutine.
template <class Start> auto by_callback(ledger& l, Start& start) {
    return completion_token_transform<void(error_code, std::size_t)>(as_tuple, [&l, &start](auto&& h) {
        start(once(l, [h = std::decay_t<decltype(h)>(std::forward<decltype(h)>(h)),
                       a = alive(l)](error_code ec, std::size_t n) mutable { std::move(h)(ec, n); }));
    });
}

/// A stream that is nobody's but the user's: algorithms know no short cut for it.
template <class Socket> struct plain_stream {
    Socket& socket;
    auto get_executor() { return socket.get_executor(); }
    template <class B, class T> decltype(auto) async_read_some(B const& b, T&& t) {
        return socket.async_read_some(b, std::forward<T>(t));
    }
    template <class B, class T> decltype(auto) async_write_some(B const& b, T&& t) {
        return socket.async_write_some(b, std::forward<T>(t));
    }
    template <class B> std::size_t read_some(B const& b, error_code& ec) { return socket.read_some(b, ec); }
    template <class B> std::size_t write_some(B const& b, error_code& ec) { return socket.write_some(b, ec); }
};

/// The first `size` bytes behind `data` as three buffers.
template <class Buffer, class Byte> std::array<Buffer, 3> in_three(Byte* data, std::size_t size) {
    auto const a = size / 5, b = size / 2;
    return {Buffer(data, a), Buffer(data + a, b - a), Buffer(data + b, size - b)};
}

// ---- a client and a server that talk

/// One end of a connection: what it sends, and what it must receive.
struct talk {
    explicit talk(io_context& c) : socket(c) {}
    tcp::socket socket;
    std::string out, in;
    std::size_t sent = 0, received = 0;
    int left = 2; ///< reader and writer
    bool is_broken = false, ended_early = false;
};
using talk_ptr = std::shared_ptr<talk>;

class session {
    /// The end of a coroutine: it ends, and without an exception.
    auto to_its_end() {
        return once(account, [this, a = alive(account)](std::exception_ptr e) {
            account.check(!e, "a coroutine of the test throws");
        });
    }

public:
    explicit session(world& w)
        : account(w),
          world_(w),
          server_(w.add_host("server")),
          client_(w.add_host("client")),
          acceptor_(server_.context(), tcp::endpoint(tcp::v4(), port)),
          connections_(w.choose("connections", 1, 8)),
          bytes_most_(static_cast<std::uint32_t>(w.choose("bytes", 1, 16'000))),
          cancels_(w.choose("cancels", 0, 30)),
          is_harsh_(w.choose("harsh", 0, 2) == 0) {
        account.covers(server_);
        account.covers(client_);
        if (is_harsh_)
            w.allow(rule::reset);
        dead_addresses_ = w.choose("dead_addresses", 0, 2);
        for (std::uint64_t i = 0; i != dead_addresses_; ++i)
            w.add_name("service", "10.0.99." + std::to_string(i + 1));
        w.add_name("service", server_.address().to_string());
        co_spawn(server_.context(), serve(alive(account)), to_its_end());
        if (cancels_ != 0)
            co_spawn(server_.context(), disturb_acceptor(alive(account)), to_its_end());
        for (std::uint64_t i = 0; i != connections_; ++i)
            co_spawn(client_.context(), be_client(i, alive(account)), to_its_end());
    }

    /// After a run to the end.
    void settle() {
        account.settle();
        account.check(connected_ == connections_ && accepted_ == connections_, "connections got lost");
        account.check(whole_ == 4 * connections_ || is_harsh_, "somebody did not send or receive it all");
        check_descriptors(server_.context(), server_);
        check_descriptors(client_.context(), client_);
    }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t aborted() const noexcept { return aborted_; }

    ledger account;

private:
    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }

    void check_descriptors(io_context& c, sim::host& h) {
        h.descriptor_limit(3);
        std::vector<tcp::socket> all;
        for (int i = 0; i != 3; ++i) {
            error_code ec;
            all.emplace_back(c).open(tcp::v4(), ec);
            account.check(!ec, "a descriptor leaks");
        }
    }

    // ---- moving bytes, in every way there is

    /// Awaits it, or awaits what its callback says.
    template <class Start> awaitable<moved_bytes> either_way(Start& start, alive) {
        if (below(3) == 0) {
            auto const r = co_await by_callback(account, start);
            co_return r;
        }
        auto const r = co_await start(as_tuple);
        co_return r;
    }
    awaitable<error_code> read_once(tcp::socket& s, std::string& got, alive) {
        std::size_t const size = 1 + below(below(4) == 0 ? 4000 : 200);
        got.resize(size);
        moved_bytes r;
        plain_stream<tcp::socket> plain{s};
        switch (below(8)) {
        case 0: {
            auto start = [&](auto&& t) { return s.async_read_some(buffer(got), std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            break;
        }
        case 1: {
            auto start = [&](auto&& t) { return async_read(s, buffer(got), std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            check_whole(r, size);
            break;
        }
        case 2: {
            auto const three = in_three<mutable_buffer>(got.data(), size);
            auto start = [&](auto&& t) { return async_read(s, three, std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            check_whole(r, size);
            break;
        }
        case 3: {
            auto start = [&](auto&& t) {
                return async_read(s, buffer(got), transfer_exactly(size / 2), std::forward<decltype(t)>(t));
            };
            r = co_await either_way(start, alive(account));
            check_whole(r, size / 2);
            break;
        }
        case 4: {
            auto const three = in_three<mutable_buffer>(got.data(), size);
            auto start = [&](auto&& t) { return async_read(plain, three, std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            check_whole(r, size);
            break;
        }
        case 5: {
            got.clear();
            auto start = [&](auto&& t) {
                return async_read(s, dynamic_buffer(got), transfer_at_least(size), std::forward<decltype(t)>(t));
            };
            r = co_await either_way(start, alive(account));
            account.check(std::get<0>(r) || std::get<1>(r) >= size, "a read ends before its condition");
            account.check(std::get<1>(r) == got.size(), "a read into a dynamic buffer counts wrong");
            co_return std::get<0>(r);
        }
        case 6: {
            got.clear();
            auto start = [&](auto&& t) {
                return async_read_until(s, dynamic_buffer(got), "\r\n", std::forward<decltype(t)>(t));
            };
            r = co_await either_way(start, alive(account));
            auto const [ec, n] = r;
            auto const at = got.find("\r\n");
            if (!ec)
                account.check(at + 2 == n, "read_until() counts to another place than the first delimiter");
            else
                account.check(at == got.npos && n == 0, "read_until() fails although the delimiter is there");
            co_return ec;
        }
        default: {
            auto const [ec] = co_await s.async_wait(tcp::socket::wait_read, as_tuple);
            if (ec) {
                got.clear();
                co_return ec;
            }
            r = co_await s.async_read_some(buffer(got), as_tuple);
        }
        }
        got.resize(std::get<1>(r));
        co_return std::get<0>(r);
    }
    void check_whole(moved_bytes const& r, std::size_t size) {
        account.check(std::get<1>(r) <= size, "more has been moved than was asked for");
        account.check(std::get<0>(r) || std::get<1>(r) == size, "a whole transfer succeeds without being whole");
    }

    awaitable<moved_bytes> write_once(tcp::socket& s, char const* data, std::size_t size, alive) {
        moved_bytes r;
        plain_stream<tcp::socket> plain{s};
        auto const three = in_three<const_buffer>(data, size);
        switch (below(7)) {
        case 0: {
            auto start = [&](auto&& t) { return s.async_write_some(buffer(data, size), std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            co_return r;
        }
        case 1: {
            auto start = [&](auto&& t) { return s.async_write_some(three, std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            co_return r;
        }
        case 2: {
            auto start = [&](auto&& t) { return async_write(s, buffer(data, size), std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            break;
        }
        case 3: {
            auto start = [&](auto&& t) { return async_write(s, three, std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            break;
        }
        case 4: {
            auto start = [&](auto&& t) { return async_write(plain, three, std::forward<decltype(t)>(t)); };
            r = co_await either_way(start, alive(account));
            break;
        }
        case 5: {
            auto start = [&](auto&& t) {
                return async_write(s, buffer(data, size), transfer_exactly(size), std::forward<decltype(t)>(t));
            };
            r = co_await either_way(start, alive(account));
            break;
        }
        default: {
            auto const [ec] = co_await s.async_wait(tcp::socket::wait_write, as_tuple);
            if (ec)
                co_return moved_bytes(ec, 0);
            r = co_await s.async_write_some(buffer(data, size), as_tuple);
            co_return r;
        }
        }
        check_whole(r, size);
        co_return r;
    }

    /// True: the operation was only cancelled, and there is more to do.
    bool goes_on(talk& t, error_code ec) {
        if (!ec)
            return true;
        if (ec != error::operation_aborted) {
            account.check(is_harsh_, "an operation fails: " + ec.message());
            t.is_broken = true;
            return false;
        }
        ++aborted_;
        return t.socket.is_open();
    }
    awaitable<> receive(talk_ptr t, alive) {
        std::string got;
        for (;;) {
            auto const ec = co_await read_once(t->socket, got, alive(account));
            account.check(t->in.compare(t->received, got.size(), got) == 0, "other bytes arrive than were sent");
            t->received += got.size();
            bytes_ += got.size();
            if (ec == error::eof) {
                t->ended_early = t->received != t->in.size();
                break;
            }
            if (!goes_on(*t, ec)) {
                t->socket.close();
                break;
            }
        }
        whole_ += t->received == t->in.size();
        end_one(*t);
    }
    awaitable<> send(talk_ptr t, alive) {
        steady_timer pause(t->socket.get_executor());
        while (t->sent != t->out.size()) {
            auto const size = std::min<std::size_t>(t->out.size() - t->sent, 1 + below(3000));
            auto const [ec, n] = co_await write_once(t->socket, t->out.data() + t->sent, size, alive(account));
            account.check(n <= size, "more has been written than there is");
            account.check(ec != error::eof, "a write fails with the end of what is read");
            t->sent += n;
            if (!goes_on(*t, ec))
                break;
            if (below(16) == 0) {
                pause.expires_after(std::chrono::microseconds(below(5000)));
                co_await pause.async_wait();
            }
        }
        whole_ += t->sent == t->out.size();
        error_code ignored; // A connection that broke cannot be shut down.
        t->socket.shutdown(tcp::socket::shutdown_send, ignored);
        end_one(*t);
    }
    void end_one(talk& t) {
        if (--t.left == 0) {
            // That a connection broke is told once, to the one or the other; whoever comes later finds the end.
            account.check(!t.ended_early || t.is_broken, "the end comes before the last bytes, and not as an error");
            t.socket.close();
        }
    }
    /// Cancels now and then whatever an end is waiting for.
    awaitable<> disturb(talk_ptr t, alive) {
        steady_timer pause(t->socket.get_executor());
        for (auto n = cancels_; n != 0; --n) {
            pause.expires_after(std::chrono::microseconds(below(3000)));
            co_await pause.async_wait();
            if (t->left == 0 || !t->socket.is_open())
                break;
            t->socket.cancel();
        }
    }
    void start(talk_ptr const& t) {
        auto const ex = t->socket.get_executor();
        co_spawn(ex, receive(t, alive(account)), to_its_end());
        co_spawn(ex, send(t, alive(account)), to_its_end());
        if (cancels_ != 0)
            co_spawn(ex, disturb(t, alive(account)), to_its_end());
    }
    void fill(talk& t, std::uint64_t number, bool is_client) {
        auto const up = text_of(2 * number, 1 + number * 7919 % bytes_most_);
        auto const down = text_of(2 * number + 1, 1 + number * 104'729 % bytes_most_);
        t.out = is_client ? up : down;
        t.in = is_client ? down : up;
    }

    // ---- the server
    awaitable<> serve(alive) {
        while (accepted_ != connections_) {
            auto t = std::make_shared<talk>(server_.context());
            error_code ec;
            switch (below(3)) {
            case 0: {
                auto [error, s] = co_await acceptor_.async_accept(as_tuple);
                ec = error;
                t->socket = std::move(s);
                break;
            }
            case 1: {
                auto accept = [this](auto&& h) {
                    acceptor_.async_accept(
                        once(account, [h = std::decay_t<decltype(h)>(std::forward<decltype(h)>(h)), a = alive(account)](
                                          error_code e, tcp::socket s) mutable { std::move(h)(e, std::move(s)); }));
                };
                auto [error, s] = co_await completion_token_transform<void(error_code, tcp::socket)>(as_tuple, accept);
                ec = error;
                t->socket = std::move(s);
                break;
            }
            default: {
                tcp::endpoint from;
                auto const [error] = co_await acceptor_.async_accept(t->socket, from, as_tuple);
                ec = error;
                error_code broken;
                auto const peer = t->socket.remote_endpoint(broken);
                account.check(ec || broken || from == peer, "an accepted peer has another address");
            }
            }
            account.check(t->socket.is_open() == !ec, "accepting gives no socket, or one that failed");
            if (ec == error::operation_aborted)
                continue;
            account.check(!ec, "accepting fails: " + ec.message());
            if (ec)
                break;
            ++accepted_;
            co_spawn(server_.context(), be_server(t, alive(account)), to_its_end());
        }
        acceptor_.close();
    }
    awaitable<> disturb_acceptor(alive) {
        steady_timer pause(server_.context());
        for (auto n = cancels_; n != 0 && acceptor_.is_open(); --n) {
            acceptor_.cancel();
            pause.expires_after(std::chrono::microseconds(below(20'000)));
            co_await pause.async_wait();
        }
    }
    awaitable<> be_server(talk_ptr t, alive) {
        unsigned char number = 0;
        auto const [ec, n] = co_await async_read(t->socket, buffer(&number, 1), as_tuple);
        account.check(!ec || is_harsh_, "the first byte does not come: " + ec.message());
        if (ec) {
            t->left = 0;
            co_return;
        }
        fill(*t, number, false);
        start(t);
    }

    // ---- the client
    struct plan {
        bool is_over = false;
        std::size_t cancelled = 0;
    };
    awaitable<> cancel_later(talk_ptr t, std::shared_ptr<plan> p, alive) {
        steady_timer pause(client_.context());
        pause.expires_after(std::chrono::microseconds(below(below(2) ? 4000 : 80'000)));
        co_await pause.async_wait();
        error_code ignored; // It may not be open yet.
        if (!p->is_over)
            p->cancelled = t->socket.core().cancel(ignored);
    }
    std::shared_ptr<plan> plan_to_cancel(talk_ptr const& t) {
        auto p = std::make_shared<plan>();
        if (cancels_ != 0 && below(3) == 0)
            co_spawn(client_.context(), cancel_later(t, p, alive(account)), to_its_end());
        return p;
    }
    awaitable<error_code> connect_once(talk_ptr t, alive) {
        auto& s = t->socket;
        tcp::endpoint const to(server_.address(), port);
        error_code ec;
        auto const p = plan_to_cancel(t);
        switch (below(4)) {
        case 0: {
            auto const [error] = co_await s.async_connect(to, as_tuple);
            ec = error;
            break;
        }
        case 1: {
            auto connect = [&](auto&& h) {
                s.async_connect(to, once(account, [h = std::decay_t<decltype(h)>(std::forward<decltype(h)>(h)),
                                                   a = alive(account)](error_code e) mutable { std::move(h)(e); }));
            };
            auto const [error] = co_await completion_token_transform<void(error_code)>(as_tuple, connect);
            ec = error;
            break;
        }
        case 2: {
            auto const [error] = co_await s.async_connect({server_.address(), closed_port}, as_tuple);
            account.check(error == error::connection_refused || p->cancelled != 0, "nobody listens, yet it connects");
            ec = error;
            break;
        }
        default: {
            tcp::resolver names(client_.context());
            auto const [error, found] = co_await names.async_resolve("service", std::to_string(port), as_tuple);
            account.check(!error, "a look-up fails");
            account.check(found.size() == dead_addresses_ + 1, "a look-up finds something else");
            connect_options const how{.sequential = below(2) == 0};
            auto const [connect_error, at] = co_await async_connect(s, found, how, as_tuple);
            ec = connect_error;
            account.check(ec || at == to, "connected to somebody else");
        }
        }
        p->is_over = true;
        account.check((p->cancelled != 0) == (ec == error::operation_aborted) || !s.is_open(),
                      "a cancelled connect goes on, or one is aborted that nobody cancelled");
        account.check(ec || p->cancelled == 0, "a connect succeeds although it was cancelled");
        co_return ec;
    }
    awaitable<> be_client(std::uint64_t number, alive) {
        auto t = std::make_shared<talk>(client_.context());
        for (;;) {
            auto const ec = co_await connect_once(t, alive(account));
            if (!ec && t->socket.is_open()) {
                error_code peer_ec;
                auto const peer = t->socket.remote_endpoint(peer_ec);
                account.check(peer_ec || peer == tcp::endpoint(server_.address(), port), "connected to somebody else");
                break;
            }
            t->socket.close(); // It may be left of a failed attempt.
        }
        ++connected_;
        auto const first = static_cast<unsigned char>(number);
        auto const [ec, n] = co_await async_write(t->socket, buffer(&first, 1), as_tuple);
        account.check(!ec || is_harsh_, "the first byte does not go: " + ec.message());
        if (ec) {
            t->left = 0;
            co_return;
        }
        fill(*t, number, true);
        start(t);
    }

    world& world_;
    sim::host& server_;
    sim::host& client_;
    tcp::acceptor acceptor_;
    std::uint64_t connections_;
    std::uint32_t bytes_most_;
    std::uint64_t cancels_;
    bool is_harsh_;
    std::uint64_t dead_addresses_ = 0;
    std::uint64_t connected_ = 0, accepted_ = 0, whole_ = 0, bytes_ = 0, aborted_ = 0;
};

TEST(CoreSession, EveryByteArrivesAndEveryOperationEndsOnceAndTruthfully) {
    std::uint64_t bytes = 0, aborted = 0, operations = 0;
    auto const sum = sim::for_each_seed(test::scaled(300, 40), [&](world& w) {
        session s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
        bytes += s.bytes();
        aborted += s.aborted();
        operations += s.account.operations();
    });
    EXPECT_GT(bytes, sum.seeds * 5'000);
    EXPECT_GT(aborted, sum.seeds * 5);
    EXPECT_GT(operations, sum.seeds * 10);
}

/// Handlers of operations that complete at once, one queued by the other.
struct chain {
    io_context& context;
    ledger& account;
    std::uint64_t left;
    local::stream_protocol::socket never_read{context};
    std::string text = "there\n";
    void next() {
        if (left-- != 0)
            async_read_until(never_read, dynamic_buffer(text), '\n',
                             once(account, [this, a = alive(account)](error_code, std::size_t) { next(); }));
    }
};

TEST(CoreSession, WhateverIsPendingIsDestroyedOnceAndNothingIsCalled) {
    std::uint64_t pending = 0;
    auto const sum = sim::for_each_seed(test::scaled(300, 40), [&](world& w) {
        session s(w);
        // Some worlds end early and in the midst of a full queue, others when much has happened.
        auto const chained = w.choose("chain", 0, 3000);
        auto const until = std::chrono::microseconds(w.choose("until_us", 0,
                                                              chained % 2              ? 400
                                                              : w.choose("long", 0, 1) ? 4'000'000
                                                                                       : 20'000));
        chain c{w.context(), s.account, chained % 2 ? chained : 0};
        c.next();
        w.at(until, [&] {
            pending += s.account.pending();
            s.account.end_everything();
        });
        w.run_for(until + 1ms);
        s.account.settle();
        EXPECT_EQ(s.account.faults(), "");
    });
    EXPECT_GT(pending, sum.seeds / 2);
}

// ---- a peer that keeps a transfer alive

awaitable<> send_slowly(tcp::socket& s, std::size_t n, std::size_t& sent, alive) {
    steady_timer t(s.get_executor());
    for (std::size_t i = 0; i != n; ++i) {
        t.expires_after(1s);
        co_await t.async_wait();
        sent += co_await s.async_write_some(buffer("x", 1));
    }
}
/// Cancels until it is heard: a cancel that comes together with a byte ends the attempt which gets it, not the
/// transfer.
awaitable<> cancel_at_last(tcp::socket& s, steady_timer& t, bool& over, alive) {
    while (!over) {
        co_await t.async_wait(as_tuple);
        if (!over)
            s.cancel();
        t.expires_after(50ms);
    }
}
/// Reads until so much has come or the time is over, however lively the bytes are.
awaitable<> read_in_time(tcp::socket& s, std::size_t n, std::chrono::seconds most, std::size_t& sent, ledger& l,
                         alive) {
    std::vector<char> bytes(n);
    steady_timer deadline(s.get_executor(), most);
    bool over = false;
    co_spawn(s.get_executor(), cancel_at_last(s, deadline, over, alive(l)), detached);
    auto const begun = steady_clock::now();
    auto const [ec, got] = co_await async_read(s, buffer(bytes), transfer_exactly(n), as_tuple);
    l.check(steady_clock::now() - begun < most + 1s, "a transfer outlives its deadline");
    l.check(ec == (got == n ? error_code() : error_code(error::operation_aborted)), "a transfer says the wrong thing");
    l.check(got <= sent && got + 2 >= std::min(sent, n), "a transfer that is cancelled miscounts");
    over = true;
    deadline.cancel();
    s.close();
    co_await deadline.async_wait(as_tuple); // The other one lives as long as what it refers to.
}

TEST(CoreSession, DeadlineOfATransferHoldsHoweverSlowlyItGetsOn) {
    sim::for_each_seed(test::scaled(200, 40), [](world& w) {
        ledger l(w);
        tcp::acceptor a(w.context(), tcp::endpoint(ip::address_v4::loopback(), 0));
        tcp::socket client(w.context());
        client.connect(a.local_endpoint());
        tcp::socket server = a.accept();
        std::size_t sent = 0;
        auto const n = w.choose("bytes", 1, 40);
        auto const most = std::chrono::seconds(w.choose("seconds", 1, 40));
        co_spawn(w.context(), send_slowly(client, n, sent, alive(l)), [](std::exception_ptr) {}); // fails in the end
        co_spawn(w.context(), read_in_time(server, n, most, sent, l, alive(l)),
                 [&l](std::exception_ptr e) { l.check(!e, "a coroutine of the test throws"); });
        w.run();
        l.settle();
        EXPECT_EQ(l.faults(), "");
    });
}

} // namespace
