// Small calls beside large ones, on a redis::client: redis_fairlead_large WAY and then as workload.hpp says, mode
// small. WAY is how the large values pass:
//   shared, apart       by GET on the connection of the small calls, or with set_apart()
//   ranges[:BYTES]      by get_in_ranges(), with the client's range or another one
//   set, set_apart      by SET in place of GET
//   pieces              by SET with write_in_pieces()
//   set_ranges[:BYTES]  by set_in_ranges(), with the client's range or another one
#include "latencies.hpp"
#include "workload.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/redis/value_ranges.hpp>
#include <fairlead/redis/value_stream.hpp>
#include <fairlead/token/adapters.hpp>

#include <memory>
#include <optional>

namespace {

using namespace fairlead;
using workload::insist;

constexpr std::size_t piece_size = 64 * 1024;

/// One caller of large values. Each call of one() is one value.
class large_caller {
public:
    virtual ~large_caller() = default;
    virtual awaitable<bool> one(redis::client& db) = 0;
};

class getter final : public large_caller {
public:
    explicit getter(bool is_apart) {
        request_.push("GET", workload::large_key);
        request_.set_apart(is_apart);
    }
    awaitable<bool> one(redis::client& db) override {
        auto const [ec, n] = co_await db.async_exec(request_, value_, as_tuple);
        co_return !ec && n == workload::large_size;
    }

private:
    redis::request request_;
    std::string value_;
};

class range_reader final : public large_caller {
public:
    explicit range_reader(std::size_t bytes) {
        if (bytes != 0)
            how_.range = bytes;
    }
    awaitable<bool> one(redis::client& db) override {
        auto reading = redis::get_in_ranges(db, workload::large_key, how_);
        auto const value = co_await std::move(reading);
        co_return value && value->size() == workload::large_size;
    }

private:
    redis::reading_options how_;
};

class setter final : public large_caller {
public:
    explicit setter(bool is_apart) {
        request_.push("SET", workload::large_key, std::string(workload::large_size, 'x'));
        request_.set_apart(is_apart);
    }
    awaitable<bool> one(redis::client& db) override {
        auto const [ec, n] = co_await db.async_exec(request_, answer_, as_tuple);
        co_return !ec && answer_ == "OK";
    }

private:
    redis::request request_;
    std::string answer_;
};

class piece_writer final : public large_caller {
public:
    awaitable<bool> one(redis::client& db) override {
        auto next = [this, left = workload::large_size]() mutable -> awaitable<std::string_view> {
            auto const n = std::min(left, piece_size);
            left -= n;
            return give(std::string_view(piece_).substr(0, n));
        };
        auto const set = redis::cmd::set(workload::large_key, redis::in_pieces);
        auto writing = redis::write_in_pieces(db, set, workload::large_size, next);
        auto const is_set = co_await std::move(writing);
        co_return is_set;
    }

private:
    static awaitable<std::string_view> give(std::string_view piece) { co_return piece; }
    std::string const piece_ = std::string(piece_size, 'x');
};

class range_writer final : public large_caller {
public:
    explicit range_writer(std::size_t bytes) {
        if (bytes != 0)
            how_.range = bytes;
    }
    awaitable<bool> one(redis::client& db) override {
        auto writing = redis::set_in_ranges(db, workload::large_key, text_, how_);
        co_await std::move(writing);
        co_return true;
    }

private:
    redis::writing_options how_;
    std::string const text_ = std::string(workload::large_size, 'x');
};

std::unique_ptr<large_caller> caller_for(std::string_view way) {
    if (way == "shared" || way == "apart")
        return std::make_unique<getter>(way == "apart");
    if (way == "set" || way == "set_apart")
        return std::make_unique<setter>(way == "set_apart");
    if (way == "pieces")
        return std::make_unique<piece_writer>();
    auto const colon = way.find(':');
    auto const bytes = colon == way.npos ? 0 : std::strtoul(way.data() + colon + 1, nullptr, 10);
    auto const name = way.substr(0, colon);
    insist(name == "ranges" || name == "set_ranges", "no such way");
    if (name == "set_ranges")
        return std::make_unique<range_writer>(bytes);
    return std::make_unique<range_reader>(bytes);
}

awaitable<void> call_large(redis::client& db, std::string_view way, bool const& goes_on, workload::large_calls& all) {
    auto const caller = caller_for(way);
    while (goes_on) {
        bool is_good = false;
        auto const began = workload::large_calls::clock::now();
        try {
            auto one = caller->one(db);
            is_good = co_await std::move(one);
        } catch (system_error const& e) {
            insist(!goes_on, e.what());
        }
        insist(!goes_on || is_good, "a large value was another one");
        if (goes_on)
            all.took(workload::large_calls::clock::now() - began);
    }
}

awaitable<void> read_small(redis::client& db, workload::settings const& s, std::string_view way) {
    bool goes_on = true;
    workload::large_calls large;
    std::string const text(workload::small_size, 's');
    co_await db.set(workload::small_key, text);
    co_await db.setrange(workload::large_key, workload::large_size - 1, "x");
    for (long i = 0; i != s.callers; ++i)
        co_spawn(db.get_executor(), call_large(db, way, goes_on, large), detached);

    redis::request req;
    req.push("GET", workload::small_key);
    std::string value;
    for (workload::latencies all(s.n);;) {
        all.begin();
        co_await db.async_exec(req, value);
        all.end();
        insist(value == text, "GET gave another value");
        if (all.is_full()) {
            large.print();
            all.print();
            break;
        }
    }
    goes_on = false;
    db.cancel();
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way is missing");
    workload::settings const s(argc - 1, argv + 1);
    if (!s.is_small())
        return workload::skipped;
    io_context context;
    redis::config config;
    config.address = s.host + ":" + s.port;
    redis::client db(context, config);
    co_spawn(context, read_small(db, s, argv[1]), detached);
    db.async_run([](error_code ec) { insist(ec == error::operation_aborted, "the server is not there"); });
    context.run();
}
