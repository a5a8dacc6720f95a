// Standard input to the server as it is, while its replies are counted.
#include "modes.hpp"

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/coro/when_all.hpp>
#include <fairlead/coro/when_any.hpp>
#include <fairlead/net/timer.hpp>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <unistd.h>

namespace cli {
namespace {

using namespace fairlead;

struct counts {
    long errors = 0, replies = 0;
    bool is_sent = false; ///< all of the input, and the last command
};

/// A text that the server sends back last: what comes before it are replies to the input.
std::string last_words() {
    std::random_device chance;
    std::string text;
    while (text.size() != 20)
        text.push_back(static_cast<char>('a' + chance() % 26));
    return text;
}

/// Reading blocks: meanwhile no command is on its way whose reply would have to be taken.
std::size_t read_input(char* into, std::size_t n) {
    for (;;) {
        auto const got = ::read(STDIN_FILENO, into, n);
        if (got >= 0)
            return static_cast<std::size_t>(got);
        if (errno != EINTR)
            throw failure(std::string("Error: standard input: ") + std::strerror(errno));
    }
}

awaitable<void> send_input(session& s, std::string const& last, counts& c) {
    std::string piece(64 * 1024, '\0');
    while (auto const n = read_input(piece.data(), piece.size())) {
        auto sending = s.send(std::string_view(piece).substr(0, n));
        co_await std::move(sending);
    }
    std::string const end = "\r\n*2\r\n$4\r\nECHO\r\n$20\r\n" + last + "\r\n"; // The input may lack its last line end.
    auto sending = s.send(end);
    co_await std::move(sending);
    c.is_sent = true;
    std::puts("All data transferred. Waiting for the last reply...");
    std::fflush(stdout);
}

awaitable<void> count_replies(session& s, std::string const& last, counts& c) {
    for (;;) {
        auto receiving = s.receive_answer();
        auto const r = co_await std::move(receiving);
        if (r.text == last) // It may come before send_input() goes on.
            co_return;
        ++c.replies;
        if (is_error(r)) {
            ++c.errors;
            std::fprintf(stderr, "%s\n", r.text.c_str());
        }
    }
}

/// All of it, both ways.
awaitable<void> exchange(session& s, counts& c) {
    auto const last = last_words();
    auto sending = send_input(s, last, c);
    auto counting = count_replies(s, last, c);
    auto both = when_all(std::move(sending), std::move(counting));
    co_await std::move(both);
    std::puts("Last reply received from server.");
}

/// Ends by an exception alone.
awaitable<void> watch(counts const& c, double limit_s) {
    auto const limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(limit_s));
    steady_timer pause(co_await this_coro::executor);
    for (long seen = -1; limit_s <= 0 || !c.is_sent || c.replies != seen;) {
        seen = c.is_sent ? c.replies : -1;
        pause.expires_after(limit_s > 0 ? limit : std::chrono::hours(24));
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
    }
    throw failure("No replies for " + std::to_string(std::lround(limit_s)) + " seconds: exiting.");
}

} // namespace

awaitable<int> pipe_input(options const& o) {
    auto opening = session::open(o);
    auto s = co_await std::move(opening);
    counts c;
    auto exchanging = exchange(s, c);
    auto watching = watch(c, o.pipe_timeout_s);
    auto first = when_any(std::move(exchanging), std::move(watching));
    co_await std::move(first);
    std::printf("errors: %ld, replies: %ld\n", c.errors, c.replies);
    co_return c.errors != 0 ? 1 : 0;
}

} // namespace cli
