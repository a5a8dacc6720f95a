// The cost of timers. One source for Fairlead (through the headers of fairlead::asio_compat) and for Asio.
//
//   timer ROW N PENDING
//     ROW      cancel       one timer after the other is made, waited for and cancelled; its handler runs each time
//              rearm        one timer is set anew while it is waited for: a protocol's timeout
//              many         100,000 timers (or PENDING) are made, 10 to 15 s ahead, then all cancelled
//              expire       10,000 timers (or PENDING) expire within a millisecond, after they were made
//              due          a timer that is due is waited for, again and again
//              due_awaited  the same in a coroutine
//     N        timers in all
//     PENDING  other timers that are waited for meanwhile (cancel, rearm, due), hours ahead
#include <asio.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

struct program {
    asio::io_context context{1};
    std::vector<asio::steady_timer> pending{};
    std::minstd_rand random{1};

    microseconds between(microseconds least, microseconds most) {
        return std::uniform_int_distribution<long>(least.count(), most.count())(random) * 1us;
    }
    void make(long n, microseconds least, microseconds most) {
        pending.reserve(static_cast<std::size_t>(n));
        for (long i = 0; i != n; ++i) {
            pending.emplace_back(context);
            pending.back().expires_after(between(least, most));
            pending.back().async_wait([](auto) {});
        }
    }
    /// All handlers of a block.
    void run_to_the_end() {
        context.restart();
        context.run();
        pending.clear();
    }
};

/// Each handler starts the next wait.
struct canceller {
    program& all;
    long left;
    std::optional<asio::steady_timer> timer{};
    void next() {
        if (left-- == 0)
            return all.context.stop();
        timer.emplace(all.context);
        timer->expires_after(1h);
        timer->async_wait([this](auto) { next(); });
        timer->cancel();
    }
};

struct rearmer {
    program& all;
    long left;
    asio::steady_timer timer{all.context};
    void next() {
        for (int i = 0; i != 64; ++i) {
            if (left-- == 0)
                return all.context.stop();
            timer.expires_after(all.between(1h, 2h));
            timer.async_wait([](auto) {});
        }
        asio::post(all.context, [this] { next(); }); // The handlers of the waits before run first.
    }
};

struct always_due {
    program& all;
    long left;
    asio::steady_timer timer{all.context};
    void next() {
        if (left-- == 0)
            return all.context.stop();
        timer.expires_after(0s);
        timer.async_wait([this](auto) { next(); });
    }
};
asio::awaitable<void> await_due(program& all, long n) {
    asio::steady_timer timer(all.context);
    for (; n != 0; --n) {
        timer.expires_after(0s);
        co_await timer.async_wait(asio::use_awaitable);
    }
    all.context.stop();
}

template <class Chain> void run_chain(program& all, long n) {
    Chain chain{all, n};
    asio::post(all.context, [&] { chain.next(); });
    all.context.run();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    auto const is = [&](char const* row) { return std::strcmp(argv[1], row) == 0; };
    long n = std::atol(argv[2]);
    long const pending = std::atol(argv[3]);
    program all;
    if (is("many") || is("expire")) {
        for (; n > 0; n -= pending) {
            long const block = std::min(n, pending);
            if (is("expire")) {
                all.make(block, 0us, 1ms);
            } else {
                all.make(block, 10s, 15s);
                for (auto& timer : all.pending)
                    timer.cancel();
            }
            all.run_to_the_end();
        }
        return 0;
    }
    all.make(pending, 1h, 2h);
    if (is("cancel"))
        run_chain<canceller>(all, n);
    else if (is("rearm"))
        run_chain<rearmer>(all, n);
    else if (is("due"))
        run_chain<always_due>(all, n);
    else if (is("due_awaited")) {
        asio::co_spawn(all.context, await_due(all, n), asio::detached);
        all.context.run();
    } else
        return 2;
}
