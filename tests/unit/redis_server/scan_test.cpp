#include <unit/redis_server/typist.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

class ServerScan : public fairlead::test::server_test {
protected:
    // Of a reply to SCAN the cursor, and how often each element has come.
    static std::string read_step(std::string_view reply, std::map<std::string, int>& seen) {
        std::vector<std::string> texts;
        while (reply.find("$") != reply.npos) {
            reply.remove_prefix(reply.find('\n', reply.find('$')) + 1);
            texts.emplace_back(reply.substr(0, reply.find('\r')));
        }
        for (std::size_t i = 1; i < texts.size(); ++i)
            ++seen[texts[i]];
        return texts.front();
    }
};

TEST_F(ServerScan, StepsGiveEachKeyThatStaysOnce) {
    for (int i = 0; i != 100; ++i)
        run("SET stays" + std::to_string(i) + " v");
    std::map<std::string, int> seen;
    std::string cursor = "0";
    int steps = 0;
    do {
        cursor = read_step(run("SCAN " + cursor + " COUNT 7"), seen);
        run("SET new" + std::to_string(steps) + " v");
        run("DEL new" + std::to_string(steps - 3));
        ++steps;
    } while (cursor != "0" && steps != 1000);
    EXPECT_GE(steps, 100 / 7);
    EXPECT_LT(steps, 40);
    for (int i = 0; i != 100; ++i)
        EXPECT_EQ(seen["stays" + std::to_string(i)], 1) << i;
}

TEST_F(ServerScan, AStepMayFindNothingAndStillGoOn) {
    for (int i = 0; i != 20; ++i)
        run("SET k" + std::to_string(i) + " v");
    std::map<std::string, int> seen;
    EXPECT_NE(read_step(run("SCAN 0 COUNT 5 MATCH none"), seen), "0");
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(read_step(run("SCAN 0"), seen), "0");
    EXPECT_EQ(seen.size(), 20U);
}

TEST_F(ServerScan, CollectionsGoInStepsToo) {
    for (int i = 0; i != 30; ++i) {
        run("HSET h f" + std::to_string(i) + " v" + std::to_string(i));
        run("SADD s f" + std::to_string(i));
        run("ZADD z 1 f" + std::to_string(i));
    }
    for (char const* command : {"HSCAN h ", "SSCAN s ", "ZSCAN z "}) {
        std::map<std::string, int> seen;
        std::string cursor = "0";
        int steps = 0;
        do {
            cursor = read_step(run(command + cursor + " COUNT 4"), seen);
        } while (cursor != "0" && ++steps != 100);
        EXPECT_GT(steps, 5) << command;
        for (int i = 0; i != 30; ++i)
            EXPECT_EQ(seen["f" + std::to_string(i)], 1) << command << i;
    }
}

} // namespace
