// A lock that many programs share, on a Redis server: redis_lock [host:port], 127.0.0.1:6379 by default.
//
// A lock with a time limit can be lost while its owner still works: the owner was stopped, or the network was slow. So
// each acquisition has a number that is greater than those before, the fencing token. The protected thing
// refuses work with a lesser one. All three steps are scripts, for the server executes a script without a break.
//
// tests/programs.cmake runs it with a server of its own.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

using namespace fairlead;
using namespace std::chrono_literals;

/// A lock on the server, for one owner at a time.
class shared_lock {
public:
    shared_lock(redis::client& db, std::string name)
        : db_(db),
          name_("lock:" + name),
          fence_("fence:" + name),
          owner_(std::to_string(std::random_device()()) + '-' + std::to_string(std::random_device()())) {}

    /// The fencing token, or nothing when somebody else has the lock.
    awaitable<std::optional<std::int64_t>> try_acquire(std::chrono::milliseconds limit) {
        static redis::script const take("if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
                                        "  return redis.call('INCR', KEYS[2]) "
                                        "end "
                                        "return false");
        std::array<std::string_view, 2> const keys{name_, fence_};
        return db_.eval<std::optional<std::int64_t>>(take, keys, owner_, limit.count());
    }
    /// False: the lock was lost.
    awaitable<bool> extend(std::chrono::milliseconds limit) {
        static redis::script const prolong("if redis.call('GET', KEYS[1]) == ARGV[1] then "
                                           "  return redis.call('PEXPIRE', KEYS[1], ARGV[2]) "
                                           "end "
                                           "return 0");
        return db_.eval<bool>(prolong, name_, owner_, limit.count());
    }
    /// Only if it is still this owner's: it may be another one's by now. False: it was lost.
    awaitable<bool> release() {
        static redis::script const drop("if redis.call('GET', KEYS[1]) == ARGV[1] then "
                                        "  return redis.call('DEL', KEYS[1]) "
                                        "end "
                                        "return 0");
        return db_.eval<bool>(drop, name_, owner_);
    }

private:
    redis::client& db_;
    std::string name_, fence_, owner_;
};

/// A register that takes no values of owners who have lost the lock.
awaitable<bool> write_guarded(redis::client& db, std::string_view name, std::int64_t token, std::string_view value) {
    static redis::script const write("local last = tonumber(redis.call('HGET', KEYS[1], 'token') or 0) "
                                     "if tonumber(ARGV[1]) < last then return 0 end "
                                     "redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2]) "
                                     "return 1");
    return db.eval<bool>(write, name, token, value);
}

void check(bool is_so, char const* what) {
    if (!is_so)
        throw std::runtime_error(what);
}

awaitable<void> compete(redis::client& db) {
    shared_lock ann(db, "report"), bob(db, "report");
    co_await db.del("lock:report", "fence:report", "report");

    auto const first = co_await ann.try_acquire(200ms);
    check(first.has_value(), "nobody has the lock, and it cannot be had");
    std::cout << "ann has the lock, with token " << *first << '\n';
    auto const refused = co_await bob.try_acquire(200ms);
    check(!refused, "two have the lock");
    std::cout << "bob has to wait\n";
    check(co_await ann.extend(50ms), "the lock cannot be extended");

    steady_timer stopped(co_await this_coro::executor, 200ms); // Ann does not notice that her time is over.
    co_await stopped.async_wait();

    auto const second = co_await bob.try_acquire(10s);
    check(second && *second > *first, "tokens do not grow");
    std::cout << "ann's lock has expired; bob has it, with token " << *second << '\n';
    check(co_await write_guarded(db, "report", *second, "by bob"), "the owner may not write");
    check(!co_await write_guarded(db, "report", *first, "by ann"), "somebody without the lock has written");
    std::cout << "ann's late work was refused\n";
    check(!co_await ann.release(), "ann has released bob's lock");
    check(!co_await ann.extend(10s), "ann has extended bob's lock");
    check(co_await bob.release(), "the owner cannot release");
    std::cout << "bob has released his lock\n";
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
    co_spawn(ctx, compete(db), [&](std::exception_ptr failure) {
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
