// Signals of simulated hosts: each host is a process of its own.
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/sim/world.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using sim::world;

class SimSignals : public testing::Test {
public:
    world w{1};
    sim::host& here = w.add_host("here");
    std::string log;

    auto note(char const* name) {
        return [this, name](error_code ec, int number) {
            log += name + std::string(ec ? " cancelled" : " " + std::to_string(number)) + ';';
        };
    }
};

TEST_F(SimSignals, EverySetOfTheHostGetsThemAndNoOther) {
    auto& there = w.add_host("there");
    signal_set one(here.context(), SIGUSR1), two(here.context(), SIGUSR1), elsewhere(there.context(), SIGUSR1);
    one.async_wait(note("one"));
    elsewhere.async_wait(note("elsewhere"));
    EXPECT_TRUE(here.raise(SIGUSR1));
    EXPECT_EQ(log, "") << "inside the call";
    w.run();
    EXPECT_EQ(log, "one 10;");
    two.async_wait(note("two")); // It has been kept.
    w.run();
    EXPECT_EQ(log, "one 10;two 10;");
}

TEST_F(SimSignals, AreKeptUntilTheyAreFetchedTheLowestFirst) {
    signal_set set(here.context(), SIGTERM, SIGHUP);
    EXPECT_TRUE(here.raise(SIGTERM));
    EXPECT_TRUE(here.raise(SIGHUP));
    EXPECT_TRUE(here.raise(SIGTERM));
    for (int i = 0; i != 3; ++i) {
        set.async_wait(note(""));
        w.run();
    }
    EXPECT_EQ(log, " 1; 15; 15;");
}

TEST_F(SimSignals, WithoutASetThatHasThemTheyAreNotTaken) {
    EXPECT_FALSE(here.raise(SIGUSR1));
    signal_set set(here.context(), SIGUSR1);
    EXPECT_FALSE(here.raise(SIGUSR2));
    EXPECT_FALSE(here.raise(0));
    EXPECT_FALSE(here.raise(65));
    set.async_wait(note("set"));
    set.remove(SIGUSR1);
    EXPECT_FALSE(here.raise(SIGUSR1));
    w.run();
    EXPECT_EQ(log, "") << "a wait stays when its signal is removed";
    set.cancel();
    w.run();
    EXPECT_EQ(log, "set cancelled;");
}

TEST_F(SimSignals, ThoseThatCannotBeCaughtAreRefused) {
    signal_set set(here.context()), other(here.context());
    error_code ec;
    for (int const number : {SIGKILL, SIGSTOP, 0, -1, 32, 65})
        EXPECT_EQ(set.add(number, ec), error::invalid_argument) << number;
    set.add(SIGCHLD, signal_set::flags::no_child_stop);
    EXPECT_EQ(other.add(SIGCHLD, signal_set::flags::restart, ec), error::invalid_argument) << "others have agreed";
    EXPECT_FALSE(other.add(SIGCHLD, ec));
    set.clear();
    other.clear();
    EXPECT_FALSE(other.add(SIGCHLD, signal_set::flags::restart, ec)) << "nobody has it any more";
}

TEST_F(SimSignals, GoWithTheirProcess) {
    auto const witness = std::make_shared<int>();
    signal_set set(here.context(), SIGTERM);
    set.async_wait([witness](error_code, int) { ADD_FAILURE(); });
    here.kill();
    w.run();
    EXPECT_EQ(witness.use_count(), 1);
    EXPECT_FALSE(here.raise(SIGTERM)) << "it is down";
}

TEST_F(SimSignals, AProgramThatWaitsForOneThatNeverComesIsStuck) {
    w.add_host("waits", [](io_context& ctx) -> awaitable<void> {
        signal_set set(ctx, SIGTERM);
        co_await set.async_wait();
    });
    try {
        w.run();
        FAIL() << "returned";
    } catch (std::runtime_error const& e) {
        EXPECT_NE(std::string(e.what()).find("a signal"), std::string::npos) << e.what();
    }
}

TEST_F(SimSignals, TheLineOfEventsNamesThem) {
    signal_set set(here.context(), SIGTERM);
    here.raise(SIGTERM);
    EXPECT_FALSE(here.raise(SIGUSR1));
    w.add_host("fails", [](io_context& ctx) -> awaitable<void> {
        signal_set never(ctx, SIGHUP);
        co_await never.async_wait();
    });
    try {
        w.run();
        FAIL() << "returned";
    } catch (std::runtime_error const& e) {
        EXPECT_NE(std::string(e.what()).find("here  15 came as a signal"), std::string::npos) << e.what();
        EXPECT_EQ(std::string(e.what()).find("10 came as a signal"), std::string::npos) << e.what();
    }
}

TEST_F(SimSignals, APausedProcessHasThemWhenItIsResumed) {
    signal_set set(here.context(), SIGTERM);
    set.async_wait(note(""));
    here.pause();
    EXPECT_TRUE(here.raise(SIGTERM));
    w.run_for(1s);
    EXPECT_EQ(log, "");
    here.resume();
    w.run();
    EXPECT_EQ(log, " 15;");
}

TEST(SimSignalsOfAWorld, SetsMayOutliveIt) {
    auto w = std::make_unique<world>(1);
    signal_set set(w->context(), SIGTERM);
    w.reset();
    error_code ec;
    set.add(SIGHUP, ec);
    EXPECT_TRUE(ec);
    set.cancel();
    set.clear();
}

awaitable<void> answer(tcp::socket peer) {
    steady_timer work(co_await this_coro::executor, 100ms);
    co_await work.async_wait();
    std::string const text = "done";
    co_await async_write(peer, buffer(text));
}
awaitable<void> serve_until_asked_to_end(io_context& ctx, std::size_t& cut) {
    auto accepts = [&](task_scope<>& sessions) -> awaitable<void> {
        tcp::acceptor acceptor(ctx, tcp::endpoint(tcp::v4(), 7));
        signal_set asked(ctx, SIGTERM);
        for (;;) {
            auto next = acceptor.async_accept();
            auto end = asked.async_wait();
            auto first = co_await when_any(std::move(next), std::move(end));
            if (first.template get<0>().has_value())
                co_await sessions.spawn(answer, std::move(first.template get<0>().value()));
            if (first.template get<1>().has_value())
                break;
        }
        acceptor.close();
        cut = co_await sessions.drain(10s);
    };
    co_await with_scope(accepts);
}

TEST(SimSignalsOfAServer, SigtermDrainsIt) {
    world w(1);
    std::size_t cut = 99;
    std::string got;
    auto& server = w.add_host("server", [&](io_context& ctx) { return serve_until_asked_to_end(ctx, cut); });
    w.add_host("client", [&](io_context& ctx) -> awaitable<void> {
        tcp::socket s(ctx);
        steady_timer until_it_listens(ctx, 10ms);
        co_await until_it_listens.async_wait();
        co_await s.async_connect(tcp::endpoint(server.address(), 7));
        w.at(20ms, [&] { EXPECT_TRUE(server.raise(SIGTERM)); }); // in the middle of the answer
        got.resize(4);
        co_await async_read(s, buffer(got));
    });
    w.run();
    EXPECT_EQ(got, "done");
    EXPECT_EQ(cut, 0U);
    EXPECT_TRUE(server.is_done());
}

} // namespace
