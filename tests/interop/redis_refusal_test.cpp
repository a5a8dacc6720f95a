// A real server that cannot, or cannot now: the kinds of its errors, and what a client does about them.
#include "real_redis.hpp"

#include <fairlead/redis/client.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {

using R = redis::error;

namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

redis::command<std::optional<std::string>> command_of(words const& w) {
    return redis::make_command<std::optional<std::string>>(w[0], words(w.begin() + 1, w.end()));
}
awaitable<error_code> error_of(redis::client& c, words w) {
    error_code ec;
    auto asking = c.async_exec(command_of(w), redirect_error(ec));
    co_await std::move(asking);
    co_return ec;
}
awaitable<std::string> text_of(redis::client& c, words w) {
    auto asking = c.call(command_of(w));
    auto const text = co_await std::move(asking);
    co_return text.value_or("null");
}
awaitable<void> tell(redis::client& c, words w) {
    auto asking = text_of(c, w);
    auto const answer = co_await std::move(asking);
    EXPECT_EQ(answer, "OK") << w[0];
}

/// One client asks again while it is refused for now, another one does not. A third one is for what takes long.
struct refusing_scene {
    refusing_scene(io_context& c, std::string const& address)
        : patient(c, {.address = address}, with_attempts(200)),
          hasty(c, {.address = address}, with_attempts(0)),
          other(c, {.address = address}, with_attempts(0)) {}

    static redis::client_options with_attempts(std::uint8_t n) {
        redis::client_options o{.pause_min = 5ms, .pause_max = 50ms};
        o.retry = {.attempts_max = n, .pause_min = 5ms, .pause_max = 50ms};
        return o;
    }
    /// Asks while `refusal` is what others get, has `mend` done, and is answered.
    awaitable<std::string> ask_until_answered(words question, R refusal, words mend) {
        auto once = error_of(hasty, question);
        auto const ec = co_await std::move(once);
        EXPECT_EQ(ec, refusal);
        auto const before = patient.counters().repeated;
        std::optional<std::string> answer;
        patient.async_exec(command_of(question), [&](error_code end, std::optional<std::string> text) {
            answer = end ? end.message() : text.value_or("null");
        });
        while (patient.counters().repeated == before && !answer)
            co_await this_coro::yield();
        EXPECT_FALSE(answer) << *answer;
        if (!mend.empty()) {
            auto mending = tell(hasty, mend);
            co_await std::move(mending);
        }
        while (!answer)
            co_await this_coro::yield();
        co_return *answer;
    }

    redis::client patient, hasty, other;
};
using refusing_body = std::function<awaitable<void>(refusing_scene&)>;

void play_refusals(io_context& ctx, std::string const& address, refusing_body const& body) {
    refusing_scene scene(ctx, address);
    outcome ran;
    for (auto* const each : {&scene.patient, &scene.hasty, &scene.other})
        each->async_run(ran.handler());
    co_spawn(ctx, body(scene), [&](std::exception_ptr e) {
        rethrow_to_test{}(e);
        for (auto* const each : {&scene.patient, &scene.hasty, &scene.other})
            each->cancel();
    });
    run_all(ctx);
    EXPECT_EQ(ran.times, 3);
    EXPECT_EQ(scene.patient.counters().gave_up, 0U);
}

class RealRedisRefusals : public RealRedis {};

} // namespace

TEST_F(RealRedisRefusals, P16_WhatDoesNotPassIsAnErrorOfItsKindAtOnce) {
    play_refusals(ctx_, cfg_.address, [](refusing_scene& s) -> awaitable<void> {
        struct spoilt {
            words spoil, mend;
            R error;
        };
        std::vector<spoilt> const all{
            {{"CONFIG", "SET", "maxmemory", "1"}, {"CONFIG", "SET", "maxmemory", "0"}, R::out_of_memory},
            {{"CONFIG", "SET", "min-replicas-to-write", "1"},
             {"CONFIG", "SET", "min-replicas-to-write", "0"},
             R::too_few_replicas},
            {{"REPLICAOF", "127.0.0.1", "1"}, {"REPLICAOF", "NO", "ONE"}, R::read_only},
        };
        for (auto const& each : all) {
            auto spoiling = tell(s.hasty, each.spoil);
            co_await std::move(spoiling);
            auto writing = error_of(s.patient, {"SET", "k", "v"});
            auto const ec = co_await std::move(writing);
            EXPECT_EQ(ec, each.error);
            EXPECT_EQ(ec, redis::condition::refused_by_server);
            auto reading = text_of(s.patient, {"GET", "k"});
            auto const text = co_await std::move(reading);
            EXPECT_EQ(text, "null") << "nothing was executed, and the connection goes on";
            auto mending = tell(s.hasty, each.mend);
            co_await std::move(mending);
        }
        auto again = tell(s.patient, {"SET", "k", "v"});
        co_await std::move(again);
        EXPECT_EQ(s.patient.counters().repeated, 0U);
        EXPECT_EQ(s.patient.counters().lost, 0U);
    });
}

TEST_F(RealRedisRefusals, P16_AServerThatRunsAScriptIsAskedAgain) {
    play_refusals(ctx_, cfg_.address, [](refusing_scene& s) -> awaitable<void> {
        auto storing = tell(s.patient, {"SET", "busy", "v"});
        co_await std::move(storing);
        auto soon = tell(s.hasty, {"CONFIG", "SET", "lua-time-limit", "1"});
        co_await std::move(soon);
        error_code end_of_script;
        bool has_ended = false;
        s.other.async_exec(command_of({"EVAL", "while true do end", "0"}),
                           [&](error_code ec, std::optional<std::string> const&) {
                               end_of_script = ec;
                               has_ended = true;
                           });
        for (error_code ec; ec != R::busy;) {
            auto asking = error_of(s.hasty, {"ECHO", "x"});
            ec = co_await std::move(asking);
        }
        auto asking = s.ask_until_answered({"GET", "busy"}, R::busy, {"SCRIPT", "KILL"});
        auto const text = co_await std::move(asking);
        EXPECT_EQ(text, "v");
        while (!has_ended)
            co_await this_coro::yield();
        EXPECT_EQ(end_of_script, redis::condition::refused_by_server);
    });
}

TEST_F(RealRedisRefusals, P16_AReplicaWithoutItsMasterIsAskedAgain) {
    play_refusals(ctx_, cfg_.address, [](refusing_scene& s) -> awaitable<void> {
        auto storing = tell(s.patient, {"SET", "stale", "v"});
        co_await std::move(storing);
        for (auto const& each :
             {words{"CONFIG", "SET", "replica-serve-stale-data", "no"}, words{"REPLICAOF", "127.0.0.1", "1"}}) {
            auto telling = tell(s.hasty, each);
            co_await std::move(telling);
        }
        auto asking = s.ask_until_answered({"GET", "stale"}, R::master_down, {"REPLICAOF", "NO", "ONE"});
        auto const text = co_await std::move(asking);
        EXPECT_EQ(text, "v");
        auto usual = tell(s.hasty, {"CONFIG", "SET", "replica-serve-stale-data", "yes"});
        co_await std::move(usual);
    });
}

/// A thousand keys take it a second, in which it answers.
TEST_F(RealRedisRefusals, P16_AServerThatReadsItsDataIsAskedAgain) {
    redis_server_process own({"--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"});
    play_refusals(ctx_, own.address(), [&own](refusing_scene& s) -> awaitable<void> {
        for (auto const& each : {words{"SET", "kept", "v"}, words{"DEBUG", "POPULATE", "1000"}, words{"SAVE"}}) {
            auto telling = tell(s.hasty, each);
            co_await std::move(telling);
        }
        auto const before = s.hasty.counters().ready;
        own.kill();
        own.start();
        while (s.hasty.counters().ready == before || !s.patient.is_ready())
            co_await this_coro::yield();
        auto asking = s.ask_until_answered({"GET", "kept"}, R::loading, {});
        auto const text = co_await std::move(asking);
        EXPECT_EQ(text, "v");
    });
}

TEST_F(RealRedisRefusals, P16_CredentialsThatAreMissingOrWrongEndTheRun) {
    with_connection(cfg_, [](redis::connection& c) -> awaitable<void> {
        redis::request protect;
        protect.push("CONFIG", "SET", "requirepass", "secret");
        auto telling = c.async_exec(protect, redis::ignore);
        co_await std::move(telling);
    });
    for (auto const& [password, word] : {std::pair("", "NOAUTH"), std::pair("guess", "WRONGPASS")}) {
        redis::client c(ctx_, {.address = cfg_.address, .password = password}, {.pause_min = 5ms, .pause_max = 50ms});
        outcome ran, called;
        c.async_run(ran.handler());
        redis::request ping;
        ping.push("PING");
        c.async_exec(ping, redis::ignore, called.handler());
        run_all(ctx_);
        EXPECT_EQ(ran.ec, R::auth_refused);
        EXPECT_EQ(called.ec, R::not_sent);
        EXPECT_TRUE(c.server_text().starts_with(word)) << c.server_text();
        EXPECT_EQ(c.counters().attempts, 1U) << "asking again does not help";
    }
    server_->kill(); // Others have no password.
    server_->start();
}

namespace {

/// A node of a cluster, whose second port has to be a free one, too.
struct cluster_node {
    cluster_node() : process({"--cluster-enabled", "yes", "--cluster-port", bus_port}) {}
    static std::string free_port() {
        io_context ctx;
        ip::tcp::acceptor probe(ctx, ip::tcp::endpoint(ip::make_address("127.0.0.1"), 0));
        return std::to_string(probe.local_endpoint().port());
    }
    std::string bus_port = free_port();
    redis_server_process process;
};

/// The second node is known to the first one, which has keys on their way to it.
awaitable<void> begin_to_move_slot(refusing_scene& s, std::string meeting_port, std::string bus_port, std::string id,
                                   std::string slot) {
    auto meeting = tell(s.hasty, {"CLUSTER", "MEET", "127.0.0.1", meeting_port, bus_port});
    co_await std::move(meeting);
    for (error_code ec = R::server_error; ec;) { // until they have shaken hands
        auto moving = error_of(s.hasty, {"CLUSTER", "SETSLOT", slot, "MIGRATING", id});
        ec = co_await std::move(moving);
    }
}

} // namespace

TEST_F(RealRedisRefusals, P16_AClusterWithoutSlotsAndASlotOnItsWayAreAskedAgain) {
    cluster_node first, second;
    std::string id;
    play_refusals(ctx_, second.process.address(), [&id](refusing_scene& s) -> awaitable<void> {
        auto asking = text_of(s.hasty, {"CLUSTER", "MYID"});
        id = co_await std::move(asking);
    });
    play_refusals(ctx_, first.process.address(), [&](refusing_scene& s) -> awaitable<void> {
        auto adding =
            s.ask_until_answered({"GET", "{a}1"}, R::cluster_down, {"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
        auto const none = co_await std::move(adding);
        EXPECT_EQ(none, "null");
        auto storing = tell(s.patient, {"MSET", "{a}1", "1", "{a}2", "2"});
        co_await std::move(storing);
        std::string const slot = "15495"; // of a
        auto const port = second.process.address().substr(10);
        auto moving = begin_to_move_slot(s, port, second.bus_port, id, slot);
        co_await std::move(moving);
        auto removing = error_of(s.patient, {"GETDEL", "{a}2"});
        co_await std::move(removing);
        auto asking = s.ask_until_answered({"BITOP", "OR", "{a}3", "{a}1", "{a}2"}, R::try_again,
                                           {"CLUSTER", "SETSLOT", slot, "STABLE"});
        auto const done = co_await std::move(asking);
        EXPECT_EQ(done, "1");
    });
}

} // namespace fairlead::test
