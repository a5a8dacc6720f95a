#include <unit/redis_server/typist.hpp>

#include <string>

namespace {

class ServerBitmaps : public fairlead::test::server_test {};

TEST_F(ServerBitmaps, BitsCountFromTheHighestOfTheFirstByte) {
    EXPECT_EQ(run("SETBIT b 1 1"), ":0\r\n");
    EXPECT_EQ(run("GET b"), "$1\r\n@\r\n");
    EXPECT_EQ(run("SETBIT b 1 0"), ":1\r\n");
    EXPECT_EQ(run("SETBIT b 15 1"), ":0\r\n");
    EXPECT_EQ(run("STRLEN b"), ":2\r\n");
    EXPECT_EQ(run("BITPOS b 1"), ":15\r\n");
    EXPECT_EQ(run("BITCOUNT b 8 15 BIT"), ":1\r\n");
    EXPECT_EQ(run("BITCOUNT b 0 0"), ":0\r\n");
}

TEST_F(ServerBitmaps, BehindTheEndAllBitsAreZero) {
    run("SET ones '\xff'");
    EXPECT_EQ(run("BITPOS ones 0"), ":8\r\n");
    EXPECT_EQ(run("BITPOS ones 0 0 -1"), ":-1\r\n") << "but not behind an end that was asked for";
    EXPECT_EQ(run("GETBIT ones 100"), ":0\r\n");
    EXPECT_EQ(run("BITPOS none 0"), ":0\r\n");
    EXPECT_EQ(run("BITPOS none 1"), ":-1\r\n");
}

TEST_F(ServerBitmaps, ShorterOnesGoOnWithZeros) {
    run("SET a ab");
    run("SET b c");
    EXPECT_EQ(run("BITOP AND d a b"), ":2\r\n");
    EXPECT_EQ(run("BITCOUNT d 1 1"), ":0\r\n");
    EXPECT_EQ(run("BITOP OR d none none"), ":0\r\n");
    EXPECT_EQ(run("EXISTS d"), ":0\r\n");
}

} // namespace
