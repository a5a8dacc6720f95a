// Files of a simulated host: what a kill leaves, what a crash takes.
#include <fairlead/sim/world.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using namespace fairlead;
using sim::rule;
using sim::world;

std::string content(sim::disk const& d, std::string_view path) {
    std::string text;
    auto const ec = d.read(path, text);
    return ec ? ec.message() : text;
}

TEST(SimDisk, KeepsFilesByName) {
    world w(1);
    auto& d = w.add_host("h").disk();
    std::string text;
    EXPECT_EQ(d.read("a", text), std::errc::no_such_file_or_directory);
    EXPECT_EQ(d.sync("a"), std::errc::no_such_file_or_directory);
    EXPECT_EQ(d.remove("a"), std::errc::no_such_file_or_directory);
    EXPECT_EQ(d.rename("a", "b"), std::errc::no_such_file_or_directory);
    EXPECT_FALSE(d.write("b", 2, "xyz"));
    EXPECT_FALSE(d.append("b", "!"));
    EXPECT_EQ(content(d, "b"), std::string("\0\0xyz!", 6));
    EXPECT_FALSE(d.write("b", 0, "123"));
    EXPECT_EQ(content(d, "b"), "123yz!");
    EXPECT_FALSE(d.resize("b", 2));
    EXPECT_EQ(content(d, "b"), "12");
    EXPECT_FALSE(d.append("a", "first"));
    EXPECT_EQ(d.names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_FALSE(d.rename("b", "a"));
    EXPECT_EQ(content(d, "a"), "12");
    EXPECT_FALSE(d.exists("b"));
    EXPECT_FALSE(d.remove("a"));
    EXPECT_TRUE(d.names().empty());
}

TEST(SimDisk, KillLosesNothing) {
    world w(1);
    auto& h = w.add_host("h");
    EXPECT_FALSE(h.disk().append("log", "one"));
    h.kill();
    h.restart();
    EXPECT_EQ(content(h.disk(), "log"), "one");
}

TEST(SimDisk, CrashLosesWhatWasNotSyncedAndNothingElse) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        world w(seed);
        auto& h = w.add_host("h");
        auto& d = h.disk();
        EXPECT_FALSE(d.append("log", "durable "));
        EXPECT_FALSE(d.sync("log"));
        EXPECT_FALSE(d.append("log", "ab"));
        EXPECT_FALSE(d.append("log", "cd"));
        EXPECT_EQ(content(d, "log"), "durable abcd");
        h.crash();
        h.restart();
        auto const left = content(d, "log");
        EXPECT_EQ(left.substr(0, 8), "durable ");
        seen.insert(left.substr(8));
        h.crash(); // The data found after the first is on the disk.
        EXPECT_EQ(content(d, "log"), left);
    }
    for (auto const* possible : {"", "a", "ab", "abc", "abcd"})
        EXPECT_TRUE(seen.count(possible)) << possible;
    EXPECT_TRUE(seen.count(std::string("\0\0cd", 4))); // the later without the earlier
}

TEST(SimDisk, RenameDoesNotMakeContentDurable) {
    bool empty = false, whole = false;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        world w(seed);
        auto& h = w.add_host("h");
        auto& d = h.disk();
        EXPECT_FALSE(d.append("config.new", "new"));
        EXPECT_FALSE(d.rename("config.new", "config"));
        h.crash();
        empty = empty || content(d, "config").empty();
        whole = whole || content(d, "config") == "new";
    }
    EXPECT_TRUE(empty);
    EXPECT_TRUE(whole);
}

TEST(SimDisk, FailsWhereTheRulesSay) {
    world w(1);
    auto& d = w.add_host("h").disk();
    EXPECT_FALSE(d.append("log", "12345"));
    d.capacity(8);
    EXPECT_EQ(d.append("log", "6789"), std::errc::no_space_on_device);
    EXPECT_EQ(d.resize("log", 9), std::errc::no_space_on_device);
    EXPECT_FALSE(d.append("log", "678"));
    EXPECT_EQ(content(d, "log"), "12345678");
    w.set(rule::disk_error, sim::always);
    std::string text;
    EXPECT_EQ(d.read("log", text), std::errc::io_error);
    EXPECT_EQ(d.write("log", 0, "x"), std::errc::io_error);
    EXPECT_EQ(d.sync("log"), std::errc::io_error);
    w.set(rule::disk_error, 0);
    EXPECT_EQ(content(d, "log"), "12345678");
    EXPECT_FALSE(d.sync("log"));
    w.set(rule::disk_full, sim::always);
    EXPECT_EQ(d.append("other", "x"), std::errc::no_space_on_device);
    EXPECT_EQ(w.counts().of(rule::disk_error), 3U);
}

} // namespace
