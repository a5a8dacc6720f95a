#include <unit/redis_server/typist.hpp>

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;

/// A stream with three entries, of which alice has two and bob has one.
class ServerStreamGroups : public fairlead::test::server_test {
protected:
    ServerStreamGroups() {
        for (char const* id : {"1-0", "2-0", "3-0"})
            run(std::string("XADD s ") + id + " f v");
        run("XGROUP CREATE s g 0");
        run("XREADGROUP GROUP g alice COUNT 2 STREAMS s >");
        now_ += 10s;
        run("XREADGROUP GROUP g bob STREAMS s >");
    }
};

TEST_F(ServerStreamGroups, EachEntryIsGivenToOneConsumer) {
    EXPECT_EQ(run("XPENDING s g"), "*4\r\n:3\r\n$3\r\n1-0\r\n$3\r\n3-0\r\n*2\r\n*2\r\n$5\r\nalice\r\n$1\r\n2\r\n"
                                   "*2\r\n$3\r\nbob\r\n$1\r\n1\r\n");
    EXPECT_EQ(run("XREADGROUP GROUP g carol STREAMS s >"), "*-1\r\n");
    EXPECT_EQ(run("XACK s g 1-0 1-0 9-0"), ":1\r\n");
    EXPECT_EQ(run("XACK s g 1-0"), ":0\r\n");
}

TEST_F(ServerStreamGroups, IdleTimesAreOnTheEnginesClock) {
    EXPECT_EQ(
        run("XPENDING s g IDLE 10000 - + 10"),
        "*2\r\n*4\r\n$3\r\n1-0\r\n$5\r\nalice\r\n:10000\r\n:1\r\n*4\r\n$3\r\n2-0\r\n$5\r\nalice\r\n:10000\r\n:1\r\n");
    EXPECT_EQ(run("XPENDING s g IDLE 10001 - + 10"), "*0\r\n");
    now_ += 5s;
    EXPECT_EQ(run("XPENDING s g - + 10 bob"), "*1\r\n*4\r\n$3\r\n3-0\r\n$3\r\nbob\r\n:5000\r\n:1\r\n");
    EXPECT_EQ(run("XINFO CONSUMERS s g"),
              "*2\r\n*6\r\n$4\r\nname\r\n$5\r\nalice\r\n$7\r\npending\r\n:2\r\n$4\r\nidle\r\n:15000\r\n"
              "*6\r\n$4\r\nname\r\n$3\r\nbob\r\n$7\r\npending\r\n:1\r\n$4\r\nidle\r\n:5000\r\n");
}

TEST_F(ServerStreamGroups, ReadingTheHistoryCountsAsADelivery) {
    run("XREADGROUP GROUP g bob STREAMS s 0");
    EXPECT_EQ(run("XPENDING s g - + 10 bob"), "*1\r\n*4\r\n$3\r\n3-0\r\n$3\r\nbob\r\n:0\r\n:2\r\n");
}

TEST_F(ServerStreamGroups, OnlyWhatIsIdleLongEnoughIsClaimed) {
    EXPECT_EQ(run("XCLAIM s g bob 10000 1-0 3-0 JUSTID"), "*1\r\n$3\r\n1-0\r\n");
    EXPECT_EQ(run("XPENDING s g 1-0 1-0 10"), "*1\r\n*4\r\n$3\r\n1-0\r\n$3\r\nbob\r\n:0\r\n:1\r\n")
        << "JUSTID does not count as a delivery";
    EXPECT_EQ(run("XCLAIM s g bob 0 1-0"), "*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n");
    EXPECT_EQ(run("XPENDING s g 1-0 1-0 10"), "*1\r\n*4\r\n$3\r\n1-0\r\n$3\r\nbob\r\n:0\r\n:2\r\n");
}

TEST_F(ServerStreamGroups, AutoclaimGoesOnWhereItStopped) {
    EXPECT_EQ(run("XAUTOCLAIM s g bob 10000 0 COUNT 1 JUSTID"), "*3\r\n$3\r\n2-0\r\n*1\r\n$3\r\n1-0\r\n*0\r\n");
    run("XDEL s 2-0");
    EXPECT_EQ(run("XAUTOCLAIM s g bob 10000 2-0 COUNT 10 JUSTID"), "*3\r\n$3\r\n0-0\r\n*0\r\n*1\r\n$3\r\n2-0\r\n");
    EXPECT_EQ(run("XPENDING s g").substr(0, 8), "*4\r\n:2\r\n") << "a deleted entry is pending no more";
}

TEST_F(ServerStreamGroups, AConsumerTakesItsEntriesAlong) {
    EXPECT_EQ(run("XGROUP DELCONSUMER s g alice"), ":2\r\n");
    EXPECT_EQ(run("XPENDING s g"), "*4\r\n:1\r\n$3\r\n3-0\r\n$3\r\n3-0\r\n*1\r\n*2\r\n$3\r\nbob\r\n$1\r\n1\r\n");
    EXPECT_EQ(run("XGROUP CREATECONSUMER s g alice"), ":1\r\n");
}

TEST_F(ServerStreamGroups, TheLagIsUnknownBehindAGap) {
    run("XADD s 4-0 f v");
    run("XADD s 5-0 f v");
    auto groups = run("XINFO GROUPS s");
    EXPECT_NE(groups.find("$12\r\nentries-read\r\n:3\r\n$3\r\nlag\r\n:2\r\n"), groups.npos) << groups;
    run("XDEL s 4-0");
    groups = run("XINFO GROUPS s");
    EXPECT_NE(groups.find("$3\r\nlag\r\n$-1\r\n"), groups.npos) << groups;
}

} // namespace
