// How long a PING takes.
#include "modes.hpp"

#include <fairlead/coro/this_coro.hpp>
#include <fairlead/io/clock.hpp>
#include <fairlead/net/timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace cli {
namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using milliseconds = std::chrono::duration<double, std::milli>;

struct samples {
    double least_ms = 0, most_ms = 0, sum_ms = 0;
    long count = 0;

    void add(double ms) noexcept {
        least_ms = count == 0 ? ms : std::min(least_ms, ms);
        most_ms = std::max(most_ms, ms);
        sum_ms += ms;
        ++count;
    }
    double mean_ms() const noexcept { return count == 0 ? 0 : sum_ms / static_cast<double>(count); }
};

awaitable<double> one_ping(session& s) {
    auto const begun = steady_clock::now();
    auto sending = s.send("*1\r\n$4\r\nPING\r\n");
    co_await std::move(sending);
    auto receiving = s.receive_answer();
    auto const answer = co_await std::move(receiving);
    if (is_error(answer))
        throw failure("PING failed: " + answer.text);
    co_return milliseconds(steady_clock::now() - begun).count();
}

void print_end(samples const& all, bool is_json) {
    std::printf(is_json ? "{\"min\":%.3f,\"max\":%.3f,\"avg\":%.3f,\"count\":%ld}\n" : "%.3f %.3f %.3f %ld\n",
                all.least_ms, all.most_ms, all.mean_ms(), all.count);
}

} // namespace

awaitable<int> measure_latency(options const& o) {
    auto opening = session::open(o);
    auto s = co_await std::move(opening);
    bool const is_live = ::isatty(STDOUT_FILENO) == 1 && o.how.value_or(form::standard) == form::standard;
    auto const end = steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                               std::chrono::duration<double>(o.has_interval ? o.interval_s : 1.0));
    steady_timer pause(co_await this_coro::executor);
    samples all;
    do {
        auto pinging = one_ping(s);
        all.add(co_await std::move(pinging));
        if (is_live) {
            std::printf("\x1b[0G\x1b[2Kmin: %.3f, max: %.3f, avg: %.3f (%ld samples)", all.least_ms, all.most_ms,
                        all.mean_ms(), all.count);
            std::fflush(stdout);
        }
        pause.expires_after(10ms);
        auto waiting = pause.async_wait();
        co_await std::move(waiting);
    } while (is_live || steady_clock::now() < end);
    print_end(all, o.how == form::json);
    co_return 0;
}

} // namespace cli
