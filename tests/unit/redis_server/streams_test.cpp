#include <unit/redis_server/typist.hpp>

#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

class ServerStreams : public fairlead::test::server_test {};

TEST_F(ServerStreams, IdsComeFromTheClockAndAlwaysGrow) {
    EXPECT_EQ(run("XADD s * a 1"), "$15\r\n1700000000000-0\r\n");
    EXPECT_EQ(run("XADD s * a 1"), "$15\r\n1700000000000-1\r\n");
    now_ -= 1h;
    EXPECT_EQ(run("XADD s * a 1"), "$15\r\n1700000000000-2\r\n") << "a clock that was set back";
    now_ += 2h;
    EXPECT_EQ(run("XADD s * a 1"), "$15\r\n1700003600000-0\r\n");
    EXPECT_EQ(run("XADD s 1-1 a 1"),
              "-ERR The ID specified in XADD is equal or smaller than the target stream top item\r\n");
    EXPECT_EQ(run("XLEN s"), ":4\r\n");
}

TEST_F(ServerStreams, TheClockAtZeroStillGivesAnId) {
    fairlead::redis::server_engine engine;
    fairlead::test::typist still(engine);
    EXPECT_EQ(still("XADD s * a 1"), "$3\r\n0-1\r\n");
}

TEST_F(ServerStreams, TrimmingRemovesTheOldest) {
    for (int i = 1; i != 6; ++i)
        run("XADD s " + std::to_string(i) + "-0 f v");
    EXPECT_EQ(run("XTRIM s MAXLEN ~ 3"), ":2\r\n") << "exactly, although it need not be";
    EXPECT_EQ(run("XTRIM s MINID 5"), ":2\r\n");
    EXPECT_EQ(run("XRANGE s - +"), "*1\r\n*2\r\n$3\r\n5-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n");
    EXPECT_EQ(run("XADD s MAXLEN 0 6-0 f v"), "$3\r\n6-0\r\n");
    EXPECT_EQ(run("XLEN s"), ":0\r\n");
    EXPECT_EQ(run("EXISTS s"), ":1\r\n") << "a stream without entries is a key";
    EXPECT_EQ(run("XADD s 6-0 f v").substr(0, 4), "-ERR") << "it remembers its last id";
}

TEST_F(ServerStreams, RangesMayHaveOpenEnds) {
    run("XADD s 1-1 a 1");
    run("XADD s 1-2 b 2");
    run("XADD s 2-1 c 3");
    EXPECT_EQ(run("XRANGE s 1 1").substr(0, 4), "*2\r\n");
    EXPECT_EQ(run("XRANGE s (1-1 (2-1"), "*1\r\n*2\r\n$3\r\n1-2\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n");
    EXPECT_EQ(run("XREVRANGE s + - COUNT 1"), "*1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\nc\r\n$1\r\n3\r\n");
    EXPECT_EQ(run("XRANGE s - + COUNT 0"), "*-1\r\n");
}

TEST_F(ServerStreams, InfoCountsWhatWasEverAdded) {
    run("XADD s 1-1 a 1");
    run("XADD s 2-1 a 1");
    run("XDEL s 1-1");
    auto const info = run("XINFO STREAM s");
    EXPECT_NE(info.find("$13\r\nentries-added\r\n:2\r\n"), info.npos);
    EXPECT_NE(info.find("$20\r\nmax-deleted-entry-id\r\n$3\r\n1-1\r\n"), info.npos);
    EXPECT_NE(info.find("$6\r\nlength\r\n:1\r\n"), info.npos);
}

} // namespace
