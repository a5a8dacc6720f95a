// Redis's own tools against the embedded server.
#include <fairlead/redis_server/server.hpp>

#include <fairlead/io/io_context.hpp>
#include <support/scale.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <thread>

namespace fairlead::test {
namespace {

struct tool_result {
    int status;
    std::string output;
};

tool_result run_tool(std::string const& command) {
    tool_result r{-1, {}};
    FILE* f = popen(("timeout 60 " + command + " 2>&1").c_str(), "r");
    if (!f)
        return r;
    std::array<char, 4096> data;
    while (auto const n = std::fread(data.data(), 1, data.size(), f))
        r.output.append(data.data(), n);
    int const status = pclose(f);
    r.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return r;
}

/// The embedded server on a thread of its own.
class RedisTools : public testing::Test {
protected:
    void SetUp() override {
        if (run_tool("redis-cli --version").status != 0)
            GTEST_SKIP() << "redis-cli is not installed (package redis-tools)";
        thread_ = std::thread([this] { context_.run(); });
    }
    void TearDown() override {
        if (thread_.joinable()) {
            context_.stop();
            thread_.join();
        }
    }
    tool_result cli(std::string const& arguments) {
        return run_tool("redis-cli -p " + std::to_string(server_.port()) + ' ' + arguments);
    }
    std::string port() const { return std::to_string(server_.port()); }

private:
    io_context context_{1};
    redis::server server_{context_};
    std::thread thread_;
};

TEST_F(RedisTools, CliSetsAndGets) {
    EXPECT_EQ(cli("PING").output, "PONG\n");
    EXPECT_EQ(cli("SET name 'a value'").output, "OK\n");
    EXPECT_EQ(cli("GET name").output, "a value\n");
    EXPECT_EQ(cli("INCRBY count 42").output, "42\n");
    EXPECT_EQ(cli("GET nothing").output, "\n");
    EXPECT_NE(cli("INCR name").output.find("ERR value is not an integer"), std::string::npos);
    EXPECT_NE(cli("NOSUCHCOMMAND").output.find("ERR unknown command"), std::string::npos);
}

TEST_F(RedisTools, CliReadsMapsInResp3) {
    EXPECT_EQ(cli("HSET h f1 v1 f2 v2").output, "2\n");
    EXPECT_EQ(cli("-3 HGETALL h").output, "f1 v1\nf2 v2\n");
    EXPECT_EQ(cli("HGETALL h").output, "f1\nv1\nf2\nv2\n");
}

TEST_F(RedisTools, CliFindsItsFieldsInInfo) {
    auto const info = cli("INFO").output;
    for (auto const* field : {"redis_version:", "connected_clients:", "used_memory:", "role:master"})
        EXPECT_NE(info.find(field), std::string::npos) << field;
    EXPECT_EQ(cli("DBSIZE").output, "0\n");
}

TEST_F(RedisTools, BenchmarkRunsPipelinedOverManyConnections) {
    auto const n = std::to_string(scaled(20'000, 1000));
    auto const r = run_tool("redis-benchmark -p " + port() + " -n " + n +
                            " -c 20 -P 4 -q -t ping,set,get,incr,lpush,rpop,sadd,hset,mset");
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(r.output.find("Error"), std::string::npos) << r.output;
    for (auto const* test : {"SET:", "GET:", "INCR:", "LPUSH:", "MSET"})
        EXPECT_NE(r.output.find(test), std::string::npos) << r.output;
}

} // namespace
} // namespace fairlead::test
