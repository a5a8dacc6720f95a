#include <fairlead/io/localhost.hpp>

#include <gtest/gtest.h>

namespace {

using fairlead::io::is_localhost;

TEST(Localhost, IsItsNameAndEveryNameBelowInAnyCaseWithOrWithoutTheRoot) {
    for (auto const* name : {"localhost", "localhost.", "LOCALHOST", "LocalHost.", "a.localhost", "a.b.localhost."})
        EXPECT_TRUE(is_localhost(name)) << name;
}

TEST(Localhost, IsNoOtherName) {
    for (auto const* name : {"", ".", "localhos", "localhost..", ".localhost", "notlocalhost", "my-localhost",
                             "localhost.example", "ip6-localhost", "127.0.0.1", "host", "l0calhost"})
        EXPECT_FALSE(is_localhost(name)) << name;
}

} // namespace
