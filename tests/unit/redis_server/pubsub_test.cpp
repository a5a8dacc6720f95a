#include <unit/redis_server/typist.hpp>

#include <gtest/gtest.h>

namespace {

using fairlead::test::typist;

class ServerPubsub : public fairlead::test::server_test {};

TEST_F(ServerPubsub, TellsWhatIsSubscribedTo) {
    typist other(engine_), third(engine_);
    other("SUBSCRIBE news.a news.b weather");
    other("PSUBSCRIBE n* w*");
    other("SSUBSCRIBE shard");
    third("SUBSCRIBE weather");
    EXPECT_EQ(run("PUBSUB CHANNELS"), "*3\r\n$6\r\nnews.a\r\n$6\r\nnews.b\r\n$7\r\nweather\r\n");
    EXPECT_EQ(run("PUBSUB CHANNELS news.*"), "*2\r\n$6\r\nnews.a\r\n$6\r\nnews.b\r\n");
    EXPECT_EQ(run("PUBSUB CHANNELS none"), "*0\r\n");
    EXPECT_EQ(run("PUBSUB SHARDCHANNELS"), "*1\r\n$5\r\nshard\r\n");
    EXPECT_EQ(run("PUBSUB SHARDCHANNELS x*"), "*0\r\n");
    EXPECT_EQ(run("PUBSUB NUMSUB weather shard"), "*4\r\n$7\r\nweather\r\n:2\r\n$5\r\nshard\r\n:0\r\n");
    EXPECT_EQ(run("PUBSUB SHARDNUMSUB weather shard"), "*4\r\n$7\r\nweather\r\n:0\r\n$5\r\nshard\r\n:1\r\n");
    EXPECT_EQ(run("PUBSUB NUMSUB"), "*0\r\n");
    EXPECT_EQ(run("PUBSUB NUMPAT"), ":2\r\n");
    EXPECT_EQ(run("PUBSUB NUMPAT x"), "-ERR wrong number of arguments for 'pubsub|numpat' command\r\n");
    EXPECT_EQ(run("PUBSUB CHANNELS a b"), "-ERR wrong number of arguments for 'pubsub|channels' command\r\n");
    EXPECT_EQ(run("PUBSUB SHARDCHANNELS a b"), "-ERR wrong number of arguments for 'pubsub|shardchannels' command\r\n");
    EXPECT_EQ(run("PUBSUB FOO"), "-ERR unknown subcommand 'FOO'. Try PUBSUB HELP.\r\n");
}

TEST_F(ServerPubsub, SubscribingTwiceIsConfirmedTwiceAndDeliversOnce) {
    typist other(engine_);
    EXPECT_EQ(other("SUBSCRIBE a a"),
              "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
    EXPECT_EQ(run("PUBLISH a x"), ":1\r\n");
    EXPECT_EQ(other.take(), "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
}

TEST_F(ServerPubsub, LeavingOneChannelKeepsTheOthers) {
    typist other(engine_), third(engine_);
    other("SUBSCRIBE a b");
    third("SUBSCRIBE a");
    EXPECT_EQ(other("UNSUBSCRIBE a none"), "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n"
                                           "*3\r\n$11\r\nunsubscribe\r\n$4\r\nnone\r\n:1\r\n");
    EXPECT_EQ(run("PUBLISH a x"), ":1\r\n");
    EXPECT_EQ(other.take(), "");
    EXPECT_EQ(run("PUBLISH b x"), ":1\r\n");
    EXPECT_NE(other.take(), "");
    EXPECT_NE(third.take(), "");
    EXPECT_EQ(third("UNSUBSCRIBE a"), "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
    EXPECT_EQ(run("PUBSUB CHANNELS"), "*1\r\n$1\r\nb\r\n");
}

TEST_F(ServerPubsub, PatternsAndShardsAreLeftByTheirOwnCommands) {
    typist other(engine_);
    other("PSUBSCRIBE a*");
    other("SSUBSCRIBE ab");
    EXPECT_EQ(other("UNSUBSCRIBE"), "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:1\r\n");
    EXPECT_EQ(run("PUBLISH ab x"), ":1\r\n");
    EXPECT_EQ(other.take(), "*4\r\n$8\r\npmessage\r\n$2\r\na*\r\n$2\r\nab\r\n$1\r\nx\r\n");
    EXPECT_EQ(run("PUBLISH ba x"), ":0\r\n");
    EXPECT_EQ(other("PUNSUBSCRIBE"), "*3\r\n$12\r\npunsubscribe\r\n$2\r\na*\r\n:0\r\n");
    EXPECT_EQ(run("SPUBLISH ab x"), ":1\r\n");
    other.take();
    EXPECT_EQ(run("SPUBLISH none x"), ":0\r\n");
    EXPECT_EQ(other("SUNSUBSCRIBE ab"), "*3\r\n$12\r\nsunsubscribe\r\n$2\r\nab\r\n:0\r\n");
    EXPECT_EQ(other("PING"), "+PONG\r\n") << "it is no subscriber any more";
}

TEST_F(ServerPubsub, AClientThatGoesLeavesItsChannels) {
    {
        typist other(engine_), third(engine_);
        other("SUBSCRIBE a b");
        third("SUBSCRIBE a");
        third("PSUBSCRIBE *");
        EXPECT_EQ(run("PUBLISH a x"), ":3\r\n");
    }
    EXPECT_EQ(run("PUBLISH a x"), ":0\r\n");
    EXPECT_EQ(run("PUBSUB CHANNELS"), "*0\r\n");
}

TEST_F(ServerPubsub, AClientThatHasToGoIsSentNothingMore) {
    typist other(engine_);
    other("SUBSCRIBE a");
    EXPECT_EQ(other("QUIT"), "+OK\r\n");
    EXPECT_EQ(run("PUBLISH a x"), ":1\r\n") << "it is there until its owner destroys it";
    EXPECT_EQ(other.take(), "");
}

} // namespace
