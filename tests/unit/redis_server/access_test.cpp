#include <unit/redis_server/typist.hpp>

#include <string>

namespace {

using fairlead::test::typist;

constexpr std::string_view wrong_pass = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
constexpr std::string_view no_key =
    "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n";

class ServerAccess : public fairlead::test::server_test {
protected:
    typist user{engine_};
};

TEST_F(ServerAccess, AUserHasPasswords) {
    EXPECT_EQ(run("ACL SETUSER u on >one >two"), "+OK\r\n");
    EXPECT_EQ(user("AUTH u three"), wrong_pass);
    EXPECT_EQ(user("ACL WHOAMI"), "$7\r\ndefault\r\n") << "it stays who it was";
    EXPECT_EQ(user("AUTH u two"), "+OK\r\n");
    EXPECT_EQ(run("ACL SETUSER u <two off"), "+OK\r\n");
    EXPECT_EQ(user("AUTH u one"), wrong_pass) << "off";
    EXPECT_EQ(run("ACL SETUSER u on"), "+OK\r\n");
    EXPECT_EQ(user("AUTH u two"), wrong_pass);
    EXPECT_EQ(user("AUTH u one"), "+OK\r\n");
    EXPECT_NE(run("CLIENT LIST").find(" user=u "), std::string::npos);
    EXPECT_EQ(run("ACL LIST"),
              "*2\r\n$34\r\nuser default on nopass ~* &* +@all\r\n"
              "$95\r\nuser u on "
              "#7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed resetchannels -@all\r\n")
        << "a password is kept as its SHA-256";
}

TEST_F(ServerAccess, CommandsAreGivenOneByOneAndByCategory) {
    run("ACL SETUSER u on nopass ~* +@read -get +@transaction +config|get");
    user("AUTH u x");
    EXPECT_EQ(user("GET k"), "-NOPERM this user has no permissions to run the 'get' command\r\n");
    EXPECT_EQ(user("STRLEN k"), ":0\r\n");
    EXPECT_EQ(user("CONFIG GET save"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
    EXPECT_EQ(user("CONFIG SET save x"), "-NOPERM this user has no permissions to run the 'config|set' command\r\n");
    EXPECT_EQ(user("MULTI"), "+OK\r\n");
    EXPECT_EQ(user("SET k v"), "-NOPERM this user has no permissions to run the 'set' command\r\n");
    EXPECT_EQ(user("EXEC"), "-EXECABORT Transaction discarded because of previous errors.\r\n");
    run("ACL SETUSER u +set");
    EXPECT_EQ(user("SET k v"), "+OK\r\n") << "at once, also for clients that are connected";
}

TEST_F(ServerAccess, KeysAreFoundWhereverTheyStand) {
    run("ACL SETUSER u on nopass +@all ~a:* ~b");
    user("AUTH u x");
    for (char const* command :
         {"GET x", "MGET a:1 x", "MSET a:1 v x v", "SINTERCARD 2 a:1 x", "LMPOP 2 a:1 x LEFT", "ZUNIONSTORE x 1 a:1",
          "ZUNIONSTORE a:1 1 x", "XREAD STREAMS a:1 x 0 0", "BLPOP a:1 x 1", "RENAME a:1 x", "OBJECT ENCODING x",
          "XGROUP CREATE x g $ MKSTREAM", "EVAL script 1 x", "BZMPOP 1 1 x MIN"})
        EXPECT_EQ(user(command), no_key) << command;
    for (char const* command :
         {"GET a:1", "MGET a:1 b", "MSET a:1 x b x", "PING x", "DEL a:1 b", "XREAD STREAMS a:1 b 0 0"})
        EXPECT_NE(user(command), no_key) << command;
}

TEST_F(ServerAccess, ChannelsHavePatternsOfTheirOwn) {
    constexpr std::string_view no_channel =
        "-NOPERM this user has no permissions to access one of the channels used as arguments\r\n";
    run("ACL SETUSER u on nopass +@all &news:*");
    user("AUTH u x");
    EXPECT_EQ(user("PUBLISH news:1 x"), ":0\r\n");
    EXPECT_EQ(user("PUBLISH other x"), no_channel);
    EXPECT_EQ(user("SUBSCRIBE news:1 other"), no_channel);
    EXPECT_EQ(user("PSUBSCRIBE news:?"), no_channel) << "a pattern has to be one of the user's own";
    EXPECT_EQ(user("PSUBSCRIBE news:*"), "*3\r\n$10\r\npsubscribe\r\n$6\r\nnews:*\r\n:1\r\n");
    EXPECT_EQ(user("PUNSUBSCRIBE other"), "*3\r\n$12\r\npunsubscribe\r\n$5\r\nother\r\n:1\r\n");
}

TEST_F(ServerAccess, OneBadRuleChangesNothing) {
    EXPECT_EQ(run("ACL SETUSER u on +nosuch"),
              "-ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL\r\n");
    EXPECT_EQ(run("ACL GETUSER u"), "$-1\r\n");
}

TEST_F(ServerAccess, AUserThatGoesTakesItsClientsAlong) {
    run("ACL SETUSER u on nopass +@all");
    user("AUTH u x");
    EXPECT_EQ(run("ACL DELUSER u nobody"), ":1\r\n");
    EXPECT_TRUE(user.client.wants_close());
    EXPECT_EQ(run("ACL DELUSER default"), "-ERR The 'default' user cannot be removed\r\n");
}

TEST_F(ServerAccess, TheDefaultUserMayGetAPassword) {
    EXPECT_EQ(run("ACL SETUSER default >pw"), "+OK\r\n");
    EXPECT_EQ(run("PING"), "+PONG\r\n") << "who is in stays in";
    typist late(engine_);
    EXPECT_EQ(late("PING"), "-NOAUTH Authentication required.\r\n");
    EXPECT_EQ(late("AUTH pw"), "+OK\r\n");
    EXPECT_EQ(late("PING"), "+PONG\r\n");
    EXPECT_EQ(late("RESET"), "+RESET\r\n");
    EXPECT_EQ(late("PING"), "-NOAUTH Authentication required.\r\n");
}

TEST_F(ServerAccess, HelloLogsIn) {
    run("ACL SETUSER u on >pw +@all");
    EXPECT_EQ(user("HELLO 3 AUTH u bad"), wrong_pass);
    EXPECT_EQ(user("HELLO 3 AUTH u pw").substr(0, 2), "%7");
    EXPECT_EQ(user("ACL WHOAMI"), "$1\r\nu\r\n");
}

} // namespace
