// Where a reply is not about the engine's clock or its limits, it is what redis-server answers to the same line.
#include <unit/redis_server/typist.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using fairlead::test::no_integer;
using fairlead::test::typist;

class ServerConnections : public fairlead::test::server_test {};

TEST_F(ServerConnections, ClientsAreNamedWithoutBlanks) {
    EXPECT_EQ(run(R"(CLIENT SETNAME "a b")"),
              "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
    EXPECT_EQ(run("CLIENT SETNAME me"), "+OK\r\n");
    EXPECT_EQ(run("CLIENT GETNAME"), "$2\r\nme\r\n");
    EXPECT_EQ(run("CLIENT REPLY SOMETIMES"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("CLIENT KILL ID x"), "-ERR client-id should be greater than 0\r\n");
    EXPECT_EQ(run("CLIENT KILL FOO x"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("CLIENT NO-EVICT on"), "+OK\r\n");
    EXPECT_EQ(run("PING a b"), "-ERR wrong number of arguments for 'ping' command\r\n");
    EXPECT_EQ(run("AUTH a b c"), "-ERR syntax error\r\n");
    EXPECT_EQ(run("AUTH secret"), "-ERR AUTH <password> called without any password configured for the default user. "
                                  "Are you sure your configuration is correct?\r\n");
    EXPECT_EQ(run("HELLO 2 FOO"), "-ERR Syntax error in HELLO option 'FOO'\r\n");
    EXPECT_EQ(run("HELLO 2 SETNAME"), "-ERR Syntax error in HELLO option 'SETNAME'\r\n");
    EXPECT_EQ(run("HELLO 2 AUTH default"), "-ERR Syntax error in HELLO option 'AUTH'\r\n");
    EXPECT_EQ(run(R"(HELLO 2 SETNAME "a b")"),
              "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
    EXPECT_EQ(run("HELLO 2 AUTH nobody x"), "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    EXPECT_EQ(run("SELECT -1"), "-ERR DB index is out of range\r\n");
    EXPECT_EQ(run("SELECT x"), no_integer);
    EXPECT_EQ(run("CONFIG RESETSTAT"), "+OK\r\n");
    EXPECT_EQ(run("CONFIG RESETSTAT x"), "-ERR wrong number of arguments for 'config|resetstat' command\r\n");
    EXPECT_EQ(run("CONFIG GET"), "-ERR wrong number of arguments for 'config|get' command\r\n");
    EXPECT_EQ(run("PUBSUB CHANNELS"), "*0\r\n");
    EXPECT_EQ(run("PUBSUB FOO"), "-ERR unknown subcommand 'FOO'. Try PUBSUB HELP.\r\n");
    EXPECT_EQ(run("MULTI"), "+OK\r\n");
    EXPECT_EQ(run("MULTI"), "-ERR MULTI calls can not be nested\r\n");
    EXPECT_EQ(run("WATCH k"), "-ERR WATCH inside MULTI is not allowed\r\n");
    EXPECT_EQ(run("DISCARD"), "+OK\r\n");
    EXPECT_EQ(run("UNWATCH"), "+OK\r\n");
    EXPECT_EQ(run("COMMAND FOO"), "-ERR unknown subcommand 'FOO'. Try COMMAND HELP.\r\n");
}

TEST_F(ServerConnections, ClientListTellsWhatAClientIsDoing) {
    typist other(engine_);
    other("CLIENT SETINFO LIB-NAME tool");
    other("CLIENT SETINFO LIB-VER 1.5");
    other("SELECT 3");
    other("MULTI");
    other("PING");
    other("SUBSCRIBE a");
    now_ += 2500ms;
    typist subscriber(engine_);
    subscriber("HELLO 3 SETNAME me");
    subscriber("SUBSCRIBE a b");
    subscriber("PSUBSCRIBE c*");
    subscriber("SSUBSCRIBE d");
    std::string const list = run("CLIENT LIST");
    EXPECT_NE(
        list.find("id=2 addr=127.0.0.1:1 name= age=2 idle=0 flags=x db=3 sub=0 psub=0 ssub=0 multi=2 qbuf=0 obl=0 "
                  "cmd=multi user=default lib-name=tool lib-ver=1.5 resp=2\n"),
        std::string::npos)
        << list;
    EXPECT_NE(list.find("name=me age=0 idle=0 flags=P db=0 sub=2 psub=1 ssub=1 multi=-1 "), std::string::npos) << list;
    std::string const self = run("CLIENT INFO");
    EXPECT_EQ(self.substr(self.find('\n') + 1, 4), "id=1");
    EXPECT_EQ(self.find("id=2"), std::string::npos);
}

TEST_F(ServerConnections, SetinfoRefusesWhatItDoesNotKnow) {
    EXPECT_EQ(run("CLIENT SETINFO LIB-NAME \"a b\""),
              "-ERR lib-name cannot contain spaces, newlines or special characters.\r\n");
    EXPECT_EQ(run("CLIENT SETINFO COLOUR red"), "-ERR Unrecognized option 'COLOUR'\r\n");
    EXPECT_EQ(run("CLIENT INFO").find("red"), std::string::npos);
}

TEST_F(ServerConnections, AskingForSilenceTwiceStaysSilent) {
    EXPECT_EQ(run("CLIENT REPLY OFF"), "");
    EXPECT_EQ(run("CLIENT REPLY SKIP"), "");
    EXPECT_EQ(run("PING"), "");
    EXPECT_EQ(run("PING"), "") << "SKIP does not end OFF";
    EXPECT_EQ(run("NOSUCH"), "");
    EXPECT_EQ(run("SUBSCRIBE a"), "") << "a reply of RESP2 is silenced";
    EXPECT_EQ(run("CLIENT REPLY ON"), "") << "no command for a subscriber of RESP2";
    run("RESET");
    run("HELLO 3");
    EXPECT_EQ(run("CLIENT REPLY OFF"), "");
    EXPECT_EQ(run("SUBSCRIBE a"), ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n") << "a push is not";
}

TEST_F(ServerConnections, ToolsLearnWhichCommandsThereAre) {
    std::string const count = run("COMMAND COUNT"), list = run("COMMAND LIST");
    EXPECT_EQ("*" + count.substr(1), list.substr(0, count.size()));
    EXPECT_NE(list.find("$6\r\nappend\r\n"), std::string::npos);
    EXPECT_EQ(run("COMMAND INFO get nosuch"),
              "*2\r\n*10\r\n$3\r\nget\r\n:2\r\n*0\r\n:1\r\n:1\r\n:1\r\n*3\r\n+@read\r\n+@string\r\n+@fast\r\n"
              "*0\r\n*0\r\n*0\r\n*-1\r\n");
    EXPECT_EQ(run("COMMAND GETKEYS MSET a 1 b 2"), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    EXPECT_EQ(run("COMMAND GETKEYS PING"), "-ERR The command has no key arguments\r\n");
}

TEST_F(ServerConnections, SettingsAreReadAndNotWritten) {
    EXPECT_EQ(run("CONFIG GET DATA* maxmemory"), "*4\r\n$9\r\ndatabases\r\n$2\r\n16\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n");
    EXPECT_EQ(run("CONFIG GET none"), "*0\r\n");
    EXPECT_EQ(run("CONFIG SET maxmemory 1"),
              "-ERR CONFIG SET failed - the embedded server is configured by its program\r\n");
}

TEST_F(ServerConnections, InfoGivesTheSectionsThatAreWanted) {
    run("SELECT 2");
    run("SET k v PX 100000");
    run("RPUSH l a");
    std::string const everything = run("INFO everything");
    for (char const* same : {"INFO all", "INFO default", "INFO"})
        EXPECT_EQ(run(same).size(), everything.size()) << same;
    EXPECT_NE(everything.find("# Server\r\n"), std::string::npos);
    EXPECT_NE(everything.find("\r\n\r\n# Keyspace\r\ndb2:keys=2,expires=1,avg_ttl=0\r\n"), std::string::npos);
    std::string const two = run("INFO cluster memory");
    EXPECT_EQ(two.find("# Server"), std::string::npos);
    EXPECT_NE(two.find("# Memory"), std::string::npos);
    EXPECT_NE(two.find("# Cluster"), std::string::npos);
    EXPECT_EQ(run("INFO nosuch"), "$0\r\n\r\n");
}

TEST_F(ServerConnections, TimeIsTheEnginesClock) {
    now_ += 250ms;
    EXPECT_EQ(run("TIME"), "*2\r\n$10\r\n1700000000\r\n$6\r\n250000\r\n");
}

TEST_F(ServerConnections, OldClientsAreShownWhatTheyUnderstand) {
    EXPECT_EQ(run("DEBUG PROTOCOL attrib"), "$39\r\nSome real reply following the attribute\r\n");
    EXPECT_EQ(run("DEBUG PROTOCOL push"), "-ERR RESP2 is not supported by this command\r\n");
    EXPECT_EQ(run("DEBUG PROTOCOL true"), ":1\r\n");
    EXPECT_EQ(run("DEBUG PROTOCOL map"), "*6\r\n:0\r\n:0\r\n:1\r\n:1\r\n:2\r\n:0\r\n");
    EXPECT_EQ(run("DEBUG PROTOCOL colour"),
              "-ERR Wrong protocol type name. Please use one of the following: "
              "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false\r\n");
}

TEST_F(ServerConnections, HelloWithoutAVersionKeepsIt) {
    EXPECT_NE(run("HELLO").find("$5\r\nproto\r\n:2\r\n"), std::string::npos);
    run("HELLO 3");
    EXPECT_NE(run("HELLO").find("$5\r\nproto\r\n:3\r\n"), std::string::npos);
    EXPECT_EQ(run("HELLO 2").substr(0, 3), "*14");
}

} // namespace
