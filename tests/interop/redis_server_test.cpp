// The connection against a real server.

#include "real_redis.hpp"

#include <fairlead/net/timer.hpp>

#include <map>
#include <optional>
#include <vector>

namespace fairlead::test {

using R = redis::error;

namespace {

awaitable<void> echo_many(redis::connection& conn, int id, int commands, int& left) {
    redis::request req;
    std::string reply;
    for (int i = 0; i != commands; ++i) {
        auto const token = std::to_string(id) + ":" + std::to_string(i);
        req.clear();
        req.push("ECHO", token);
        co_await conn.async_exec(req, reply);
        EXPECT_EQ(reply, token);
    }
    if (--left == 0)
        conn.cancel();
}

} // namespace

TEST_F(RealRedis, AThousandCallersShareOneConnectionAndEachGetsItsOwnReplies) {
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    int left = 1000;
    for (int id = 0; id != 1000; ++id)
        co_spawn(ctx_, echo_many(conn, id, 50, left), rethrow_to_test{});
    run_all(ctx_);
    EXPECT_EQ(left, 0);
    auto const c = conn.counters();
    EXPECT_EQ(c.commands, 50'000U);
    EXPECT_LT(c.writes, c.commands / 20);
}

namespace {

awaitable<std::string> ask_echo(redis::connection& conn) {
    redis::request req;
    req.push("ECHO", "in step");
    std::string reply;
    co_await conn.async_exec(req, reply);
    co_return reply;
}

/// Commands that break shared connections elsewhere: each of these, then a command that must get its own reply.
awaitable<void> probe(redis::connection& conn) {
    redis::generic_response any;
    std::string reply;
    {
        redis::request attribute;
        attribute.push("DEBUG", "PROTOCOL", "attrib");
        co_await conn.async_exec(attribute, reply);
        auto asking = ask_echo(conn);
        EXPECT_EQ(co_await std::move(asking), "in step");
    }
    {
        redis::request push;
        push.push("DEBUG", "PROTOCOL", "push");
        co_await conn.async_exec(push, any);
        auto asking = ask_echo(conn);
        EXPECT_EQ(co_await std::move(asking), "in step");
        co_await conn.async_receive(any);
        EXPECT_EQ(any[1].value, "server-cpu-usage");
    }
    {
        redis::request docs;
        docs.push("COMMAND", "DOCS", "SET");
        co_await conn.async_exec(docs, any);
        std::uint32_t deepest = 0;
        for (auto const n : any)
            deepest = std::max(deepest, n.depth);
        EXPECT_GE(deepest, 5U);
        auto asking = ask_echo(conn);
        EXPECT_EQ(co_await std::move(asking), "in step");
    }
    {
        redis::request lua;
        lua.push("EVAL", "return {{{{{{{'deep'}}}}}}}", 0);
        co_await conn.async_exec(lua, any);
        EXPECT_EQ(any[any.size() - 1].value, "deep");
    }
    {
        redis::request subscribe;
        subscribe.push("ssubscribe", "s1", "s2");
        subscribe.push("subscribe", "a", "b", "c");
        subscribe.push("ECHO", "between");
        subscribe.push("UNSUBSCRIBE");
        subscribe.push("SUNSUBSCRIBE", "s1", "s2");
        co_await conn.async_exec(subscribe, reply);
        EXPECT_EQ(reply, "between");
        auto asking = ask_echo(conn);
        EXPECT_EQ(co_await std::move(asking), "in step");
    }
    {
        redis::request nothing;
        nothing.push("UNSUBSCRIBE");
        nothing.push("PUNSUBSCRIBE");
        co_await conn.async_exec(nothing, redis::ignore);
        auto asking = ask_echo(conn);
        EXPECT_EQ(co_await std::move(asking), "in step");
    }
    {
        redis::request wrong;
        wrong.push("SUBSCRIBE");
        auto [ec, n] = co_await conn.async_exec(wrong, redis::ignore, as_tuple);
        EXPECT_EQ(ec, R::server_error);
        auto asking = ask_echo(conn);
        EXPECT_EQ(co_await std::move(asking), "in step");
    }
    for (std::string_view name : {"MONITOR", "RESET", "QUIT", "HELLO"}) {
        redis::request refused;
        refused.push(name);
        auto [ec, n] = co_await conn.async_exec(refused, redis::ignore, as_tuple);
        EXPECT_EQ(ec, R::refused_command);
    }
}

} // namespace

TEST_F(RealRedis, NothingOnTheProbeListShiftsTheReplies) { with_connection(cfg_, probe); }

namespace {

awaitable<void> use_transactions(redis::connection& conn) {
    using outcome_type = std::optional<std::tuple<redis::result<long>, redis::result<long>>>;
    redis::request req;
    req.push("SET", "list", "no list");
    req.push("MULTI");
    req.push("INCR", "tx:n");
    req.push("LPUSH", "list", 1);
    req.push("EXEC");
    redis::response<std::string, std::string, std::string, std::string, outcome_type> resp;
    co_await conn.async_exec(req, resp);
    auto const& values = *std::get<4>(resp).value();
    EXPECT_EQ(std::get<0>(values).value(), 1);
    EXPECT_TRUE(std::get<1>(values).error_text().starts_with("WRONGTYPE"));

    redis::request broken;
    broken.push("MULTI");
    broken.push("NOSUCHCOMMAND");
    broken.push("EXEC");
    redis::response<std::string, std::string, outcome_type> aborted;
    co_await conn.async_exec(broken, aborted);
    EXPECT_TRUE(std::get<1>(aborted).has_error());
    EXPECT_TRUE(std::get<2>(aborted).error_text().starts_with("EXECABORT"));
}

awaitable<void> add_a_limited_user(redis::connection& conn) {
    redis::request req;
    req.push("ACL", "SETUSER", "limited", "on", ">pw", "+@all", "~*", "resetchannels");
    co_await conn.async_exec(req, redis::ignore);
}
awaitable<void> be_limited(redis::connection& conn) {
    redis::request req;
    req.push("SUBSCRIBE", "secret");
    req.push("ECHO", "mine");
    std::string reply;
    auto [ec, n] = co_await conn.async_exec(req, reply, as_tuple);
    EXPECT_EQ(ec, R::no_permission);
    EXPECT_EQ(reply, "mine");
    EXPECT_TRUE(conn.server_text().starts_with("NOPERM")) << conn.server_text();
    auto asking = ask_echo(conn);
    EXPECT_EQ(co_await std::move(asking), "in step");
}

} // namespace

TEST_F(RealRedis, TransactionsAreTyped) { with_connection(cfg_, use_transactions); }

TEST_F(RealRedis, ARefusedSubscriptionTakesItsErrorAndNobodyElses) {
    with_connection(cfg_, add_a_limited_user);
    auto limited = cfg_;
    limited.username = "limited";
    limited.password = "pw";
    with_connection(limited, be_limited);
}

TEST_F(RealRedis, WrongCredentialsEndTheRunAndSendNothing) {
    redis::connection conn(ctx_);
    auto wrong = cfg_;
    wrong.username = "nobody";
    wrong.password = "wrong";
    outcome ran, called;
    redis::request req;
    req.push("SET", "never", 1);
    conn.async_exec(req, redis::ignore, called.handler());
    conn.async_run(wrong, ran.handler());
    run_all(ctx_);
    EXPECT_EQ(ran.ec, R::auth_refused);
    EXPECT_EQ(called.ec, R::not_sent);
    EXPECT_TRUE(conn.server_text().starts_with("WRONGPASS"));
}

namespace {

awaitable<void> move_large_values(redis::connection& conn) {
    std::string const value(16 * 1024 * 1024, 'v');
    redis::request req;
    req.push("SET", "large", value);
    req.push("GET", "large");
    req.push("DEL", "large");
    redis::response<std::string, std::string, int> resp;
    co_await conn.async_exec(req, resp);
    EXPECT_TRUE(std::get<1>(resp).value() == value);
}

/// The knowledge that the callers of a counter have of it.
struct ledger {
    redis::connection* conn;
    long done = 0;
    long unknown = 0;
    long not_sent = 0;
    bool stop = false;
    int live = 0;
};

awaitable<void> increment(ledger& l) {
    redis::request req;
    req.push("INCR", "ledger");
    while (!l.stop) {
        long value = 0;
        auto [ec, n] = co_await l.conn->async_exec(req, value, as_tuple);
        if (!ec)
            ++l.done;
        else if (ec == R::maybe_executed)
            ++l.unknown;
        else if (ec == redis::condition::not_executed)
            ++l.not_sent;
        else
            ADD_FAILURE() << ec.message();
        if (ec)
            co_await this_coro::yield();
    }
    --l.live;
}

/// Has the connection killed by the server again and again while callers increment.
awaitable<void> kill_repeatedly(redis::connection& killer, ledger& l, redis::config cfg, io_context& ctx) {
    steady_timer pause(ctx);
    redis::request kill;
    kill.push("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    for (int round = 0; round != 20; ++round) {
        outcome ran;
        l.conn->async_run(cfg, ran.handler());
        pause.expires_after(std::chrono::milliseconds(10));
        co_await pause.async_wait();
        int killed = 0;
        co_await killer.async_exec(kill, killed);
        while (ran.times == 0)
            co_await this_coro::yield();
        EXPECT_NE(ran.ec, fairlead::error::operation_aborted);
    }
    l.stop = true;
    outcome ran;
    l.conn->async_run(cfg, ran.handler());
    while (l.live != 0)
        co_await this_coro::yield();
    redis::request get;
    get.push("GET", "ledger");
    long value = 0;
    co_await killer.async_exec(get, value);
    EXPECT_GE(value, l.done);
    EXPECT_LE(value, l.done + l.unknown) << "a request that was not sent, or refused, was executed";
    EXPECT_GT(l.done, 0);
    l.conn->cancel();
    while (ran.times == 0)
        co_await this_coro::yield();
}

} // namespace

TEST_F(RealRedis, LargeValuesPassInBothDirections) { with_connection(cfg_, move_large_values); }

TEST_F(RealRedis, EveryIncrementIsDoneNotSentOrHonestlyUnknown) {
    redis::connection conn(ctx_);
    ledger l{&conn};
    l.live = 50;
    for (int i = 0; i != 50; ++i)
        co_spawn(ctx_, increment(l), rethrow_to_test{});
    with_connection(cfg_, [&](redis::connection& killer) { return kill_repeatedly(killer, l, cfg_, ctx_); });
}

TEST_F(RealRedis, AFrozenServerIsNoticed) {
    auto impatient = cfg_;
    impatient.health_check_interval = std::chrono::milliseconds(100);
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(impatient, ran.handler());
    ctx_.restart();
    while (!conn.is_ready())
        ctx_.run_one_for(std::chrono::seconds(10));
    server_->freeze();
    redis::request req;
    req.push("PING");
    outcome called;
    conn.async_exec(req, redis::ignore, called.handler());
    run_all(ctx_);
    server_->thaw();
    EXPECT_EQ(ran.ec, R::server_silent);
    EXPECT_EQ(called.ec, R::maybe_executed);
}

namespace {

/// Holds a transaction open while another connection waits, twenty intervals long.
awaitable<void> think_inside_a_transaction(redis::connection& waiter, redis::connection& holder) {
    redis::request begins, waits, ends;
    begins.push("SET", "balance", 100);
    begins.push("MULTI");
    begins.push("INCRBY", "balance", 1);
    waits.push("BLPOP", "nothing", 1);
    ends.push("EXEC");
    auto beginning = holder.async_exec(begins, redis::ignore);
    co_await std::move(beginning);
    auto waiting = waiter.async_exec(waits, redis::ignore, as_tuple);
    auto const [waited, n] = co_await std::move(waiting);
    EXPECT_FALSE(waited) << waited.message();
    redis::generic_response results;
    auto ending = holder.async_exec(ends, results, as_tuple);
    auto const [ended, m] = co_await std::move(ending);
    EXPECT_FALSE(ended) << ended.message();
    EXPECT_EQ(results.size(), 2U) << "an array of one";
    if (results.size() == 2) {
        EXPECT_EQ(results[1].value, "101");
    }
    holder.cancel();
}

} // namespace

TEST_F(RealRedis, X1_X2_HealthCheckLeavesTransactionsAndBlockingCommandsAlone) {
    auto impatient = cfg_;
    impatient.dedicated = true;
    impatient.health_check_interval = std::chrono::milliseconds(50);
    redis::connection holder(ctx_);
    outcome ran;
    holder.async_run(impatient, ran.handler());
    with_connection(impatient, [&](redis::connection& waiter) { return think_inside_a_transaction(waiter, holder); });
    EXPECT_EQ(ran.ec, fairlead::error::operation_aborted) << ran.ec.message();
}

TEST_F(RealRedis, AKilledServerFailsWhatIsPendingAndServesAgainAfterItsRestart) {
    redis::connection conn(ctx_);
    outcome ran;
    conn.async_run(cfg_, ran.handler());
    ctx_.restart();
    while (!conn.is_ready())
        ctx_.run_one_for(std::chrono::seconds(10));
    server_->freeze(); // so that it certainly does not answer
    redis::request req;
    req.push("PING");
    outcome called;
    conn.async_exec(req, redis::ignore, called.handler());
    ctx_.poll();
    server_->kill();
    run_all(ctx_);
    EXPECT_TRUE(ran.ec == fairlead::error::eof || ran.ec == fairlead::error::connection_reset) << ran.ec.message();
    EXPECT_EQ(called.ec, R::maybe_executed);
    server_->start();
    wait_until_it_listens();
}

} // namespace fairlead::test
