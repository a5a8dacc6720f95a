#include <fairlead/redis/cmd/functions.hpp>
#include <fairlead/redis/cmd/scripting.hpp>
#include <fairlead/redis/cmd/strings.hpp>
#include <fairlead/redis/script.hpp>
#include <fairlead/redis/unordered_pipeline.hpp>
#include <support/redis_command.hpp>

#include <gtest/gtest.h>

#include <string>

namespace fairlead::test {

namespace cmd = redis::cmd;

TEST(RedisScriptObject, HasTheDigestOfItsSource) {
    redis::script const s("return 1");
    EXPECT_EQ(s.source(), "return 1");
    EXPECT_EQ(s.sha1(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    redis::script const copy = s;
    EXPECT_EQ(copy.sha1().data(), s.sha1().data()) << "a copy is the same script";
}

TEST(RedisScriptObject, ACallHasTheDigestAndCanHaveTheSource) {
    redis::script const s("return 1");
    std::string const sha1(s.sha1());
    EXPECT_EQ(words_of(cmd::eval<long>(s)), "EVALSHA " + sha1 + " 0");
    EXPECT_EQ(words_of(cmd::eval<long>(s, {"a", "b"}, {1, "x"})), "EVALSHA " + sha1 + " 2 a b 1 x");
    EXPECT_EQ(words_of(cmd::eval<long>(s, "a", 1, "x", 2)), "EVALSHA " + sha1 + " 1 a 1 x 2");
    EXPECT_EQ(words_of(cmd::eval<long>(s, "a", 1, 2).with_source()), "EVAL return 1 1 a 1 2");
    EXPECT_EQ(words_of(cmd::eval_ro<long>(s, "a", 1, 2).with_source()), "EVAL_RO return 1 1 a 1 2");
    EXPECT_EQ(words_of(cmd::eval_ro<long>(s)), "EVALSHA_RO " + sha1 + " 0");
    EXPECT_EQ(result_of(cmd::eval<long>(s), ":7\r\n"), 7);
    EXPECT_EQ(error_of_result(cmd::eval<long>(s), "-NOSCRIPT no\r\n"), redis::error::no_script);
}

TEST(RedisScriptObject, ABatchHasTheSourceOfEachScriptOnce) {
    redis::script const one("return 1"), two("return 2");
    std::string const sha1(one.sha1());
    auto const all = redis::pipeline(cmd::eval<long>(one, "a"), cmd::incr("n"), cmd::eval<long>(one, "b"),
                                     cmd::eval<long>(two), cmd::eval<long>(redis::script("return 1"), "c"));
    EXPECT_EQ(words_of(all),
              "EVAL return 1 1 a; INCR n; EVALSHA " + sha1 + " 1 b; EVAL return 2 0; EVALSHA " + sha1 + " 1 c");
    EXPECT_EQ(words_of(redis::transaction(cmd::eval<long>(one), cmd::eval<long>(one))),
              "MULTI; EVAL return 1 0; EVALSHA " + sha1 + " 0; EXEC");
}

TEST(RedisScriptObject, AnUnorderedPipelineHasDigestsAndNamesAlone) {
    redis::script const s("return 1");
    redis::function_source const library("#!lua name=l");
    std::string const sha1(s.sha1());
    auto const all = redis::unordered_pipeline(cmd::eval<long>(s, "a"), cmd::incr("n"), cmd::fcall<long>(library, "f"),
                                               cmd::eval<long>(s));
    EXPECT_EQ(words_of(all.by_name()), "EVALSHA " + sha1 + " 1 a; INCR n; FCALL f 0; EVALSHA " + sha1 + " 0");
}

TEST(RedisScriptObject, ABatchThatFlushesScriptsHasTheSourceAgain) {
    redis::script const s("return 1");
    EXPECT_EQ(words_of(redis::pipeline(cmd::eval<long>(s), cmd::script_flush(), cmd::eval<long>(s))),
              "EVAL return 1 0; SCRIPT FLUSH; EVAL return 1 0");
}

TEST(RedisScriptObject, ABatchLoadsEachLibraryOnceAndBeforeItsTransaction) {
    redis::function_source const one("#!lua name=one"), two("#!lua name=two");
    auto const all = redis::pipeline(cmd::incr("n"), cmd::fcall<long>(one, "f"), cmd::fcall<long>(two, "g"),
                                     cmd::fcall<long>(redis::function_source("#!lua name=one"), "f"));
    EXPECT_EQ(words_of(all),
              "FUNCTION LOAD #!lua name=one; FUNCTION LOAD #!lua name=two; INCR n; FCALL f 0; FCALL g 0; FCALL f 0");
    EXPECT_EQ(words_of(redis::transaction(cmd::fcall<long>(one, "f"))),
              "FUNCTION LOAD #!lua name=one; MULTI; FCALL f 0; EXEC");
}

TEST(RedisScriptObject, AFunctionIsCalledByItsName) {
    redis::function_source const library("#!lua name=l");
    EXPECT_EQ(words_of(cmd::fcall<long>(library, "f", "k", 1)), "FCALL f 1 k 1");
    EXPECT_EQ(words_of(cmd::fcall<long>(library, "f", "k", 1, 2)), "FCALL f 1 k 1 2");
    EXPECT_EQ(words_of(cmd::fcall_ro<long>(library, "f")), "FCALL_RO f 0");
    EXPECT_EQ(words_of(cmd::fcall<long>(library, "f").with_source()), "FCALL f 0");
    EXPECT_EQ(words_of(redis::pipeline(cmd::fcall<long>(library, "f"))), "FUNCTION LOAD #!lua name=l; FCALL f 0");
}

} // namespace fairlead::test
