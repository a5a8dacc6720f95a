#include <fairlead/redis_server/script.hpp>

#include <unit/redis_server/typist.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using fairlead::redis::server_script_run;
using fairlead::redis::server_value;
using fairlead::test::typist;

constexpr std::string_view no_script = "-NOSCRIPT No matching script. Please use EVAL.\r\n";

class ServerScripts : public fairlead::test::server_test {};

TEST_F(ServerScripts, AFunctionTakesThePlaceOfItsText) {
    auto const sha = engine_.add_script("return 1", [](server_script_run&) { return server_value(1); });
    EXPECT_EQ(sha, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    EXPECT_EQ(run("EVALSHA " + sha + " 0"), no_script) << "nobody has named the text yet";
    EXPECT_EQ(run("EVAL 'return 1' 0"), ":1\r\n");
    EXPECT_EQ(run("EVALSHA " + sha + " 0"), ":1\r\n");
    EXPECT_EQ(run("SCRIPT FLUSH"), "+OK\r\n");
    EXPECT_EQ(run("EVALSHA " + sha + " 0"), no_script);
    EXPECT_EQ(run("SCRIPT EXISTS " + sha), "*1\r\n:0\r\n");
    EXPECT_EQ(run("SCRIPT LOAD 'return 1'"), "$40\r\n" + sha + "\r\n");
    EXPECT_EQ(run("SCRIPT EXISTS " + sha + " x"), "*2\r\n:1\r\n:0\r\n");
    EXPECT_EQ(run("EVAL 'return 2' 0").substr(0, 27), "-ERR Error compiling script");
    EXPECT_EQ(run("SCRIPT LOAD 'return 2'").substr(0, 27), "-ERR Error compiling script");
}

TEST_F(ServerScripts, AScriptMayBeKnownByItsHashAlone) {
    engine_.add_script_of_sha1("E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", [](server_script_run&) { return "here"; });
    EXPECT_EQ(run("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0"), "$4\r\nhere\r\n");
    EXPECT_EQ(run("EVAL 'return 1' 0"), "$4\r\nhere\r\n");
}

TEST_F(ServerScripts, AFunctionGetsKeysAndArgumentsAndRunsCommands) {
    engine_.add_function("move", [](server_script_run& s) -> server_value {
        auto const taken = s.run({"LPOP", s.keys()[0]});
        if (taken.is_null())
            return server_value::error("EMPTY nothing to move");
        auto const pushed = s.run({"RPUSH", s.keys()[1], taken.text(), s.arguments()[0]});
        EXPECT_EQ(pushed.which(), server_value::kind::integer);
        return pushed;
    });
    run("RPUSH a x");
    EXPECT_EQ(run("FCALL move 2 a b more"), ":2\r\n");
    EXPECT_EQ(run("LRANGE b 0 -1"), "*2\r\n$1\r\nx\r\n$4\r\nmore\r\n");
    EXPECT_EQ(run("FCALL move 2 a b more"), "-EMPTY nothing to move\r\n");
    EXPECT_EQ(run("FCALL other 0"), "-ERR Function not found\r\n");
}

TEST_F(ServerScripts, RepliesComeAsInResp2WhateverTheClientSpeaks) {
    engine_.add_function("f", [](server_script_run& s) {
        auto const all = s.run({"HGETALL", "h"});
        EXPECT_EQ(all.elements().size(), 2U);
        auto const score = s.run({"ZSCORE", "z", "m"});
        EXPECT_EQ(score.text(), "1.5");
        EXPECT_TRUE(s.run({"GET", "h"}).is_error());
        EXPECT_EQ(s.run({"SET", "k", "v"}).which(), server_value::kind::status);
        return std::vector<server_value>{all, score, {}};
    });
    run("HELLO 3");
    run("HSET h f v");
    run("ZADD z 1.5 m");
    EXPECT_EQ(run("FCALL f 0"), "*3\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n$3\r\n1.5\r\n_\r\n");
}

TEST_F(ServerScripts, NobodyIsServedBeforeAScriptIsOver) {
    typist waits(engine_);
    engine_.add_function("push_and_pop", [](server_script_run& s) {
        s.run({"RPUSH", "l", "x"});
        return s.run({"LPOP", "l"});
    });
    EXPECT_EQ(waits("BLPOP l 0"), "");
    EXPECT_EQ(run("FCALL push_and_pop 0"), "$1\r\nx\r\n");
    EXPECT_EQ(waits.take(), "");
}

TEST_F(ServerScripts, AScriptBelongsToNoConnection) {
    std::vector<std::string> errors;
    engine_.add_function("f", [&](server_script_run& s) {
        for (std::string_view const command : {"MULTI", "AUTH", "QUIT", "NOSUCH"})
            errors.push_back(s.run({command, "x"}).text());
        errors.push_back(s.run({"MULTI"}).text());
        errors.push_back(s.run({}).text());
        s.run({"SELECT", "3"});
        errors.push_back(s.run({"BLPOP", "none", "0"}).text());
        return s.run({"XREAD", "BLOCK", "0", "STREAMS", "none", "$"});
    });
    EXPECT_EQ(run("FCALL f 0"), "$-1\r\n");
    EXPECT_EQ(errors, (std::vector<std::string>{"ERR Wrong number of args calling Redis command from script",
                                                "ERR This Redis command is not allowed from script",
                                                "ERR This Redis command is not allowed from script",
                                                "ERR Unknown Redis command called from script",
                                                "ERR This Redis command is not allowed from script",
                                                "ERR Unknown Redis command called from script",
                                                "ERR This Redis command is not allowed from script"}));
    EXPECT_NE(run("CLIENT INFO").find(" db=0 "), std::string::npos);
    EXPECT_EQ(run("BLPOP none 0"), "") << "the client itself may wait again";
}

TEST_F(ServerScripts, ReadOnlyCallsWriteNothing) {
    engine_.add_function("f", [](server_script_run& s) { return s.run({"SET", "k", "v"}); });
    EXPECT_EQ(run("FCALL_RO f 0"), "-ERR Write commands are not allowed from read-only scripts.\r\n");
    EXPECT_EQ(run("FCALL f 0"), "+OK\r\n");
}

TEST_F(ServerScripts, AnExceptionIsAnErrorForTheClient) {
    engine_.add_function("f", [](server_script_run&) -> server_value { throw std::runtime_error("by design"); });
    EXPECT_EQ(run("FCALL f 0"), "-ERR Error running script: by design\r\n");
    EXPECT_EQ(run("PING"), "+PONG\r\n");
}

TEST_F(ServerScripts, AScriptThatFlushesTheScriptsGoesOn) {
    engine_.add_script("flush", [kept = std::string("still here")](server_script_run& s) {
        EXPECT_TRUE(s.run({"SCRIPT", "FLUSH"}).is_error()) << "not from a script";
        return kept;
    });
    EXPECT_EQ(run("EVAL flush 0"), "$10\r\nstill here\r\n");
}

TEST_F(ServerScripts, AScriptMayDoWhatItsUserMay) {
    engine_.add_function("f", [](server_script_run& s) { return s.run({"GET", s.arguments()[0]}); });
    run("ACL SETUSER u on nopass +fcall +get ~mine:*");
    run("AUTH u x");
    EXPECT_EQ(run("FCALL f 0 mine:1"), "$-1\r\n");
    EXPECT_EQ(run("FCALL f 0 other"),
              "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n");
}

} // namespace
