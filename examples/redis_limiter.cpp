// A limit on the rate of requests that many programs share, on a Redis server: redis_limiter [host:port],
// 127.0.0.1:6379 by default.
//
// It is the generic cell rate algorithm. For each user the server has one time, at which the next request would be due
// if all had come evenly. The script reads the clock of the server, so those of the programs may differ.
//
// tests/programs.cmake runs it with a server of its own.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace fairlead;
using namespace std::chrono_literals;

/// The answer of a limiter.
struct verdict {
    bool is_allowed = false;
    std::chrono::microseconds wait{}; ///< Until the next request may pass.
};

/// So many requests at once, and then one in each interval.
class shared_limiter {
public:
    shared_limiter(redis::client& db, std::chrono::microseconds interval, int burst)
        : db_(db),
          interval_(interval),
          burst_(burst) {}

    awaitable<verdict> ask(std::string user) {
        // Numbers of Lua turn into texts with fourteen digits: microseconds since 1970 have sixteen.
        static redis::script const decide("local t = redis.call('TIME') "
                                          "local now = t[1] * 1000000 + t[2] "
                                          "local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2]) "
                                          "local due = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now)) "
                                          "local opens = due - (burst - 1) * interval "
                                          "if now < opens then return {0, opens - now} end "
                                          "due = due + interval "
                                          "redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', "
                                          "           math.ceil((due - now) / 1000)) "
                                          "return {1, 0}");
        auto const key = "limit:" + user;
        auto asking = db_.eval<std::pair<bool, std::int64_t>>(decide, key, interval_.count(), burst_);
        auto const [is_allowed, wait_us] = co_await std::move(asking);
        co_return verdict{is_allowed, std::chrono::microseconds(wait_us)};
    }

private:
    redis::client& db_;
    std::chrono::microseconds interval_;
    int burst_;
};

awaitable<void> hurry(redis::client& db) {
    co_await db.del("limit:ann", "limit:bob");
    shared_limiter limiter(db, 500ms, 3);
    verdict v;
    for (int i = 1; i != 5; ++i) {
        v = co_await limiter.ask("ann");
        std::cout << "ann's request " << i << (v.is_allowed ? " passes\n" : " has to wait\n");
        if (v.is_allowed != (i != 4))
            throw std::runtime_error("three requests may pass at once, and no more");
    }
    v = co_await limiter.ask("bob");
    if (!v.is_allowed)
        throw std::runtime_error("bob has done nothing yet");

    v = co_await limiter.ask("ann");
    if (v.is_allowed || v.wait > 500ms)
        throw std::runtime_error("the next one may pass within an interval");
    std::cout << "ann waits for the rest of an interval\n";
    steady_timer pause(co_await this_coro::executor, v.wait + 5ms);
    co_await pause.async_wait();
    v = co_await limiter.ask("ann");
    if (!v.is_allowed)
        throw std::runtime_error("ann has waited long enough");
    std::cout << "ann's next request passes\n";
}

int main(int argc, char** argv) {
    io_context ctx;
    std::string const address = argc < 2 ? "127.0.0.1:6379" : argv[1];
    redis::client db(ctx, {.address = address, .request_timeout = 5s});
    db.async_run([&](error_code ec) {
        if (ec != error::operation_aborted)
            std::cerr << address << ": " << ec.message() << '\n';
    });
    int status = 0;
    co_spawn(ctx, hurry(db), [&](std::exception_ptr failure) {
        db.cancel();
        if (!failure)
            return;
        status = 1;
        try {
            std::rethrow_exception(failure);
        } catch (std::exception const& e) {
            std::cerr << e.what() << '\n';
        }
    });
    ctx.run();
    return status;
}
