#include <support/deadline.hpp>

#include <gtest/gtest.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace {

using fairlead::test::waiting_for;

/// The output of this program when it runs one of the tests below, and its status.
std::string said_by(std::string const& test, int& status) {
    // Where this run is one part of the program's tests, the one that hangs need not be in the same part.
    std::string const command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX -u GTEST_SHARD_STATUS_FILE "
                                "FAIRLEAD_TEST_DEADLINE=0.1 /proc/" +
                                std::to_string(::getpid()) +
                                "/exe --gtest_also_run_disabled_tests --gtest_filter=" + test + " 2>&1";
    std::string said;
    auto* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 512> part{};
    while (pipe && std::fgets(part.data(), part.size(), pipe))
        said += part.data();
    status = pipe ? WEXITSTATUS(::pclose(pipe)) : -1;
    return said;
}

TEST(Deadline, DISABLED_HangsInTheMiddle) {
    waiting_for const w("a reply that never comes");
    for (;;)
        ::pause();
}

TEST(Deadline, DISABLED_HangsAfterAWaitThatEnded) {
    {
        waiting_for const w("what has come");
    }
    for (;;)
        ::pause();
}

TEST(Deadline, TestThatHangsSaysItsNameAndWhatItWaitedFor) {
    int status = 0;
    auto const said = said_by("Deadline.DISABLED_HangsInTheMiddle", status);
    EXPECT_EQ(status, 124) << said;
    EXPECT_NE(said.find("[  FAILED  ] Deadline.DISABLED_HangsInTheMiddle has not ended by its deadline"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("It waits for a reply that never comes."), std::string::npos) << said;
}

TEST(Deadline, WaitThatHasEndedIsNotNamed) {
    int status = 0;
    auto const said = said_by("Deadline.DISABLED_HangsAfterAWaitThatEnded", status);
    EXPECT_EQ(status, 124) << said;
    EXPECT_EQ(said.find("It waits for"), std::string::npos) << said;
}

} // namespace
