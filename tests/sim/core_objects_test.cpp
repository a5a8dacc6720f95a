// The ends of operations whose objects are moved, destroyed or used again, in whatever order and under many seeds. That
// also happens from inside the operations' own handlers, and with operations that users compose so that they meet in
// one another.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/datagram_socket.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/token/adapters.hpp>
#include <support/scale.hpp>

#include <sim/ledger.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using ip::udp;
using sim::rule;
using sim::world;
using test::alive;
using test::ledger;
using test::once;
using local_socket = local::stream_protocol::socket;

std::uint64_t object_seeds() { return test::scaled(300, 40); }

/// Acts at random now and then, and in the end makes everything end.
class actor {
public:
    ledger account;

    void settle(sim::host& h) {
        account.settle();
        h.descriptor_limit(2);
        local_socket a(h.context()), b(h.context());
        error_code first, second;
        a.open(local::stream_protocol(), first);
        b.open(local::stream_protocol(), second);
        account.check(!first && !second, "a descriptor leaks");
    }

protected:
    explicit actor(world& w) : account(w), world_(w), host_(w.add_host("here")), left_(w.choose("steps", 1, 120)) {
        account.covers(host_);
    }
    ~actor() = default;

    std::uint32_t below(std::uint32_t n) { return world_.random().below(n); }
    io_context& context() { return host_.context(); }
    auto to_its_end() {
        return once(account, [this, a = alive(account)](std::exception_ptr e) {
            account.check(!e, "a coroutine of the test throws");
        });
    }
    void begin() { co_spawn(context(), act_now_and_then(alive(account)), to_its_end()); }
    /// From inside a handler.
    void act_if_any_is_left() {
        if (left_ != 0 && below(2)) {
            --left_;
            act();
        }
    }

    virtual void act() = 0;
    virtual void end() = 0;

    world& world_;
    sim::host& host_;

private:
    awaitable<> act_now_and_then(alive) {
        steady_timer t(context());
        while (left_ != 0) {
            --left_;
            act();
            if (below(3) == 0) {
                t.expires_after(std::chrono::microseconds(below(3000)));
                co_await t.async_wait();
            }
        }
        end();
    }
    std::uint64_t left_;
};

// ---- sockets that are read

/// Reads on sockets that are moved, cancelled and destroyed meanwhile. The peer sends bytes that count upwards, so that
/// the reads, in the order of their start, must have got just these.
class read_sockets final : public actor {
public:
    explicit read_sockets(world& w) : actor(w), pairs_(w.choose("pairs", 1, 4)) {
        for (auto& p : pairs_)
            renew(p);
        begin();
    }
    void settle() {
        for (auto const& p : pairs_)
            check_bytes(p.reads);
        pairs_.clear();
        actor::settle(host_);
    }

private:
    struct read {
        char bytes[8] = {};
        std::size_t n = 0;
        error_code ec{};
        bool is_over = false;
        bool is_given_up = false;
    };
    struct pair {
        std::unique_ptr<local_socket> near, far;
        char next_out = 0;
        std::deque<read> reads{};
    };

    void renew(pair& p) {
        for (auto& r : p.reads)
            r.is_given_up = true;
        old_reads_.push_back(std::move(p.reads)); // Their handlers are still to come.
        p.reads.clear();
        p.next_out = 0;
        p.near = std::make_unique<local_socket>(context());
        p.far = std::make_unique<local_socket>(context());
        local::connect_pair(*p.near, *p.far);
    }
    void check_bytes(std::deque<read> const& all) {
        char next = 0;
        for (auto const& r : all)
            for (std::size_t i = 0; i != r.n; ++i)
                account.check(r.bytes[i] == next++, "bytes got lost, or came twice or to somebody else");
    }

    void act() override {
        auto& p = pairs_[below(static_cast<std::uint32_t>(pairs_.size()))];
        switch (below(12)) {
        case 0:
        case 1:
        case 2:
        case 3: return start_read(p);
        case 4:
        case 5:
        case 6: {
            char bytes[8];
            auto const n = 1 + below(8);
            for (std::uint32_t i = 0; i != n; ++i)
                bytes[i] = static_cast<char>(p.next_out + static_cast<char>(i));
            error_code ec;
            p.next_out = static_cast<char>(p.next_out + static_cast<char>(p.far->write_some(buffer(bytes, n), ec)));
            return;
        }
        case 7: {
            auto moved = std::make_unique<local_socket>(std::move(*p.near));
            account.check(!p.near->is_open() && moved->is_open(), "moving a socket does not move it");
            p.near = std::move(moved);
            return;
        }
        case 8: {
            local_socket target(context());
            target.open();
            target = std::move(*p.near);
            *p.near = std::move(target);
            return;
        }
        case 9: {
            for (auto& r : p.reads)
                r.is_given_up = true;
            p.near->cancel();
            if (below(2))
                p.near->cancel();
            return;
        }
        case 10: return renew(p);
        default: {
            for (auto& r : p.reads)
                r.is_given_up = true;
            p.near->close();
            return renew(p);
        }
        }
    }
    void start_read(pair& p) {
        auto& r = p.reads.emplace_back();
        auto const b = buffer(r.bytes, 1 + below(8));
        if (below(2))
            p.near->async_read_some(
                b, once(account, [this, &r, a = alive(account)](error_code ec, std::size_t n) { over(r, ec, n); }));
        else
            co_spawn(context(), await_read(*p.near, b, r, alive(account)), to_its_end());
    }
    awaitable<> await_read(local_socket& s, mutable_buffer b, read& r, alive) {
        auto const [ec, n] = co_await s.async_read_some(b, as_tuple);
        over(r, ec, n);
    }
    void over(read& r, error_code ec, std::size_t n) {
        account.check(!r.is_over, "a read completes twice");
        r.is_over = true;
        r.ec = ec;
        r.n = n;
        account.check(!ec == (n != 0), "a read has bytes and an error, or neither");
        account.check(!ec || ec == error::eof || ec == error::operation_aborted || ec == error::connection_reset,
                      "a read fails");
        account.check(ec != error::operation_aborted || r.is_given_up, "a read is aborted that nobody cancelled");
        act_if_any_is_left();
    }
    void end() override {
        for (auto& p : pairs_)
            p.far->close();
    }

    std::vector<pair> pairs_;
    std::deque<std::deque<read>> old_reads_;
};

TEST(CoreObjects, ReadsGoWithTheirSocketWhereverItGoes) {
    std::uint64_t operations = 0;
    auto const sum = sim::for_each_seed(object_seeds(), [&](world& w) {
        read_sockets s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
        operations += s.account.operations();
    });
    EXPECT_GT(operations, sum.seeds * 5);
}

// ---- acceptors and those who connect

/// Connections that come about while their acceptor is cancelled, moved, closed and opened again. Each is accepted or
/// ended: a client that nobody knows would wait for ever.
class acceptors final : public actor {
public:
    explicit acceptors(world& w) : actor(w) {
        open();
        begin();
    }
    void settle() {
        acceptor_.reset();
        clients_.clear();
        accepted_.clear();
        actor::settle(host_);
    }

private:
    using acceptor = tcp::acceptor;

    void open() {
        acceptor_.reset();
        acceptor_ = std::make_unique<acceptor>(context(), tcp::endpoint(ip::address_v4::loopback(), 4000));
    }
    void act() override {
        switch (below(12)) {
        case 0:
        case 1: return connect();
        case 2: {
            connect();
            if (!clients_.empty()) { // at any moment of its life
                auto& c = clients_[below(static_cast<std::uint32_t>(clients_.size()))];
                c->is_given_up = true;
                if (below(2))
                    c->socket.reset();
                else if (c->socket)
                    c->socket->close();
            }
            return;
        }
        case 3:
        case 4:
            return acceptor_->async_accept(once(
                account, [this, a = alive(account)](error_code ec, tcp::socket s) { accepted(ec, std::move(s)); }));
        case 5: return co_spawn(context(), await_accept(*acceptor_, alive(account)), to_its_end());
        case 6: {
            auto s = std::make_shared<tcp::socket>(context());
            auto& a = *acceptor_;
            return a.async_accept(
                *s, once(account, [this, s, b = alive(account)](error_code ec) { accepted(ec, std::move(*s)); }));
        }
        case 7: { // into a socket that is in use when the connection comes
            auto s = std::make_shared<tcp::socket>(context(), tcp::v4());
            return acceptor_->async_accept(*s, once(account, [this, s, b = alive(account)](error_code ec) {
                account.check(ec == error::already_open || is_gone(ec), "a socket in use accepts a connection");
            }));
        }
        case 8: return acceptor_->cancel();
        case 9: {
            auto moved = std::make_unique<acceptor>(std::move(*acceptor_));
            acceptor_ = std::move(moved);
            return;
        }
        case 10: return open();
        default: {
            if (!accepted_.empty())
                accepted_.pop_back(); // closed
        }
        }
    }
    static bool is_gone(error_code ec) { return ec == error::operation_aborted || ec == error::bad_descriptor; }

    struct client {
        explicit client(io_context& c) : socket(std::make_unique<tcp::socket>(c)) {}
        std::unique_ptr<tcp::socket> socket;
        bool is_given_up = false;
        char byte = 0;
    };
    void connect() {
        auto c = clients_.emplace_back(std::make_shared<client>(context()));
        c->socket->async_connect({ip::address_v4::loopback(), 4000},
                                 once(account, [this, c, a = alive(account)](error_code ec) {
                                     account.check(c->is_given_up || ec != error::operation_aborted,
                                                   "a connect is aborted that nobody gave up");
                                     act_if_any_is_left();
                                     if (!ec && !c->is_given_up)
                                         wait_for_the_end(c);
                                 }));
    }
    void wait_for_the_end(std::shared_ptr<client> const& c) {
        c->socket->async_read_some(buffer(&c->byte, 1),
                                   once(account, [this, c, a = alive(account)](error_code ec, std::size_t) {
                                       account.check(static_cast<bool>(ec), "a byte comes that nobody sent");
                                   }));
    }
    awaitable<> await_accept(acceptor& at, alive) {
        auto [ec, s] = co_await at.async_accept(as_tuple);
        accepted(ec, std::move(s));
    }
    void accepted(error_code ec, tcp::socket s) {
        account.check(ec ? is_gone(ec) : s.is_open(), "accepting fails: " + ec.message());
        account.check(!ec || !s.is_open(), "accepting fails, and gives a socket");
        if (!ec)
            accepted_.push_back(std::move(s));
        act_if_any_is_left();
    }
    void end() override {
        acceptor_->close();
        accepted_.clear();
        // A peer that is still accepted lets go of it: see accepted().
        co_spawn(context(), drop_late_ones(alive(account)), to_its_end());
    }
    awaitable<> drop_late_ones(alive) {
        steady_timer t(context());
        for (int i = 0; i != 3; ++i) {
            t.expires_after(100ms);
            co_await t.async_wait();
            accepted_.clear();
        }
    }

    std::unique_ptr<acceptor> acceptor_;
    std::vector<std::shared_ptr<client>> clients_;
    std::vector<tcp::socket> accepted_;
};

TEST(CoreObjects, ConnectionsAreAcceptedOrEndedWhateverBecomesOfTheAcceptor) {
    sim::for_each_seed(object_seeds(), [](world& w) {
        acceptors s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
    });
}

// ---- look-ups

/// Look-ups whose resolvers are cancelled, moved and destroyed, also from inside their handlers.
class look_ups final : public actor {
public:
    explicit look_ups(world& w) : actor(w), resolvers_(w.choose("resolvers", 1, 4)) {
        w.add_name("name", "10.0.0.77");
        for (auto& r : resolvers_)
            r.object = std::make_unique<tcp::resolver>(context());
        begin();
    }
    void settle() { actor::settle(host_); }

private:
    struct question {
        bool is_given_up = false;
        bool is_over = false;
        std::uint64_t given_up_in_turn = 0;
    };
    struct resolver {
        std::unique_ptr<tcp::resolver> object;
        std::vector<std::shared_ptr<question>> questions{};
    };
    std::uint64_t turn() { return context().counters().turns; }
    void give_up(resolver& r) {
        for (auto& q : r.questions) {
            q->is_given_up = true;
            q->given_up_in_turn = turn();
        }
        r.questions.clear();
    }

    void act() override {
        auto& r = resolvers_[below(static_cast<std::uint32_t>(resolvers_.size()))];
        switch (below(8)) {
        case 0:
        case 1:
        case 2: return ask(r);
        case 3:
            give_up(r);
            r.object->cancel();
            if (below(2))
                r.object->cancel();
            return;
        case 4:
            give_up(r);
            r.object = nullptr;
            r.object = std::make_unique<tcp::resolver>(context());
            return;
        case 5: {
            auto moved = std::make_unique<tcp::resolver>(std::move(*r.object));
            r.object = std::move(moved);
            return;
        }
        case 6: {
            auto& other = resolvers_[below(static_cast<std::uint32_t>(resolvers_.size()))];
            if (&other == &r)
                return;
            give_up(r);
            *r.object = std::move(*other.object);
            r.questions = std::move(other.questions);
            other.questions.clear();
            return;
        }
        default: ask(r); ask(r);
        }
    }
    void ask(resolver& r) {
        auto q = r.questions.emplace_back(std::make_shared<question>());
        bool const is_known = below(3) != 0;
        auto const name = is_known ? "name" : "nobody";
        if (below(2)) {
            r.object->async_resolve(name, "80",
                                    once(account, [this, q, is_known, a = alive(account)](
                                                      error_code ec, tcp::resolver::results_type const& found) {
                                        answered(*q, is_known, ec, found.size());
                                    }));
        } else {
            co_spawn(context(), await_answer(*r.object, name, is_known, q, alive(account)), to_its_end());
        }
    }
    awaitable<> await_answer(tcp::resolver& r, char const* name, bool is_known, std::shared_ptr<question> q, alive) {
        auto const [ec, found] = co_await r.async_resolve(name, "80", as_tuple);
        answered(*q, is_known, ec, found.size());
    }
    void answered(question& q, bool is_known, error_code ec, std::size_t found) {
        account.check(!q.is_over, "a look-up completes twice");
        q.is_over = true;
        // A request that was given up may have been answered already, if it stood in the queue.
        account.check(!q.is_given_up || turn() <= q.given_up_in_turn + 1, "a look-up goes on that was given up");
        if (ec == error::operation_aborted)
            account.check(q.is_given_up && found == 0, "a look-up is aborted that nobody gave up");
        else if (is_known)
            account.check(!ec && found == 1, "a look-up does not find what is there");
        else
            account.check(ec == error::host_not_found && found == 0, "a look-up finds what is not there");
        act_if_any_is_left();
    }
    void end() override {}

    std::vector<resolver> resolvers_;
};

TEST(CoreObjects, LookUpsEndOnceHoweverOftenTheyAreGivenUp) {
    sim::for_each_seed(object_seeds(), [](world& w) {
        look_ups s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
    });
}

// ---- datagrams

/// Numbered datagrams of different sizes between two hosts, received in several ways, with cancels in between.
class datagrams final : public actor {
public:
    explicit datagrams(world& w)
        : actor(w),
          far_(w.add_host("far")),
          in_(context(), udp::endpoint(udp::v4(), 5000)),
          out_(far_.context(), udp::endpoint(udp::v4(), 5001)),
          arrived_(w.choose("datagrams", 1, 60)) {
        account.covers(far_);
        if (w.choose("all_arrive", 0, 1)) {
            is_reliable_ = true;
            w.set(rule::loss, 0);
            w.set(rule::copy, 0);
        }
        co_spawn(far_.context(), send_all(alive(account)), to_its_end());
        begin();
    }
    void settle() {
        account.settle();
        for (auto const n : arrived_)
            account.check(is_reliable_ ? n == 1 : n <= 2, "a datagram came too often or not at all");
    }

private:
    static char byte_of(std::size_t number, std::size_t i) { return static_cast<char>(number * 31 + i * 7 + 1); }
    static std::size_t size_of(std::size_t number) { return 2 + number * 37 % 900; }

    awaitable<> send_all(alive) {
        steady_timer t(far_.context());
        udp::endpoint const to(host_.address(), 5000);
        std::string bytes;
        for (std::size_t number = 0; number != arrived_.size(); ++number) {
            bytes.resize(size_of(number));
            for (std::size_t i = 0; i != bytes.size(); ++i)
                bytes[i] = byte_of(number, i);
            bytes[0] = static_cast<char>(number);
            auto const n = co_await out_.async_send_to(buffer(bytes), to);
            account.check(n == bytes.size(), "a datagram is not sent whole");
            if (world_.random().below(4) == 0) {
                t.expires_after(std::chrono::microseconds(world_.random().below(3000)));
                co_await t.async_wait();
            }
        }
    }
    void act() override {
        if (below(4) == 0)
            return in_.cancel();
        receive();
    }
    struct received_datagram {
        std::string bytes = std::string(1000, '\0');
        udp::endpoint from{};
    };
    void receive() {
        auto s = std::make_shared<received_datagram>();
        in_.async_receive_from(
            buffer(s->bytes), s->from,
            once(account, [this, s, a = alive(account)](error_code ec, std::size_t n) { received(*s, ec, n); }));
    }
    void received(received_datagram const& s, error_code ec, std::size_t n) {
        if (ec) {
            account.check(ec == error::operation_aborted, "receiving fails: " + ec.message());
            account.check(n == 0, "a datagram is lost to a cancelled receive");
            return act_if_any_is_left();
        }
        auto const number = static_cast<std::size_t>(s.bytes[0]);
        bool good = number < arrived_.size() && n == size_of(number) && s.from == udp::endpoint(far_.address(), 5001);
        for (std::size_t i = 1; good && i != n; ++i)
            good = s.bytes[i] == byte_of(number, i);
        account.check(good, "a datagram is not what was sent");
        if (good)
            ++arrived_[number];
        act_if_any_is_left();
    }
    void end() override { co_spawn(context(), receive_the_rest(alive(account)), to_its_end()); }
    awaitable<> receive_the_rest(alive) {
        in_.cancel();
        auto s = received_datagram();
        steady_timer t(context(), 60s);
        t.async_wait(once(account, [this, a = alive(account)](error_code) { in_.close(); }));
        for (;;) {
            auto const [ec, n] = co_await in_.async_receive_from(buffer(s.bytes), s.from, as_tuple);
            if (ec && !in_.is_open())
                break;
            received(s, ec, n);
        }
    }

    sim::host& far_;
    udp::socket in_, out_;
    std::vector<int> arrived_;
    bool is_reliable_ = false;
};

TEST(CoreObjects, DatagramsArriveWholeAndCancelledReceivesTakeNone) {
    sim::for_each_seed(object_seeds(), [](world& w) {
        datagrams s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
    });
}

// ---- operations that users compose

/// A place where two meet and exchange a value: the second one completes both operations, inside its own start.
class meeting_point {
public:
    struct waiting {
        virtual ~waiting() = default;
        virtual void meet(int value) = 0;
    };
    template <class H> struct waiting_with final : waiting {
        explicit waiting_with(H h) : handler(std::move(h)) {}
        void meet(int value) override {
            H h(std::move(handler));
            std::move(h)(value);
        }
        H handler;
    };
    auto async_meet(int value) {
        return completion_token_transform<void(int)>(use_await, [this, value](auto&& handler) {
            using H = std::decay_t<decltype(handler)>;
            if (!first_) {
                value_ = value;
                first_ = std::make_unique<waiting_with<H>>(std::forward<decltype(handler)>(handler));
                return;
            }
            auto const other = value_;
            auto const first = std::move(first_);
            H h(std::forward<decltype(handler)>(handler));
            first->meet(value);
            std::move(h)(other);
        });
    }
    bool is_anybody_there() const noexcept { return static_cast<bool>(first_); }
    void send_home() { first_.reset(); }

private:
    std::unique_ptr<waiting> first_;
    int value_ = 0;
};

class meetings final : public actor {
public:
    explicit meetings(world& w) : actor(w), points_(w.choose("points", 1, 6)) {
        account.stack_begins();
        begin();
    }
    void settle() {
        account.settle();
        account.check(gave_ == got_, "values were exchanged that nobody gave");
    }

private:
    void act() override {
        for (auto n = 1 + below(4); n != 0; --n)
            co_spawn(context(), go_around(1 + below(5), alive(account)), detached);
    }
    awaitable<> go_around(unsigned rounds, alive) {
        for (; rounds != 0; --rounds) {
            auto& p = points_[below(static_cast<std::uint32_t>(points_.size()))];
            auto const mine = next_++;
            ++waiting_;
            gave_ += static_cast<std::uint64_t>(mine);
            auto const other = co_await p.async_meet(mine);
            --waiting_;
            account.touch_stack();
            account.check(other != mine, "somebody meets himself");
            got_ += static_cast<std::uint64_t>(other);
            if (below(4) == 0)
                co_await this_coro::yield();
        }
    }
    void end() override {
        // A caller that still waits goes home: its coroutine is destroyed, as nothing will ever complete it.
        co_spawn(context(), send_home(alive(account)), to_its_end());
    }
    awaitable<> send_home(alive) {
        steady_timer t(context(), 1s);
        co_await t.async_wait();
        gave_ = got_ = 0;
        for (auto& p : points_)
            p.send_home();
    }

    std::vector<meeting_point> points_;
    int next_ = 1;
    unsigned waiting_ = 0;
    std::uint64_t gave_ = 0, got_ = 0;
};

TEST(CoreObjects, OperationsThatCompleteInTheStartOfOthersReachTheirCoroutines) {
    sim::for_each_seed(object_seeds(), [](world& w) {
        meetings s(w);
        w.run();
        s.settle();
        EXPECT_EQ(s.account.faults(), "");
    });
}

/// Each waits for its own point and then sets off the next one.
awaitable<> domino(std::vector<meeting_point>& all, std::size_t i, std::size_t& fallen, ledger& l, alive) {
    co_await all[i].async_meet(1);
    l.touch_stack();
    ++fallen;
    if (i + 1 != all.size())
        co_await all[i + 1].async_meet(2);
}
awaitable<> push_the_first(std::vector<meeting_point>& all, alive) { co_await all.front().async_meet(0); }

TEST(CoreObjects, RowOfDominoesDoesNotGrowTheStack) {
    sim::for_each_seed(test::scaled(100, 20), [](world& w) {
        ledger l(w);
        std::vector<meeting_point> all(w.choose("dominoes", 1, 4000));
        std::size_t fallen = 0;
        l.stack_begins();
        for (std::size_t i = 0; i != all.size(); ++i)
            co_spawn(w.context(), domino(all, i, fallen, l, alive(l)), detached);
        w.run_for(1ms);
        co_spawn(w.context(), push_the_first(all, alive(l)), detached);
        w.run();
        l.settle();
        EXPECT_EQ(l.faults(), "");
        EXPECT_EQ(fallen, all.size());
    });
}

} // namespace
