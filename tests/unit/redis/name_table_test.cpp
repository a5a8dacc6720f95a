// A table by name beside that of the standard library.
#include <redis/name_table.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace fairlead::test {
namespace {

TEST(RedisNameTable, DoesWhatAMapDoes) {
    for (unsigned seed = 1; seed != 20; ++seed) {
        std::mt19937 random(seed);
        redis::impl::name_table<int> table;
        std::map<std::string, int> model;
        for (int step = 0; step != 4000; ++step) {
            auto const n = random() % 150;
            auto const name = std::string(n % 20, 'x') + std::to_string(n);
            switch (random() % (step < 2000 ? 4U : 2U)) {
            case 0:
                table.erase(name);
                model.erase(name);
                break;
            case 1: {
                auto const* const found = table.find(name);
                auto const expected = model.find(name);
                ASSERT_EQ(found != nullptr, expected != model.end()) << "seed " << seed << ", " << name;
                if (found) {
                    ASSERT_EQ(*found, expected->second);
                }
                break;
            }
            default:
                table[name] = step;
                model[name] = step;
                break;
            }
            ASSERT_EQ(table.size(), model.size());
        }
        std::map<std::string, int> all;
        table.for_each([&](std::string_view name, int value) { all.emplace(name, value); });
        ASSERT_EQ(all, model) << "seed " << seed;
    }
}

TEST(RedisNameTable, NamesOfAnyLengthAreTheSameOnlyWithAllTheirLetters) {
    for (std::size_t n = 0; n != 70; ++n) {
        std::string const name(n, 'a');
        EXPECT_TRUE(redis::impl::is_same_name(name, std::string(n, 'a'))) << n;
        EXPECT_FALSE(redis::impl::is_same_name(name, name + 'a')) << n;
        EXPECT_FALSE(redis::impl::is_same_name(name + 'a', name)) << n;
        for (std::size_t i = 0; i != n; ++i) {
            auto other = name;
            other[i] = 'b';
            EXPECT_FALSE(redis::impl::is_same_name(name, other)) << n << ", " << i;
        }
    }
}

/// Of 1,000 in 2,048 places about 790 are in one of their own when they fall by chance.
TEST(RedisNameTable, NamesThatDifferInTheirLastLettersFallApart) {
    for (auto const* prefix : {"", "c", "channel", "channel:", "prices.of.", "a.channel.with.a.long.name."}) {
        std::set<std::size_t> places;
        for (int i = 0; i != 1000; ++i)
            places.insert((redis::impl::hash_of_name(prefix + std::to_string(i)) >> 32) % 2048);
        EXPECT_GT(places.size(), 740U) << prefix;
    }
}

TEST(RedisNameTable, EmptyOnesAndEmptyNamesAreFine) {
    redis::impl::name_table<int> table;
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.find(""), nullptr);
    table.erase("");
    table[""] = 7;
    ASSERT_NE(table.find(""), nullptr);
    EXPECT_EQ(*table.find(""), 7);
    table[""] = 8;
    EXPECT_EQ(table.size(), 1U);
    table.erase("");
    EXPECT_EQ(table.find(""), nullptr);
    EXPECT_TRUE(table.empty());
}

} // namespace
} // namespace fairlead::test
