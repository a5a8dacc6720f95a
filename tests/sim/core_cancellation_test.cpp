// Requests through slots at every moment, under many seeds. Each operation ends once, with operation_aborted only if it
// was asked for a type that it honours. No request that came in time is lost; nor is a byte.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/cancellation.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <fairlead/sim/seeds.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using fairlead::test::scaled;
using ip::tcp;
using sim::random_stream;
using sim::world;

constexpr std::uint16_t cancelling_port = 4000;
constexpr std::array types{cancellation_type::terminal, cancellation_type::partial, cancellation_type::total,
                           cancellation_type::partial | cancellation_type::total, cancellation_type::all};
constexpr auto every_type = enable_total_cancellation()(cancellation_type::all);
constexpr auto not_total = enable_partial_cancellation()(cancellation_type::all);

/// A request may take effect late, and its host may get no turn for a while.
constexpr auto soon = 40ms;

std::string some_text(std::size_t size) {
    std::string t;
    for (std::size_t i = 0; i != size; ++i)
        t += i % 61 == 60 ? '\n' : static_cast<char>('a' + (i * 0x9e3779b97f4a7c15U >> 40) % 26);
    return t;
}

/// A signal, and what is known of the operation that listens to it.
struct asked_operation {
    cancellation_signal signal;
    cancellation_type honours = cancellation_type::none;
    int asked = 0;   ///< since it began, for what it honours
    int ignored = 0; ///< … for what it does not
    steady_clock::time_point limit = steady_clock::time_point::max();
    steady_clock::time_point due = steady_clock::time_point::max(); ///< by then it must have ended

    void begin(cancellation_type h) {
        EXPECT_FALSE(signal.slot().has_handler()) << "the operation before has left something";
        honours = h;
        asked = ignored = 0;
        limit = due = steady_clock::time_point::max();
    }
    void ask(cancellation_type t) {
        if (signal.slot().has_handler()) {
            ++(!!(t & honours) ? asked : ignored);
            if (asked == 1)
                due = std::min(due, steady_clock::now() + soon);
        }
        signal.emit(t);
    }
    /// `whole`: it has done all that it was to do.
    void end(error_code ec, bool whole) {
        bool const in_time = steady_clock::now() >= limit;
        EXPECT_LE(steady_clock::now(), due) << "it took its time";
        if (ec == error::operation_aborted)
            EXPECT_TRUE(asked != 0 || in_time) << "nobody has asked it to end";
        else
            EXPECT_TRUE(asked == 0 || whole || ec) << "it went on although it was asked to end";
    }
};

struct counts {
    std::uint64_t operations = 0, aborted = 0, ignored = 0, limited = 0, waits = 0;
};

/// A stream above a socket: what is read and written through it takes several steps.
struct layer {
    using executor_type = tcp::socket::executor_type;
    tcp::socket& below;
    std::size_t most;
    executor_type get_executor() noexcept { return below.get_executor(); }
    template <class Buffers, class Token> decltype(auto) async_read_some(Buffers const& into, Token&& token) {
        return below.async_read_some(buffer(mutable_buffer(*buffer_sequence_begin(into)), most),
                                     std::forward<Token>(token));
    }
    template <class Buffers, class Token> decltype(auto) async_write_some(Buffers const& from, Token&& token) {
        return below.async_write_some(buffer(const_buffer(*buffer_sequence_begin(from)), most),
                                      std::forward<Token>(token));
    }
};

class cancelling_session {
public:
    cancelling_session(world& w, counts& c) : counts_(c), draw_(w.seed(), 4711) {}

    auto limit(asked_operation& op) {
        auto const d = std::chrono::microseconds(draw_.chance(768) ? draw_.below(4000) : 1'000'000);
        op.limit = steady_clock::now() + d;
        op.due = op.limit + soon;
        ++counts_.limited;
        return cancel_after(d, as_tuple(bind_cancellation_slot(op.signal.slot())));
    }
    void note(asked_operation const& op, error_code ec) {
        EXPECT_TRUE(!ec || ec == error::operation_aborted || ec == error::eof) << ec.message();
        ++counts_.operations;
        counts_.aborted += ec == error::operation_aborted;
        counts_.ignored += op.ignored != 0;
    }

    awaitable<void> send(tcp::socket& s, asked_operation& op, std::string const& text) {
        std::size_t at = 0;
        layer above{s, 1 + draw_.below(400)};
        auto const token = as_tuple(bind_cancellation_slot(op.signal.slot()));
        while (at != text.size()) {
            auto const part = buffer(text.data() + at, std::min<std::size_t>(text.size() - at, 1 + draw_.below(3000)));
            auto const kind = draw_.below(4);
            op.begin(kind == 0 ? every_type : not_total);
            error_code ec;
            std::size_t n = 0;
            if (kind == 0) {
                std::tie(ec, n) = co_await s.async_write_some(part, token);
                EXPECT_TRUE(ec ? n == 0 : n != 0);
            } else if (kind == 1) {
                std::tie(ec, n) = co_await async_write(s, part, token);
            } else if (kind == 2) {
                std::tie(ec, n) = co_await async_write(above, part, token);
            } else {
                auto const limited = limit(op);
                std::tie(ec, n) = co_await async_write(above, part, limited);
            }
            EXPECT_LE(n, part.size());
            op.end(ec, kind == 0 || n == part.size());
            note(op, ec);
            at += n;
        }
        s.shutdown(socket_base::shutdown_send);
    }
    awaitable<void> receive(tcp::socket& s, asked_operation& op, std::string& got) {
        layer above{s, 1 + draw_.below(400)};
        auto const token = as_tuple(bind_cancellation_slot(op.signal.slot()));
        std::string bytes, held;
        for (error_code ec; ec != error::eof;) {
            bytes.assign(1 + draw_.below(2000), '-');
            auto const kind = draw_.below(6);
            op.begin(kind == 0 ? every_type : not_total);
            std::size_t n = 0;
            bool whole = false;
            if (kind == 0) {
                std::tie(ec, n) = co_await s.async_read_some(buffer(bytes), token);
                EXPECT_TRUE(ec ? n == 0 : n != 0);
                whole = true;
            } else if (kind == 1) {
                std::tie(ec, n) = co_await async_read(s, buffer(bytes), token);
                whole = n == bytes.size();
            } else if (kind == 2) {
                std::tie(ec, n) = co_await async_read(above, buffer(bytes), token);
                whole = n == bytes.size();
            } else if (kind == 3) {
                auto const limited = limit(op);
                std::tie(ec, n) = co_await async_read(above, buffer(bytes), limited);
                whole = n == bytes.size();
            } else if (kind == 4) {
                std::tie(ec, n) = co_await async_read(above, dynamic_buffer(held, bytes.size()), token);
                EXPECT_EQ(n, held.size());
                whole = n == bytes.size();
            } else {
                std::tie(ec, n) = co_await async_read_until(above, dynamic_buffer(held), '\n', token);
                EXPECT_EQ(n == 0, !!ec);
                whole = !ec;
                n = held.size(); // also what came behind the delimiter, or before there was one
            }
            op.end(ec, whole);
            note(op, ec);
            got += kind < 4 ? bytes.substr(0, n) : held;
            held.clear();
        }
    }
    /// Waits of which some are cancelled and some limited.
    awaitable<void> wait(io_context& c, asked_operation& op, bool const& over) {
        steady_timer timer(c);
        auto const token = as_tuple(bind_cancellation_slot(op.signal.slot()));
        while (!over) {
            auto const d = std::chrono::microseconds(draw_.chance(768) ? draw_.below(400) : 500'000);
            auto const deadline = steady_clock::now() + d;
            timer.expires_at(deadline);
            op.begin(every_type);
            error_code ec;
            if (draw_.chance(512)) {
                std::tie(ec) = co_await timer.async_wait(token);
            } else {
                auto const limited = limit(op);
                std::tie(ec) = co_await timer.async_wait(limited);
            }
            EXPECT_TRUE(ec || steady_clock::now() >= deadline);
            op.end(ec, true);
            ++counts_.waits;
        }
    }
    /// An operation beside the transfers of a socket, which must not be taken for one of them.
    awaitable<void> watch(tcp::socket& s, asked_operation& op) {
        auto const token = as_tuple(bind_cancellation_slot(op.signal.slot()));
        for (bool more = true; more;) {
            op.begin(every_type);
            auto const [ec] = co_await s.async_wait(socket_base::wait_error, token);
            more = !!ec && s.is_open();
            if (more)
                op.end(ec, false);
        }
    }
    awaitable<void> disturb(io_context& c, std::vector<asked_operation*> ops, bool const& over) {
        steady_timer timer(c);
        for (int i = 0; i != 400 && !over; ++i) {
            timer.expires_after(std::chrono::microseconds(draw_.below(1500)));
            co_await timer.async_wait();
            for (auto n = draw_.below(3); n != 0; --n)
                ops[draw_.below(static_cast<std::uint32_t>(ops.size()))]->ask(types[draw_.below(types.size())]);
        }
    }
    awaitable<void> connect(tcp::socket& s, asked_operation& op) {
        std::vector<tcp::endpoint> endpoints(2, tcp::endpoint(ip::address_v4::loopback(), cancelling_port));
        endpoints[0].port(cancelling_port + 1); // nobody listens there
        auto const token = as_tuple(bind_cancellation_slot(op.signal.slot()));
        for (;;) {
            op.begin(not_total);
            auto const [ec, connected] = co_await async_connect(s, endpoints, token);
            op.end(ec, !ec);
            if (!ec)
                break;
            EXPECT_EQ(ec, error::operation_aborted);
            ++counts_.aborted;
        }
    }
    awaitable<void> accept(tcp::acceptor& a, tcp::socket& s, asked_operation& op) {
        auto const token = as_tuple(bind_cancellation_slot(op.signal.slot()));
        while (!s.is_open()) {
            op.begin(every_type);
            auto const [ec] = co_await a.async_accept(s, token);
            op.end(ec, !ec);
            EXPECT_EQ(s.is_open(), !ec);
        }
    }

private:
    counts& counts_;
    random_stream draw_;
};

TEST(CoreCancellation, EveryOperationEndsOnceAndTruthfullyWhoeverIsAskedWhenever) {
    counts all;
    sim::for_each_seed(scaled(600, 60), [&](world& w) {
        auto& context = w.context();
        cancelling_session play(w, all);
        std::string const text = some_text(20'000);
        std::string got;
        std::array<asked_operation, 7> ops;
        tcp::acceptor acceptor(context, {tcp::v4(), cancelling_port});
        tcp::socket near(context), far(context);
        int failed = 0, ended = 0;
        bool over = false;
        auto const done = [&](std::exception_ptr e) {
            failed += e != nullptr;
            ++ended;
        };
        auto const transfer = [&] {
            near.set_option(socket_base::send_buffer_size(4000));
            co_spawn(context, play.send(near, ops[2], text), done);
            co_spawn(context, play.receive(far, ops[3], got), [&](std::exception_ptr e) {
                done(e);
                over = true;
                near.close();
                far.close();
            });
            co_spawn(context, play.watch(near, ops[5]), done);
            co_spawn(context, play.watch(far, ops[6]), done);
            co_spawn(context, play.disturb(context, {&ops[2], &ops[3], &ops[4], &ops[5], &ops[6]}, over), done);
        };
        auto const half_connected = [&](std::exception_ptr e) {
            done(e);
            if (ended == 2)
                transfer();
        };
        co_spawn(context, play.connect(near, ops[0]), half_connected);
        co_spawn(context, play.accept(acceptor, far, ops[1]), half_connected);
        co_spawn(context, play.disturb(context, {&ops[0], &ops[1]}, over), [](std::exception_ptr) {});
        co_spawn(context, play.wait(context, ops[4], over), [&](std::exception_ptr e) { failed += e != nullptr; });
        w.run();
        EXPECT_EQ(failed, 0);
        EXPECT_EQ(ended, 7);
        EXPECT_TRUE(got == text) << got.size() << " bytes arrived";
        for (auto& op : ops)
            EXPECT_FALSE(op.signal.slot().has_handler());
    });
    EXPECT_GT(all.aborted, all.operations / 20);
    EXPECT_GT(all.ignored, 0U);
    EXPECT_GT(all.limited, 0U);
    EXPECT_GT(all.waits, 0U);
}

} // namespace
