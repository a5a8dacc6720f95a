// fairlead-redis against a real server, and beside redis-cli.
#include "real_redis.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace fairlead::test {
namespace {

/// For a shell: the folder of the project may have spaces in its name.
#define QUOTED_PROGRAM "'" FAIRLEAD_REDIS_PROGRAM "'"

struct ended_program {
    int status;
    std::string output; // with standard error, where the command sends that there, too
};

/// Within a minute. `input` is its standard input.
ended_program run_program(std::string const& command, std::string_view input = {}) {
    char name[] = "/tmp/fairlead-redis-input-XXXXXX";
    int const fd = ::mkstemp(name);
    ended_program r{-1, {}};
    if (fd == -1)
        return r;
    std::string_view left = input;
    while (!left.empty())
        left.remove_prefix(static_cast<std::size_t>(::write(fd, left.data(), left.size())));
    ::close(fd);
    FILE* const f = popen(("timeout 60 " + command + " <" + name).c_str(), "r");
    std::array<char, 4096> data;
    while (auto const n = f ? std::fread(data.data(), 1, data.size(), f) : 0)
        r.output.append(data.data(), n);
    int const status = f ? pclose(f) : -1;
    r.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ::unlink(name);
    return r;
}

class RedisProgram : public RealRedis {
protected:
    void SetUp() override {
        RealRedis::SetUp();
        if (::access(FAIRLEAD_REDIS_PROGRAM, X_OK) != 0)
            GTEST_SKIP() << "fairlead-redis was not built (FAIRLEAD_BUILD_PROGRAMS)";
    }
    static std::string port() {
        auto const address = server_->address();
        return address.substr(address.rfind(':') + 1);
    }
    static ended_program ours(std::string const& arguments, std::string_view input = {}) {
        return run_program(QUOTED_PROGRAM " -p " + port() + ' ' + arguments, input);
    }
    static std::string shows(std::string const& arguments) { return ours("--no-raw " + arguments).output; }
    /// Both programs write the same texts, where the server was empty before.
    static void expect_same(std::string const& arguments, std::string_view input = {}) {
        ours("FLUSHALL");
        auto const own = ours(arguments, input);
        ours("FLUSHALL");
        auto const other = run_program("redis-cli -p " + port() + ' ' + arguments, input);
        EXPECT_EQ(own.output, other.output) << arguments;
        EXPECT_EQ(own.status, other.status) << arguments;
        EXPECT_FALSE(other.output.empty()) << arguments;
    }
    static bool has_redis_cli() { return run_program("redis-cli --version").status == 0; }
};

constexpr std::string_view program_lines = R"(SET name "a \x41\n\"value\"\xff"
GET name
GET none
set name 'it\'s' GET
INCR count
LPUSH list a b c d e f g h i j k l
LRANGE list 0 -1
HSET h f1 v1
HGETALL h
SADD s x
SMEMBERS s
ZADD z 1.5 a 2 b
ZRANGE z 0 -1 WITHSCORES
ZSCORE z a
LRANGE nolist 0 -1
SMEMBERS noset
HGETALL nohash

INCR name
NOSUCH
SET a "unbalanced
SET a "joined"b
EVAL "return {1,{2,{3,'x'},'y'},'z',{}}" 0
EVAL "redis.setresp(3); return {map={a={1,2}}}" 0
EVAL "redis.setresp(3); return {map={a={map={x='y'}}}}" 0
COMMAND DOCS GET
DEBUG PROTOCOL double
DEBUG PROTOCOL null
DEBUG PROTOCOL true
DEBUG PROTOCOL false
DEBUG PROTOCOL verbatim
DEBUG PROTOCOL map
DEBUG PROTOCOL set
MULTI
SET x 1
INCR list
GET x
EXEC
XADD st 1-1 a b
XRANGE st - +
quit
GET name
)";

TEST_F(RedisProgram, WritesWhatRedisCliWrites) {
    if (!has_redis_cli())
        GTEST_SKIP() << "redis-cli is not installed (package redis-tools)";
    if (run_program("redis-cli --version").output.find(" 7.0.") == std::string::npos)
        GTEST_SKIP() << "other versions of redis-cli write some of it differently";
    for (auto const* version : {"-2", "-3"})
        for (auto const* how : {"--raw", "--no-raw"})
            expect_same(std::string(version) + ' ' + how, program_lines);
    expect_same("-3 --json CONFIG GET 'maxmemory*'");
    expect_same("-2 SET a b");
    expect_same("-r 3 INCR n");
    expect_same("-x SET text", "from standard input\n");
    expect_same("-e INCR 2>&1");
}

TEST_F(RedisProgram, ShowsTypesThatRedisCliDoesNot) {
    EXPECT_EQ(shows("DEBUG PROTOCOL bignum"), "(big number) 1234567999999999999999999999999999999\n");
    EXPECT_EQ(shows("DEBUG PROTOCOL attrib"), "(attributes) 1# \"key-popularity\" => \n"
                                              "                1) \"key:123\"\n"
                                              "                2) (integer) 90\n"
                                              "\"Some real reply following the attribute\"\n");
    EXPECT_EQ(shows("--show-pushes yes DEBUG PROTOCOL push"), "1) \"server-cpu-usage\"\n"
                                                              "2) (integer) 42\n"
                                                              "\"Some real reply following the push reply\"\n");
    EXPECT_EQ(shows("DEBUG PROTOCOL push"), "\"Some real reply following the push reply\"\n");
    EXPECT_EQ(ours("--json DEBUG PROTOCOL map").output, "{\"0\":false,\"1\":true,\"2\":false}\n");
    EXPECT_EQ(ours("--json INCR").output, "{\"error\":\"ERR wrong number of arguments for 'incr' command\"}\n");
    EXPECT_EQ(ours("--json", "SET t \"\\x01\\\"\\n\"\nGET t\nDEBUG PROTOCOL double\n").output,
              "\"OK\"\n\"\\u0001\\\"\\n\"\n3.141\n");
}

TEST_F(RedisProgram, SaysByItsStatusWhatHappened) {
    EXPECT_EQ(ours("PING").status, 0);
    EXPECT_EQ(ours("INCR").status, 0);
    EXPECT_EQ(ours("-e INCR").status, 1);
    EXPECT_EQ(ours("-e GET a").status, 0);
    auto const first = ours("-e 2>&1", "PING\nINCR\nPING\n");
    EXPECT_EQ(first.status, 1);
    EXPECT_EQ(first.output, "PONG\nERR wrong number of arguments for 'incr' command\n");
    EXPECT_EQ(ours("--no-such-option 2>&1").status, 2);
    EXPECT_EQ(ours("-n x PING 2>&1").status, 2);
    EXPECT_EQ(ours("--help").status, 0);
    EXPECT_NE(ours("--help").output.find("--pipe-timeout"), std::string::npos);
    auto const unreachable = run_program(QUOTED_PROGRAM " -p 1 PING 2>&1");
    EXPECT_EQ(unreachable.status, 1);
    EXPECT_EQ(unreachable.output, "Could not connect to Redis at 127.0.0.1:1: Connection refused\n");
    auto const no_database = ours("-n 1000 PING 2>&1");
    EXPECT_EQ(no_database.status, 1);
    EXPECT_EQ(no_database.output, "SELECT failed: ERR DB index is out of range\n");
    EXPECT_EQ(ours("CLIENT KILL TYPE normal SKIPME no 2>&1").status, 0);
    auto const lost = ours("", "CLIENT KILL TYPE normal SKIPME no\nPING\n");
    EXPECT_EQ(lost.status, 1);
}

TEST_F(RedisProgram, ProvesWhoItIs) {
    ours("ACL SETUSER ann on '>secret' '+@all' '~*'");
    auto const uri = "redis://ann:secret@" + server_->address() + "/4";
    EXPECT_EQ(run_program(QUOTED_PROGRAM " -u " + uri + " ACL WHOAMI").output, "ann\n");
    EXPECT_NE(run_program(QUOTED_PROGRAM " -u " + uri + " CLIENT INFO").output.find(" db=4 "), std::string::npos);
    EXPECT_NE(ours("-n 3 CLIENT INFO").output.find(" db=3 "), std::string::npos);
    for (auto const* version : {"-2", "-3"}) {
        EXPECT_EQ(ours(std::string(version) + " --user ann -a secret ACL WHOAMI").output, "ann\n");
        auto const wrong = ours(std::string(version) + " --user ann -a wrong ACL WHOAMI 2>&1");
        EXPECT_EQ(wrong.status, 1);
        EXPECT_NE(wrong.output.find("failed: WRONGPASS"), std::string::npos) << wrong.output;
    }
    EXPECT_EQ(run_program("env REDISCLI_AUTH=secret " QUOTED_PROGRAM " -p " + port() + " --user ann ACL WHOAMI").output,
              "ann\n");
    EXPECT_EQ(ours("--user ann PING 2>&1").status, 2);
}

TEST_F(RedisProgram, PipesInputAndCountsReplies) {
    std::string commands;
    int const n = 20'000; // More than either side takes at once.
    for (int i = 0; i != n; ++i)
        commands += "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n";
    commands += "LPUSH k x\r\nPING"; // Inline, and without its last line end.
    auto const piped = ours("--pipe 2>&1", commands);
    EXPECT_EQ(piped.output, "All data transferred. Waiting for the last reply...\n"
                            "WRONGTYPE Operation against a key holding the wrong kind of value\n"
                            "Last reply received from server.\n"
                            "errors: 1, replies: 20002\n");
    EXPECT_EQ(piped.status, 1);
    EXPECT_EQ(ours("--pipe", "PING\r\n").status, 0);
    auto const late = ours("--pipe --pipe-timeout 0.2 2>&1", "DEBUG SLEEP 1\r\n");
    EXPECT_EQ(late.status, 1);
    EXPECT_NE(late.output.find("No replies"), std::string::npos) << late.output;
}

TEST_F(RedisProgram, MeasuresLatency) {
    auto const measured = ours("--latency -i 0.1");
    EXPECT_EQ(measured.status, 0);
    double least = -1, most = -1, mean = -1;
    long count = 0;
    ASSERT_EQ(std::sscanf(measured.output.c_str(), "%lf %lf %lf %ld", &least, &most, &mean, &count), 4);
    EXPECT_GT(least, 0);
    EXPECT_LE(least, mean);
    EXPECT_LE(mean, most);
    EXPECT_GT(count, 0);
    EXPECT_EQ(ours("--json --latency -i 0.05").output.find("{\"min\":"), 0U);
}

TEST_F(RedisProgram, ReadsMessagesUntilItIsEnded) {
    child_process reader;
    reader.start({FAIRLEAD_REDIS_PROGRAM, "-p", port(), "--no-raw", "SUBSCRIBE", "news"}, true);
    EXPECT_TRUE(
        reader.says("Reading messages... (press Ctrl-C to quit)\n1) \"subscribe\"\n2) \"news\"\n3) (integer) 1\n"));
    ASSERT_EQ(ours("PUBLISH news hello").output, "1\n"); // Else there is nothing to read.
    EXPECT_TRUE(reader.says("1) \"message\"\n2) \"news\"\n3) \"hello\"\n"));
    reader.kill();
    EXPECT_EQ(shows("UNSUBSCRIBE a b"), "1) \"unsubscribe\"\n2) \"a\"\n3) (integer) 0\n"
                                        "1) \"unsubscribe\"\n2) \"b\"\n3) (integer) 0\n");
}

TEST_F(RedisProgram, ReachesUnixSockets) {
    auto const path = "/tmp/fairlead-redis-test-" + std::to_string(::getpid()) + ".sock";
    redis_server_process const server({"--unixsocket", path});
    for (int i = 0; i != 100 && ::access(path.c_str(), F_OK) != 0; ++i)
        ::usleep(50'000);
    auto const pong = run_program(QUOTED_PROGRAM " -s " + path + " PING");
    ::unlink(path.c_str());
    EXPECT_EQ(pong.output, "PONG\n");
}

} // namespace
} // namespace fairlead::test
