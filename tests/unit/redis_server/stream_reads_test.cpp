#include <unit/redis_server/typist.hpp>

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;
using fairlead::test::typist;

class ServerStreamReads : public fairlead::test::server_test {
protected:
    typist other{engine_};
};

TEST_F(ServerStreamReads, TheLastEntryIsThatOfTheMomentOfAsking) {
    run("XADD s 1-1 a 1");
    EXPECT_EQ(run("XREAD BLOCK 0 STREAMS s $"), "");
    other("MULTI");
    other("XADD s 2-1 b 2");
    other("XADD s 3-1 c 3");
    other("EXEC");
    EXPECT_EQ(run.take(), "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n"
                          "*2\r\n$3\r\n3-1\r\n*2\r\n$1\r\nc\r\n$1\r\n3\r\n");
}

TEST_F(ServerStreamReads, AllReadersGetAnEntryAndOneOfAGroup) {
    typist third(engine_), fourth(engine_);
    run("XGROUP CREATE s g 0 MKSTREAM");
    EXPECT_EQ(run("XREAD BLOCK 0 STREAMS s $"), "");
    EXPECT_EQ(other("XREADGROUP GROUP g a BLOCK 0 STREAMS s >"), "");
    EXPECT_EQ(third("XREADGROUP GROUP g b BLOCK 0 STREAMS s >"), "");
    fourth("XADD s 1-1 a 1");
    constexpr std::string_view entry = "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n";
    EXPECT_EQ(run.take(), entry);
    EXPECT_EQ(other.take(), entry);
    EXPECT_EQ(third.take(), "");
}

TEST_F(ServerStreamReads, TheWaitHasALimitInMilliseconds) {
    EXPECT_EQ(run("XREAD BLOCK 250 STREAMS s $"), "");
    EXPECT_EQ(engine_.next_time_limit(), now_ + 250ms);
    now_ += 250ms;
    engine_.end_late_waits();
    EXPECT_EQ(run.take(), "*-1\r\n");
}

TEST_F(ServerStreamReads, TheHistoryOfAConsumerIsNeverWaitedFor) {
    run("XGROUP CREATE s g 0 MKSTREAM");
    EXPECT_EQ(run("XREADGROUP GROUP g a BLOCK 0 STREAMS s 0"), "*1\r\n*2\r\n$1\r\ns\r\n*0\r\n");
}

TEST_F(ServerStreamReads, AGroupThatGoesEndsTheWait) {
    run("XGROUP CREATE s g 0 MKSTREAM");
    EXPECT_EQ(run("XREADGROUP GROUP g a BLOCK 0 STREAMS s >"), "");
    other("XGROUP DESTROY s g");
    EXPECT_EQ(run.take(), "-NOGROUP the consumer group this client was blocked on no longer exists\r\n");
    run("XGROUP CREATE s g 0");
    EXPECT_EQ(run("XREADGROUP GROUP g a BLOCK 0 STREAMS s >"), "");
    other("DEL s");
    EXPECT_EQ(run.take(), "-UNBLOCKED the stream key no longer exists\r\n");
}

TEST_F(ServerStreamReads, Resp3AnswersWithAMap) {
    run("HELLO 3");
    run("XADD s 1-1 a 1");
    EXPECT_EQ(run("XREAD STREAMS s 0"), "%1\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n");
    EXPECT_EQ(run("XREAD STREAMS s 1-1"), "_\r\n");
}

} // namespace
