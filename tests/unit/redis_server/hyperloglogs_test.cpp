#include <unit/redis_server/typist.hpp>

#include <string>

namespace {

class ServerHyperloglogs : public fairlead::test::server_test {};

TEST_F(ServerHyperloglogs, CountExactly) {
    std::string many = "PFADD h";
    for (int i = 0; i != 5000; ++i)
        many += " " + std::to_string(i);
    EXPECT_EQ(run(many), ":1\r\n");
    EXPECT_EQ(run("PFADD h 17 18"), ":0\r\n");
    EXPECT_EQ(run("PFCOUNT h"), ":5000\r\n");
    EXPECT_EQ(run("PFADD i 17 x"), ":1\r\n");
    EXPECT_EQ(run("PFCOUNT h i"), ":5001\r\n");
    EXPECT_EQ(run("PFMERGE h i"), "+OK\r\n");
    EXPECT_EQ(run("PFCOUNT h"), ":5001\r\n");
    EXPECT_EQ(run("TYPE h"), "+string\r\n");
    EXPECT_EQ(run("GET h"), fairlead::test::wrong_type) << "its bytes are not those of the real server";
}

} // namespace
