#include <unit/redis_server/typist.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;
using fairlead::test::typist;

constexpr std::string_view nothing = "";
constexpr std::string_view null_array = "*-1\r\n";

class ServerWaiting : public fairlead::test::server_test {
protected:
    typist second{engine_}, third{engine_};
};

TEST_F(ServerWaiting, WhoCameFirstIsServedFirst) {
    EXPECT_EQ(run("BLPOP l 0"), nothing);
    EXPECT_EQ(second("BLPOP other l 0"), nothing);
    EXPECT_EQ(third("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(second.take(), nothing);
    EXPECT_EQ(run.take(), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    EXPECT_EQ(run("BLPOP l 0"), nothing) << "behind the second now";
    EXPECT_EQ(third("RPUSH l b"), ":1\r\n");
    EXPECT_EQ(second.take(), "*2\r\n$1\r\nl\r\n$1\r\nb\r\n");
    EXPECT_EQ(run.take(), nothing);
    EXPECT_EQ(third("RPUSH l c d"), ":2\r\n");
    EXPECT_EQ(run.take(), "*2\r\n$1\r\nl\r\n$1\r\nc\r\n");
    EXPECT_EQ(third("LRANGE l 0 -1"), "*1\r\n$1\r\nd\r\n");
}

TEST_F(ServerWaiting, AClientThatGoesLeavesTheQueue) {
    auto gone = std::make_unique<typist>(engine_);
    EXPECT_EQ((*gone)("BLPOP l 5"), nothing);
    EXPECT_EQ(run("BLPOP l 0"), nothing);
    EXPECT_EQ(engine_.next_time_limit(), now_ + 5s);
    gone.reset();
    EXPECT_FALSE(engine_.next_time_limit());
    second("RPUSH l a");
    EXPECT_EQ(run.take(), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
}

TEST_F(ServerWaiting, AClientThatHasToCloseIsNotServed) {
    EXPECT_EQ(run("BLPOP l 0"), nothing);
    EXPECT_EQ(second("CLIENT KILL ID 1"), ":1\r\n");
    EXPECT_EQ(second("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(run.take(), nothing);
    EXPECT_EQ(second("LLEN l"), ":1\r\n");
}

TEST_F(ServerWaiting, ATimeLimitEndsTheWait) {
    EXPECT_FALSE(engine_.next_time_limit());
    EXPECT_EQ(run("BLPOP l 1.5"), nothing);
    EXPECT_EQ(second("BZPOPMIN z 1"), nothing);
    EXPECT_EQ(third("WAIT 1 2000"), nothing);
    EXPECT_EQ(engine_.next_time_limit(), now_ + 1s);
    now_ += 1s;
    engine_.end_late_waits();
    EXPECT_EQ(run.take(), nothing);
    EXPECT_EQ(second.take(), null_array);
    EXPECT_EQ(engine_.next_time_limit(), now_ + 500ms);
    now_ += 499ms;
    engine_.end_late_waits();
    EXPECT_EQ(run.take(), nothing);
    now_ += 1ms;
    engine_.end_late_waits();
    EXPECT_EQ(run.take(), null_array);
    now_ += 500ms;
    engine_.end_late_waits();
    EXPECT_EQ(third.take(), ":0\r\n");
    EXPECT_FALSE(engine_.next_time_limit());
}

TEST_F(ServerWaiting, NobodyIsServedAfterItsTimeLimit) {
    // Nobody has called end_late_waits(): that happens before the next command runs.
    EXPECT_EQ(run("BLPOP l 1"), nothing);
    now_ += 1s;
    EXPECT_EQ(second("RPUSH l a"), ":1\r\n");
    EXPECT_EQ(run.take(), null_array);
    EXPECT_EQ(second("LLEN l"), ":1\r\n");
}

TEST_F(ServerWaiting, AServedClientKeepsNoTimeLimit) {
    EXPECT_EQ(run("BLPOP l 1"), nothing);
    second("RPUSH l a");
    EXPECT_EQ(run.take(), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    EXPECT_FALSE(engine_.next_time_limit());
    now_ += 2s;
    engine_.end_late_waits();
    EXPECT_EQ(run.take(), nothing);
}

TEST_F(ServerWaiting, CommandsBehindAWaitRunAfterIt) {
    EXPECT_EQ(run("BLPOP l 0\r\nECHO later\r\nINCR n"), nothing);
    EXPECT_EQ(run("ECHO last"), nothing);
    EXPECT_EQ(second("GET n"), "$-1\r\n");
    second("RPUSH l a");
    EXPECT_EQ(run.take(), "*2\r\n$1\r\nl\r\n$1\r\na\r\n$5\r\nlater\r\n:1\r\n$4\r\nlast\r\n");
}

TEST_F(ServerWaiting, AWaitBehindAWaitIsANewOne) {
    EXPECT_EQ(run("BLPOP l 0\r\nBLPOP m 0\r\nECHO x"), nothing);
    second("RPUSH m b");
    EXPECT_EQ(run.take(), nothing);
    second("RPUSH l a");
    EXPECT_EQ(run.take(), "*2\r\n$1\r\nl\r\n$1\r\na\r\n*2\r\n$1\r\nm\r\n$1\r\nb\r\n$1\r\nx\r\n");
}

TEST_F(ServerWaiting, TheOwnerIsToldOfTheReply) {
    int told = 0;
    run.client.on_output([&] { ++told; });
    EXPECT_EQ(run("BLPOP l 1"), nothing);
    EXPECT_EQ(told, 0);
    second("RPUSH l a");
    EXPECT_EQ(told, 1);
    run("BLPOP l 1");
    now_ += 1s;
    engine_.end_late_waits();
    EXPECT_EQ(told, 2);
}

TEST_F(ServerWaiting, WhatIsSentDuringAWaitHasALimit) {
    fairlead::redis::server_engine_options options;
    options.transaction_bytes_max = 100;
    fairlead::redis::server_engine engine(options);
    typist one(engine), other(engine);
    one("BLPOP l 0");
    one(std::string(98, 'x'));
    EXPECT_FALSE(one.client.wants_close());
    one("x");
    EXPECT_TRUE(one.client.wants_close());
}

TEST_F(ServerWaiting, AnOperatorEndsAWait) {
    EXPECT_EQ(run("BLPOP l 0"), nothing);
    EXPECT_NE(second("CLIENT LIST").find(" flags=b "), std::string::npos);
    EXPECT_EQ(second("CLIENT UNBLOCK 1"), ":1\r\n");
    EXPECT_EQ(run.take(), null_array);
    EXPECT_EQ(second("CLIENT UNBLOCK 1"), ":0\r\n");
    EXPECT_EQ(run("WAIT 1 0"), nothing);
    EXPECT_EQ(second("CLIENT UNBLOCK 1 ERROR"), ":1\r\n");
    EXPECT_EQ(run.take(), "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n");
    EXPECT_EQ(run("PING"), "+PONG\r\n");
}

TEST_F(ServerWaiting, SilenceHoldsForTheReplyOfAWait) {
    EXPECT_EQ(run("CLIENT REPLY SKIP"), nothing);
    EXPECT_EQ(run("BLPOP l 0"), nothing);
    second("RPUSH l a");
    EXPECT_EQ(run.take(), nothing);
    EXPECT_EQ(second("LLEN l"), ":0\r\n");
    EXPECT_EQ(run("PING"), "+PONG\r\n");
}

TEST_F(ServerWaiting, WithinATransactionNothingWaits) {
    run("MULTI");
    run("BLPOP l 0");
    run("RPUSH l a");
    EXPECT_EQ(run("EXEC"), "*2\r\n*-1\r\n:1\r\n");
    EXPECT_EQ(run("BLPOP l 0"), "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    EXPECT_EQ(run("BLPOP l 0"), nothing) << "behind the transaction it waits again";
}

TEST_F(ServerWaiting, ATransactionIsOverBeforeAnybodyIsServed) {
    EXPECT_EQ(run("BLPOP a b 0"), nothing);
    second("MULTI");
    second("RPUSH b 1");
    second("RPUSH a 2");
    second("EXEC");
    EXPECT_EQ(run.take(), "*2\r\n$1\r\nb\r\n$1\r\n1\r\n") << "the key that changed first";
}

TEST_F(ServerWaiting, ServingIsAChangeForThoseWhoWatch) {
    run("RPUSH q x");
    run("WATCH q");
    run("MULTI");
    EXPECT_EQ(second("BLPOP q 0"), "*2\r\n$1\r\nq\r\n$1\r\nx\r\n");
    EXPECT_EQ(run("EXEC"), null_array);
}

TEST_F(ServerWaiting, OneServedClientFeedsTheNext) {
    EXPECT_EQ(run("BLMOVE a b LEFT LEFT 0"), nothing);
    EXPECT_EQ(second("BLMOVE b c LEFT LEFT 0"), nothing);
    EXPECT_EQ(third("RPUSH a x"), ":1\r\n");
    EXPECT_EQ(run.take(), "$1\r\nx\r\n");
    EXPECT_EQ(second.take(), "$1\r\nx\r\n");
    EXPECT_EQ(third("KEYS *"), "*1\r\n$1\r\nc\r\n");
}

} // namespace
