// The program of docs/guide/shutting-down.md: a server that SIGTERM ends, and three clients that see how.
//
// Run as a test:
#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/signal_set.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/scope/task_scope.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/sync/event.hpp>
#include <fairlead/sync/latch.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

using namespace std::chrono_literals;
using fairlead::awaitable, fairlead::as_tuple, fairlead::ip::tcp;
using scope = fairlead::task_scope<>;

struct state {
    fairlead::event closing; ///< the server has been asked to end
    fairlead::latch arrived; ///< sessions and requests that this program's clients begin
};

/// "slow" is not done yet when the server is asked to end, and "endless" never is.
awaitable<void> answer(tcp::socket& peer, std::string const& line, state& s) {
    s.arrived.count_down();
    co_await s.closing.async_wait();
    fairlead::steady_timer work(peer.get_executor(), line == "endless\n" ? 1h : 0h);
    co_await work.async_wait();
    co_await async_write(peer, fairlead::buffer(line));
}

awaitable<void> session(tcp::socket peer, state& s) {
    s.arrived.count_down();
    std::string in;
    while (!s.closing.is_set()) {
        auto const next =
            co_await when_any(async_read_until(peer, fairlead::dynamic_buffer(in, 1000), '\n'), s.closing.async_wait());
        if (!next.get<0>().has_value())
            co_return; // Nobody is waiting for an answer.
        auto const n = next.get<0>().value();
        std::string const line = in.substr(0, n);
        in.erase(0, n);
        co_await answer(peer, line, s);
    }
}

awaitable<void> accept_all(tcp::acceptor& acceptor, scope& sessions, state& s) {
    for (;;) {
        auto [ec, peer] = co_await acceptor.async_accept(as_tuple);
        if (!ec)
            co_await sessions.spawn(session, std::move(peer), std::ref(s));
    }
}

/// Returns how many sessions were cut.
awaitable<std::size_t> serve(tcp::acceptor& acceptor, state& s, std::chrono::milliseconds patience) {
    fairlead::scope_options const options{.failures = fairlead::on_failure::is_dropped};
    co_return co_await with_scope(options, [&](scope& sessions) -> awaitable<std::size_t> {
        fairlead::signal_set asked_to_end(acceptor.get_executor(), SIGTERM, SIGINT);
        co_await when_any(accept_all(acceptor, sessions, s), asked_to_end.async_wait());
        acceptor.close(); // New clients are refused, and go to another server.
        s.closing.set();  // Sessions without a request end.
        co_return co_await sessions.drain(patience);
    });
}

/// Sends a line, and returns all that comes until the server closes the connection.
awaitable<std::string> ask(tcp::endpoint where, std::string line) {
    tcp::socket server(co_await fairlead::this_coro::executor);
    co_await server.async_connect(where);
    co_await async_write(server, fairlead::buffer(line));
    std::string in;
    co_await async_read_until(server, fairlead::dynamic_buffer(in), '\n', as_tuple);
    co_return in;
}
awaitable<void> ask_for_the_end(state& s) {
    co_await s.arrived.async_wait();
    std::raise(SIGTERM); // as `kill PID` does
}

int main() {
    fairlead::io_context ctx(1);
    tcp::acceptor acceptor(ctx, tcp::endpoint(fairlead::ip::address_v4::loopback(), 0));
    auto const where = acceptor.local_endpoint();
    state s{fairlead::event(ctx), fairlead::latch(ctx, 5)};
    std::size_t cut = 0;
    std::string idle = "?", slow = "?", endless = "?";
    auto const into = [](std::string& target) {
        return [&target](std::exception_ptr e, std::string got) { target = e ? "failed" : std::move(got); };
    };
    co_spawn(ctx, ask(where, ""), into(idle));
    co_spawn(ctx, ask(where, "slow\n"), into(slow));
    co_spawn(ctx, ask(where, "endless\n"), into(endless));
    co_spawn(ctx, ask_for_the_end(s), fairlead::rethrow);
    co_spawn(ctx, serve(acceptor, s, 100ms), [&](std::exception_ptr e, std::size_t n) {
        if (e)
            std::rethrow_exception(e);
        cut = n;
    });
    ctx.run(); // Returns when the last session has ended.
    std::printf("idle: \"%s\", slow: \"%s\", endless: \"%s\", cut: %zu\n", idle.c_str(), slow.c_str(), endless.c_str(),
                cut);
    return idle.empty() && slow == "slow\n" && endless.empty() && cut == 1 ? 0 : 1;
}
