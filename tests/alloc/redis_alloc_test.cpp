// The cost of a command in memory from the heap: nothing, once everything has been used once. The counters replace
// operator new of the whole test program.

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/connection.hpp>
#include <fairlead/redis/reply_memory.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <redis/multiplexer.hpp>

#include <alloc/failing_new.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <string>

namespace fairlead::test {

namespace {

// Long enough to be no small string, so that a value that moves house is noticed.
constexpr std::string_view long_value = "0123456789abcdef0123456789abcdef0123456789abcdef";

struct fixture {
    io_context ctx;
    redis::server server{ctx};
    redis::connection conn{ctx};
    error_code ran;
    int left = 0;

    explicit fixture(bool check_order = false) {
        redis::config cfg;
        cfg.address = server.address();
        cfg.check_order = check_order;
        conn.async_run(cfg, [this](error_code ec) { ran = ec; });
    }
    void finished() {
        if (--left != 0)
            return;
        conn.cancel();
        server.stop();
    }
    void run() {
        ctx.run_for(std::chrono::seconds(60));
        EXPECT_EQ(left, 0);
    }
};

constexpr int warm_up = 300;
constexpr int measured = 300;

// Counts of everything in the process: embedded server, loop and connection included.
awaitable<void> get_and_ping(fixture& f, std::size_t& before, std::size_t& after) {
    redis::request set, get;
    std::string value, ok;
    redis::generic_response all;
    redis::response<std::string, std::optional<std::string>> typed;
    redis::request two;
    set.push("SET", "k", long_value);
    co_await f.conn.async_exec(set, ok);
    for (int i = 0; i != warm_up + measured; ++i) {
        if (i == warm_up)
            before = allocations;
        get.clear();
        get.push("GET", "k");
        co_await f.conn.async_exec(get, value);
        co_await f.conn.async_exec(get, all);
        two.clear();
        two.push("GET", "k");
        two.push("GET", "missing");
        auto executing = f.conn.async_exec(two, typed, as_tuple);
        auto [ec, n] = co_await std::move(executing);
        EXPECT_EQ(ec, error_code());
    }
    after = allocations;
    EXPECT_EQ(value, long_value);
    f.finished();
}

} // namespace

TEST(RedisAllocations, AnAwaitedCommandAllocatesNothingAfterWarmUp) {
    fixture f;
    f.left = 1;
    std::size_t before = 0, after = 0;
    co_spawn(f.ctx, get_and_ping(f, before, after), detached);
    f.run();
    EXPECT_EQ(after - before, 0U) << "in " << 3 * measured << " executions";
}

TEST(RedisAllocations, NorDoesATokenBehindEachBatch) {
    fixture f(true);
    f.left = 1;
    std::size_t before = 0, after = 0;
    co_spawn(f.ctx, get_and_ping(f, before, after), detached);
    f.run();
    EXPECT_EQ(after - before, 0U) << "in " << 3 * measured << " executions";
}

namespace {

awaitable<void> get_into_memory(fixture& f, std::size_t& before, std::size_t& after) {
    std::string const value(2'000, 'v');
    redis::request set, get;
    set.push("SET", "k", value);
    get.push("GET", "k");
    co_await f.conn.async_exec(set, redis::ignore);
    for (int i = 0; i != warm_up + measured; ++i) {
        if (i == warm_up)
            before = allocations;
        char space[2'000];
        redis::reply_memory memory(space); // A string would be a new one each time.
        co_await f.conn.async_exec(get, memory);
        EXPECT_EQ(memory.text(), value);
    }
    after = allocations;
    f.finished();
}

} // namespace

TEST(RedisAllocations, NorDoesAReplyIntoMemoryOfTheCaller) {
    fixture f;
    f.left = 1;
    std::size_t before = 0, after = 0;
    co_spawn(f.ctx, get_into_memory(f, before, after), detached);
    f.run();
    EXPECT_EQ(after - before, 0U) << "in " << measured << " executions";
}

TEST(RedisAllocations, NorDoManyCallersAtOnce) {
    fixture f;
    f.left = 200;
    std::vector<std::size_t> before(200), after(200);
    for (std::size_t i = 0; i != before.size(); ++i)
        co_spawn(f.ctx, get_and_ping(f, before[i], after[i]), detached);
    f.run();
    // All of them are warm when the last begins to measure, and none has ended when the first does.
    auto const first = *std::max_element(before.begin(), before.end());
    auto const last = *std::min_element(after.begin(), after.end());
    ASSERT_LE(first, last);
    EXPECT_EQ(last - first, 0U);
}

namespace {

struct again {
    fixture& f;
    redis::request const& get;
    std::string& value;
    std::size_t& before;
    std::size_t& after;
    int i;
    void operator()(error_code ec, std::size_t) {
        EXPECT_EQ(ec, error_code());
        ++i;
        if (i == warm_up)
            before = allocations;
        if (i == warm_up + measured) {
            after = allocations;
            f.finished();
            return;
        }
        f.conn.async_exec(get, value, again{f, get, value, before, after, i});
    }
};

} // namespace

TEST(RedisAllocations, NorDoesACallbackThatExecutesAgain) {
    fixture f;
    f.left = 1;
    std::size_t before = 0, after = 0;
    redis::request get;
    get.push("ECHO", long_value);
    std::string value;
    f.conn.async_exec(get, value, again{f, get, value, before, after, 0});
    f.run();
    EXPECT_EQ(after - before, 0U);
}

namespace {

awaitable<void> receive_pushes(fixture& f, redis::connection& publisher, std::size_t& before, std::size_t& after) {
    redis::request subscribe, publish;
    subscribe.push("SUBSCRIBE", "news");
    co_await f.conn.async_exec(subscribe, redis::ignore);
    publish.push("PUBLISH", "news", long_value);
    redis::generic_response pushes;
    co_await f.conn.async_receive(pushes);
    for (int i = 0; i != warm_up + measured; ++i) {
        if (i == warm_up)
            before = allocations;
        co_await publisher.async_exec(publish, redis::ignore);
        co_await f.conn.async_receive(pushes);
    }
    after = allocations;
    publisher.cancel();
    f.finished();
}

} // namespace

// The engine builds a string for each publication; the client has to add nothing to that.
TEST(RedisAllocations, ReceivingAPushAddsNothingToWhatTheServerAllocates) {
    fixture f;
    f.left = 1;
    redis::connection publisher(f.ctx);
    redis::config cfg;
    cfg.address = f.server.address();
    publisher.async_run(cfg, detached);
    std::size_t before = 0, after = 0;
    co_spawn(f.ctx, receive_pushes(f, publisher, before, after), detached);
    f.run();
    EXPECT_LE((after - before) / measured, 4U);
}

namespace {

/// A server of one connection, which allocates nothing: it writes what it is told to.
struct played_server {
    ip::tcp::acceptor acceptor;
    ip::tcp::socket socket;
    std::string greeting = "%1\r\n+proto\r\n:3\r\n";
    std::string confirmation = ">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n";

    explicit played_server(io_context& c) : acceptor(c, {ip::address_v4::loopback(), 0}), socket(c) {}
    std::string address() const { return "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()); }
    awaitable<void> greet() {
        char words[256];
        co_await acceptor.async_accept(socket);
        co_await socket.async_read_some(buffer(words));
        co_await async_write(socket, buffer(greeting));
        co_await socket.async_read_some(buffer(words));
        co_await async_write(socket, buffer(confirmation));
    }
};

/// `at_once` messages in each write, all of which the reader takes.
awaitable<void> take_messages(redis::client& client, played_server& server, int at_once, std::size_t& before,
                              std::size_t& after) {
    co_spawn(client.get_executor(), server.greet(), detached);
    auto sub = co_await client.subscribe("news");
    std::string one = ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$48\r\n";
    one.append(long_value).append("\r\n");
    std::string all;
    for (int i = 0; i != at_once; ++i)
        all += one;
    for (int i = 0; i != warm_up + measured; ++i) {
        if (i == warm_up)
            before = allocations;
        co_await async_write(server.socket, buffer(all));
        for (int n = 0; n != at_once; ++n) {
            auto const m = co_await sub.next();
            EXPECT_EQ(m->payload(), long_value);
            EXPECT_EQ(m->lost(), 0U);
        }
    }
    after = allocations;
    client.cancel();
}

} // namespace

// Where the reader waits for each one, and where they queue up.
TEST(RedisAllocations, AMessageOfASubscriptionAllocatesNothing) {
    for (int const at_once : {1, 100}) {
        io_context ctx;
        played_server server(ctx);
        auto const address = server.address();
        redis::client client(ctx, {.address = address});
        client.async_run(detached);
        std::size_t before = 1, after = 0;
        co_spawn(ctx, take_messages(client, server, at_once, before, after), detached);
        ctx.run_for(std::chrono::seconds(60));
        EXPECT_EQ(after - before, 0U) << "in " << measured * at_once << " messages";
    }
}

// A length is a claim: what is allocated follows the bytes that really came.
TEST(RedisAllocations, AHostileLengthAllocatesNoMoreThanAFewTimesWhatCame) {
    for (std::string_view head : {"$500000000\r\n", "*100000000\r\n", "%100000000\r\n", "*2\r\n:1\r\n$500000000\r\n"}) {
        redis::impl::multiplexer mux{redis::config{}};
        redis::request req;
        req.push("GET", "k");
        redis::generic_response resp;
        redis::impl::exec_op o;
        o.begin(nullptr, &req);
        o.object = &resp;
        o.deliver = &redis::impl::deliver_generic;
        mux.begin_generation();
        mux.open();
        ASSERT_TRUE(mux.add(o));
        mux.next_output();
        mux.output_done();
        op_queue done;
        std::string const body(100'000, 'x');
        largest = 0;
        auto p = mux.on_bytes(head, done);
        ASSERT_EQ(p.ec, error_code());
        if (head[0] == '$')
            p = mux.on_bytes(body, done);
        EXPECT_LE(largest.load(), 4 * (head.size() + body.size())) << head;
        mux.end_generation({}, done);
        while (!done.empty())
            done.pop_front();
    }
}

} // namespace fairlead::test
