// A connection that is used from other threads than the one that performs its I/O.
#include <fairlead/redis/connection.hpp>

#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/strand.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis_server/server.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/block.hpp>
#include <fairlead/token/post.hpp>
#include <fairlead/token/use_future.hpp>

#include <support/deadline.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::test {

using namespace std::chrono_literals;

namespace {

/// How an operation ended; any thread may ask. One that has not ended in time fails the test, and may end later.
class ended {
public:
    auto handler() {
        return [once = once_](error_code ec, auto...) { once->set_value(ec); };
    }
    error_code get() {
        waiting_for const w("the end of an operation");
        return result_.wait_for(20s) == std::future_status::ready ? result_.get() : make_error_code(error::in_progress);
    }
    bool is_there() const { return result_.wait_for(0s) == std::future_status::ready; }

private:
    std::shared_ptr<std::promise<error_code>> once_ = std::make_shared<std::promise<error_code>>();
    std::future<error_code> result_ = once_->get_future();
};

/// A server with a thread of its own.
class server_in_a_thread {
public:
    explicit server_in_a_thread(redis::server_options options = {})
        : server_(context_, std::move(options)),
          address_(server_.address()),
          thread_([this] { context_.run(); }) {}
    server_in_a_thread(server_in_a_thread const&) = delete;
    server_in_a_thread& operator=(server_in_a_thread const&) = delete;
    ~server_in_a_thread() {
        post(context_, [this] { server_.stop(); });
        thread_.join();
    }
    redis::config config() const {
        redis::config c;
        c.address = address_;
        return c;
    }

private:
    io_context context_{1};
    redis::server server_;
    std::string address_;
    std::thread thread_;
};

/// Another thread runs the loop of the connection. It can be held inside a handler, which waits for this thread.
struct RedisConnectionOfAnotherThread : testing::Test {
    server_in_a_thread server;
    io_context context{1};
    executor_work_guard<io_context::executor_type> work = make_work_guard(context);
    std::unique_ptr<redis::connection> connection = std::make_unique<redis::connection>(context);
    redis::request ping, other;
    std::promise<void> let_go;
    bool is_held = false;
    std::thread runs;

    RedisConnectionOfAnotherThread() {
        ping.push("PING");
        other.push("ECHO", "other");
        runs = std::thread([this] { context.run(); });
    }
    ~RedisConnectionOfAnotherThread() override {
        if (is_held)
            release(); // A test has failed.
        work.reset();
        connection.reset();
        runs.join();
    }
    /// From here on the owner waits for release(); then it calls `last`, still inside the same handler.
    template <class F> void hold(F last) {
        std::promise<void> held;
        post(context, [this, &held, last]() mutable {
            held.set_value();
            let_go.get_future().wait();
            last();
        });
        waiting_for const w("the owner, to be held");
        held.get_future().wait();
        is_held = true;
    }
    void hold() {
        hold([] {});
    }
    void release() {
        is_held = false;
        let_go.set_value();
    }
    /// The owner has done all that came before, and called the handlers.
    void catch_up() {
        for (int turn = 0; turn != 2; ++turn) {
            std::promise<void> done;
            post(context, [&done] { done.set_value(); });
            waiting_for const w("the owner, to catch up");
            done.get_future().wait();
        }
    }
    /// With the session ready.
    void run_session(ended& ran) {
        connection->async_run(server.config(), ran.handler());
        ended asked;
        connection->async_exec(ping, redis::ignore, asked.handler());
        EXPECT_EQ(asked.get(), error_code());
    }
};

} // namespace

TEST_F(RedisConnectionOfAnotherThread, X4_EveryVerbReturnsWhileTheOwnerWaitsForItsCaller) {
    ended ran, asked, given_up, received;
    redis::generic_response pushes;
    hold();
    connection->async_run(server.config(), ran.handler());
    connection->async_exec(ping, redis::ignore, asked.handler());
    connection->async_exec(other, redis::ignore, given_up.handler());
    connection->async_receive(pushes, received.handler());
    EXPECT_EQ(connection->cancel(other), 1U) << "passed on";
    EXPECT_EQ(connection->pending(), 2U);
    EXPECT_FALSE(connection->is_ready());
    EXPECT_EQ(connection->protocol(), resp3::version::resp3);
    EXPECT_EQ(connection->server_text(), "");
    EXPECT_EQ(connection->counters().requests, 0U);
    EXPECT_FALSE(ran.is_there() || asked.is_there() || given_up.is_there() || received.is_there());
    release();
    EXPECT_EQ(given_up.get(), error::operation_aborted);
    EXPECT_EQ(asked.get(), error_code());
    EXPECT_TRUE(connection->is_ready());
    EXPECT_EQ(connection->counters().requests, 2U);
    connection->cancel();
    EXPECT_EQ(ran.get(), error::operation_aborted);
    EXPECT_EQ(received.get(), error::operation_aborted);
    EXPECT_FALSE(connection->is_ready());
}

TEST_F(RedisConnectionOfAnotherThread, X4_CancelFindsWhatTheSameThreadHasStarted) {
    ended ran, asked, received;
    redis::generic_response pushes;
    hold();
    connection->async_exec(ping, redis::ignore, asked.handler());
    connection->async_receive(pushes, received.handler());
    connection->cancel();
    release();
    catch_up();
    ASSERT_TRUE(asked.is_there());
    EXPECT_EQ(asked.get(), error::operation_aborted);
    EXPECT_EQ(received.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_CancelOfARequestFindsWhatTheSameThreadHasStarted) {
    ended given_up, kept;
    hold();
    connection->async_exec(ping, redis::ignore, given_up.handler());
    connection->async_exec(other, redis::ignore, kept.handler());
    connection->cancel(ping);
    release();
    EXPECT_EQ(given_up.get(), error::operation_aborted);
    catch_up();
    EXPECT_FALSE(kept.is_there());
    EXPECT_EQ(connection->pending(), 1U);
    connection->cancel();
    EXPECT_EQ(kept.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_CancelDoesNotHitWhatTheSameThreadStartsLater) {
    ended ran, asked;
    hold();
    connection->cancel();
    connection->cancel(ping);
    connection->async_run(server.config(), ran.handler());
    connection->async_exec(ping, redis::ignore, asked.handler());
    release();
    EXPECT_EQ(asked.get(), error_code());
    EXPECT_FALSE(ran.is_there());
    connection->cancel();
    EXPECT_EQ(ran.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_CancelOfARequestThatHasGoneLooksAtNothing) {
    auto gone = std::make_unique<redis::request>();
    gone->push("PING");
    ended ran, asked;
    run_session(ran);
    connection->async_exec(*gone, redis::ignore, asked.handler());
    EXPECT_EQ(asked.get(), error_code());
    hold();
    connection->cancel(*gone);
    gone.reset();
    release();
    catch_up();
    EXPECT_TRUE(connection->is_ready());
    connection->cancel();
    EXPECT_EQ(ran.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_OwnerCancelsWhatAnotherThreadHasStarted) {
    ended given_up, asked, received;
    redis::generic_response pushes;
    std::size_t n = 0;
    hold([&] {
        n = connection->cancel(ping);
        connection->cancel();
    });
    connection->async_exec(ping, redis::ignore, given_up.handler());
    connection->async_exec(other, redis::ignore, asked.handler());
    connection->async_receive(pushes, received.handler());
    release();
    catch_up();
    ASSERT_TRUE(given_up.is_there());
    EXPECT_EQ(given_up.get(), error::operation_aborted);
    EXPECT_EQ(asked.get(), error::operation_aborted);
    EXPECT_EQ(received.get(), error::operation_aborted);
    EXPECT_EQ(n, 1U);
}

TEST_F(RedisConnectionOfAnotherThread, X4_WhatTheOwnerStartsIsNotHitByACancelThatCameBefore) {
    ended asked, ran;
    hold([&] {
        connection->async_exec(ping, redis::ignore, asked.handler());
        connection->async_run(server.config(), ran.handler());
    });
    connection->cancel();
    connection->cancel(ping);
    release();
    EXPECT_EQ(asked.get(), error_code());
    connection->cancel();
    EXPECT_EQ(ran.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_CommandsKeepTheOrderInWhichTwoThreadsGaveThem) {
    ended ran, set, got;
    run_session(ran);
    redis::request write, read;
    write.push("SET", "k", "first");
    read.push("GETSET", "k", "second");
    std::string value;
    hold([&] { connection->async_exec(read, value, got.handler()); });
    connection->async_exec(write, redis::ignore, set.handler());
    release();
    EXPECT_EQ(set.get(), error_code());
    EXPECT_EQ(got.get(), error_code());
    EXPECT_EQ(value, "first");
    connection->cancel();
    EXPECT_EQ(ran.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_PendingCountsWhatIsOnItsWayOnceAndNoLonger) {
    std::deque<ended> ends(1000);
    redis::request empty;
    ended nothing;
    hold();
    connection->async_exec(empty, redis::ignore, nothing.handler());
    EXPECT_EQ(connection->pending(), 1U);
    for (std::size_t i = 0; i != ends.size(); ++i) {
        connection->async_exec(ping, redis::ignore, ends[i].handler());
        ASSERT_EQ(connection->pending(), i + 2);
    }
    release();
    EXPECT_EQ(nothing.get(), error_code());
    for (int i = 0; i != 5; ++i) // So many do not arrive in one turn.
        catch_up();
    EXPECT_EQ(connection->pending(), ends.size());
    connection->cancel();
    for (auto& each : ends)
        EXPECT_EQ(each.get(), error::operation_aborted);
    EXPECT_EQ(connection->pending(), 0U);
}

TEST_F(RedisConnectionOfAnotherThread, X4_EachRunHasTheConfigurationItWasStartedWith) {
    ended first, second, third, fourth;
    auto refused = server.config();
    refused.database = 1'000'000;
    hold();
    connection->async_run(refused, first.handler());
    connection->async_run(server.config(), second.handler());
    release();
    EXPECT_EQ(second.get(), redis::error::already_running);
    EXPECT_EQ(first.get(), redis::error::hello_refused);
    connection->async_run(third.handler());
    EXPECT_EQ(third.get(), redis::error::hello_refused) << "with that of the last run that was started";
    run_session(fourth);
    connection->cancel();
    EXPECT_EQ(fourth.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_ConfigurationOfARunThatIsNeverStartedChangesNothing) {
    ended ran;
    redis::config wrong;
    wrong.address = "no:such:address";
    connection->async_run(wrong, ran.handler());
    EXPECT_EQ(ran.get(), redis::error::invalid_address);
    {
        [[maybe_unused]] auto const never = connection->async_run(server.config(), deferred);
    }
    ended again;
    connection->async_run(again.handler());
    EXPECT_EQ(again.get(), redis::error::invalid_address);
}

TEST_F(RedisConnectionOfAnotherThread, X4_DestroyedWhileTheOwnerWaitsItCompletesWhatIsPending) {
    ended ran, asked, later, received;
    redis::generic_response pushes;
    run_session(ran);
    redis::request publish;
    publish.push("SUBSCRIBE", "channel");
    hold();
    connection->async_exec(ping, redis::ignore, asked.handler());
    connection->async_receive(pushes, received.handler());
    connection->async_exec(other, redis::ignore, later.handler());
    connection.reset();
    EXPECT_FALSE(ran.is_there() || asked.is_there() || later.is_there() || received.is_there());
    release();
    ASSERT_EQ(ran.get(), error::operation_aborted);
    EXPECT_EQ(asked.get(), error::operation_aborted);
    EXPECT_EQ(later.get(), error::operation_aborted);
    EXPECT_EQ(received.get(), error::operation_aborted);
}

TEST_F(RedisConnectionOfAnotherThread, X4_DestroyedWithItsContextWhileMessagesAreOnTheirWay) {
    hold([this] { context.stop(); });
    ended never;
    auto const alive = std::make_shared<int>();
    connection->async_exec(ping, redis::ignore, [alive](error_code, std::size_t) { FAIL() << "its context has gone"; });
    connection->async_run(server.config(), [alive](error_code) { FAIL() << "its context has gone"; });
    connection->cancel(ping);
    connection->cancel();
    connection.reset();
    work.reset();
    EXPECT_GT(alive.use_count(), 1);
    release();
}

namespace {

/// A reply during whose conversion the owner of the background loop waits for the test.
struct held_reply {
    std::promise<void> inside, go_on;
};
error_code from_reply(redis::reply_reader& in, held_reply& h) {
    h.inside.set_value();
    h.go_on.get_future().wait();
    in.skip();
    return {};
}

} // namespace

TEST(RedisConnectionOfAPool, X4_EveryVerbReturnsWhileTheBackgroundLoopWaitsForItsCaller) {
    server_in_a_thread server;
    thread_pool pool(1);
    std::optional<redis::connection> connection(pool.get_executor());
    redis::request ping, other;
    ping.push("PING");
    other.push("ECHO", "other");
    ended ran, holding, asked, received, last;
    held_reply held;
    redis::generic_response pushes;
    connection->async_run(server.config(), ran.handler());
    connection->async_exec(ping, held, holding.handler());
    {
        waiting_for const w("the reply");
        held.inside.get_future().wait();
    }
    connection->async_exec(other, redis::ignore, asked.handler());
    connection->async_receive(pushes, received.handler());
    EXPECT_EQ(connection->cancel(other), 1U);
    EXPECT_EQ(connection->pending(), 2U);
    EXPECT_TRUE(connection->is_ready());
    EXPECT_EQ(connection->protocol(), resp3::version::resp3);
    EXPECT_EQ(connection->counters().generations, 1U);
    connection->cancel();
    connection->async_exec(other, redis::ignore, last.handler());
    connection.reset();
    held.go_on.set_value();
    EXPECT_EQ(holding.get(), error_code());
    EXPECT_EQ(asked.get(), error::operation_aborted);
    EXPECT_EQ(received.get(), error::operation_aborted);
    EXPECT_EQ(ran.get(), error::operation_aborted);
    EXPECT_EQ(last.get(), error::operation_aborted);
    pool.join();
}

TEST(RedisConnectionOfAPool, X4_HandlersRunOnTheExecutorOfTheConnection) {
    server_in_a_thread server;
    thread_pool pool(1);
    redis::connection connection(pool.get_executor());
    redis::request ping;
    ping.push("PING");
    std::atomic<int> calls = 0;
    auto const on_the_pool = [&](auto...) {
        EXPECT_TRUE(pool.get_executor().running_in_this_thread());
        ++calls;
    };
    redis::generic_response pushes;
    connection.async_run(server.config(), on_the_pool);
    connection.async_receive(pushes, on_the_pool);
    connection.async_exec(ping, redis::ignore, as_tuple([&](auto result) {
                              on_the_pool();
                              EXPECT_EQ(std::get<0>(result), error_code());
                              connection.cancel();
                          }));
    waiting_for const w("the pool");
    pool.join(); // An operation is work of the executor on which its handler runs.
    EXPECT_EQ(calls, 3);
}

TEST(RedisConnectionOfAPool, X4_HandlersRunInTheStrandOfTheConnection) {
    server_in_a_thread server;
    io_context context(1);
    auto const strand = make_strand(context);
    redis::connection connection(strand);
    redis::request ping;
    ping.push("PING");
    int calls = 0;
    connection.async_run(server.config(), [&](error_code) {
        EXPECT_TRUE(strand.running_in_this_thread());
        ++calls;
    });
    connection.async_exec(ping, redis::ignore, [&](error_code ec, std::size_t) {
        EXPECT_EQ(ec, error_code());
        EXPECT_TRUE(strand.running_in_this_thread());
        ++calls;
        connection.cancel();
    });
    waiting_for const w("the context");
    context.run();
    EXPECT_EQ(calls, 2);
}

TEST(RedisConnectionOfAPool, X4_ItsOnlyThreadMayBlockForAReply) {
    server_in_a_thread server;
    thread_pool pool(1);
    redis::connection connection(pool.get_executor());
    connection.async_run(server.config(), detached);
    std::string text;
    post(pool, [&] {
        redis::request echo;
        echo.push("ECHO", "hello");
        connection.async_exec(echo, text, block);
        connection.cancel();
    });
    waiting_for const w("the pool");
    pool.join();
    EXPECT_EQ(text, "hello");
}

namespace {

/// Everything at once, by coroutines of the pool and by threads outside of it.
struct RedisConnectionUnderLoad : testing::TestWithParam<std::size_t> {
    static bool is_fine(error_code const& ec) {
        return !ec || ec == error::operation_aborted || ec == redis::error::maybe_executed ||
               ec == redis::error::not_sent;
    }
    server_in_a_thread server;
    std::atomic<bool> stopping = false;
    std::atomic<std::uint64_t> good = 0, given_up = 0;
    std::uint64_t const rounds = scaled(400, 40);

    awaitable<void> ask(redis::connection& c, redis::request& req, int id) {
        while (!stopping) {
            redis::response<int> resp;
            auto asking = c.async_exec(req, resp, as_tuple);
            auto const [ec, n] = co_await std::move(asking);
            EXPECT_TRUE(is_fine(ec)) << ec.message();
            if (!ec) {
                EXPECT_EQ(std::get<0>(resp).value(), id) << "a reply of somebody else";
            }
            ++(ec ? given_up : good);
        }
    }
    /// The session, and the next one.
    awaitable<void> run(redis::connection& c) {
        while (!stopping) {
            auto running = c.async_run(server.config(), as_tuple);
            auto const [ec] = co_await std::move(running);
            EXPECT_EQ(ec, error::operation_aborted);
        }
    }
};

} // namespace

TEST_P(RedisConnectionUnderLoad, X4_IsUsedByAllThreadsAtOnce) {
    thread_pool pool(GetParam());
    redis::connection connection(pool.get_executor());
    constexpr int coroutines = 20;
    std::deque<redis::request> requests(coroutines + 2);
    for (int i = 0; i != static_cast<int>(requests.size()); ++i)
        requests[static_cast<std::size_t>(i)].push("ECHO", i);
    for (int i = 0; i != coroutines; ++i)
        co_spawn(pool, ask(connection, requests[static_cast<std::size_t>(i)], i), rethrow);
    co_spawn(pool, run(connection), rethrow);
    std::vector<std::thread> threads;
    for (int t = 0; t != 2; ++t)
        threads.emplace_back([&, t] { // a caller that blocks
            int const id = coroutines + t;
            for (std::uint64_t i = 0; i != rounds; ++i) {
                redis::response<int> resp;
                error_code ec;
                connection.async_exec(requests[static_cast<std::size_t>(id)], resp, block[ec]);
                EXPECT_TRUE(is_fine(ec)) << ec.message();
                if (!ec) {
                    EXPECT_EQ(std::get<0>(resp).value(), id);
                }
                ++(ec ? given_up : good);
            }
        });
    threads.emplace_back([&] { // one who gives requests up, and now and then the session
        for (std::uint64_t i = 0; i != rounds * 4; ++i) {
            connection.cancel(requests[i % requests.size()]);
            if (i % 64 == 63)
                connection.cancel();
            std::this_thread::yield();
        }
    });
    threads.emplace_back([&] { // one who asks
        std::uint64_t requests_before = 0;
        for (std::uint64_t i = 0; i != rounds * 10; ++i) {
            EXPECT_LE(connection.pending(), requests.size() + 2) << "the greeting and a PING may be pending, too";
            auto const c = connection.counters();
            EXPECT_GE(c.requests, requests_before);
            requests_before = c.requests;
            static_cast<void>(connection.is_ready());
            static_cast<void>(connection.protocol());
            EXPECT_EQ(connection.server_text(), "");
        }
    });
    waiting_for const w("threads");
    for (auto& t : threads)
        t.join();
    stopping = true;
    // A session that begins after the cancel() that ends this one is ended by the next.
    std::atomic<bool> done = false;
    std::thread ends([&] {
        while (!done) {
            connection.cancel();
            std::this_thread::yield();
        }
    });
    pool.join();
    done = true;
    ends.join();
    EXPECT_GT(good, 0U);
    EXPECT_EQ(connection.pending(), 0U);
}

TEST_P(RedisConnectionUnderLoad, X4_GoesWhileItsOperationsArePending) {
    for (std::uint64_t i = 0; i != rounds / 4; ++i) {
        thread_pool pool(GetParam());
        std::optional<redis::connection> connection(pool.get_executor());
        redis::request ping;
        ping.push("PING");
        std::atomic<int> calls = 0;
        auto const count = [&](error_code const& ec, auto...) {
            EXPECT_TRUE(is_fine(ec)) << ec.message();
            ++calls;
        };
        redis::generic_response pushes;
        connection->async_run(server.config(), count);
        connection->async_receive(pushes, count);
        for (int n = 0; n != 10; ++n)
            connection->async_exec(ping, redis::ignore, count);
        if (i % 2) { // with a session
            error_code ec;
            connection->async_exec(ping, redis::ignore, block[ec]);
            EXPECT_FALSE(ec);
        }
        connection.reset();
        waiting_for const w("the pool");
        pool.join();
        EXPECT_EQ(calls, 12);
    }
}

TEST_P(RedisConnectionUnderLoad, X4_TextOfTheServerIsACopy) {
    redis::server_options options;
    options.engine.password = "right";
    server_in_a_thread guarded(std::move(options));
    auto cfg = guarded.config();
    cfg.password = "wrong";
    thread_pool pool(GetParam());
    redis::connection connection(pool.get_executor());
    std::atomic<bool> done = false;
    std::thread reads([&] {
        while (!done) {
            auto const text = connection.server_text();
            EXPECT_TRUE(text.empty() || text.starts_with("WRONGPASS")) << text;
        }
    });
    for (std::uint64_t i = 0; i != rounds / 8; ++i) {
        ended ran;
        connection.async_run(cfg, ran.handler());
        EXPECT_EQ(ran.get(), redis::error::auth_refused);
        EXPECT_TRUE(connection.server_text().starts_with("WRONGPASS"));
    }
    done = true;
    reads.join();
}

INSTANTIATE_TEST_SUITE_P(ThreadsOfThePool, RedisConnectionUnderLoad, testing::Values(1U, 4U));

} // namespace fairlead::test
