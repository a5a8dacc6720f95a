// The trace of a simulated run as a person reads it: a line for each event, in words.
#include <sim/trace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace {

using fairlead::sim::trace;
using fairlead::sim::what;

std::string host_name(std::uint32_t number) { return "host" + std::to_string(number); }

/// The line of an event at one and a half seconds on host 3.
std::string line_of(what w) {
    auto const t = std::make_unique<trace>(1);
    t->note(1'500'000'000, 3, w, 7, 9);
    return t->last_lines(host_name);
}

TEST(SimTrace, EveryEventHasWordsOfItsOwn) {
    std::set<std::string> lines;
    int events = 0;
    for (int i = 0; i != static_cast<int>(what::text); ++i) {
        auto const w = static_cast<what>(i);
        if (w == what::jump || i == static_cast<int>(what::lost) - 1) // No event has that number.
            continue;
        auto const line = line_of(w);
        EXPECT_TRUE(line.starts_with("  1.500000000 s  host3  ")) << line;
        EXPECT_EQ(line.find('?'), std::string::npos) << line;
        lines.insert(line);
        ++events;
    }
    EXPECT_EQ(lines.size(), static_cast<std::size_t>(events));
}

TEST(SimTrace, SaysOfWhichSocketAndHowMuch) {
    EXPECT_EQ(line_of(what::sent), "  1.500000000 s  host3  #7 sent, bytes 9\n");
    EXPECT_EQ(line_of(what::refused), "  1.500000000 s  host3  #7 refused, error 9\n");
    EXPECT_EQ(line_of(what::finished), "  1.500000000 s  host3  #7 end of stream\n");
    EXPECT_EQ(line_of(what::cut), "  1.500000000 s  host3  cannot reach any more, host 9\n");
    EXPECT_EQ(line_of(what::starved), "  1.500000000 s  host3  7 ns without a turn\n");
    EXPECT_EQ(line_of(what::crashed), "  1.500000000 s  host3  crashed\n");
}

TEST(SimTrace, ThatTimePassedIsNoLineAndYetMakesRunsDiffer) {
    EXPECT_EQ(line_of(what::jump), "");
    trace one(1), other(1);
    one.note(5, 0, what::jump, 0);
    EXPECT_NE(one.digest(), other.digest());
}

TEST(SimTrace, KeepsTheLastLinesAndTheTextsOfTheLastNotes) {
    auto const t = std::make_unique<trace>(1);
    for (int i = 0; i != 100; ++i)
        t->note(1, 0, "note " + std::to_string(i));
    auto lines = t->last_lines(host_name);
    EXPECT_NE(lines.find("note 36\n"), std::string::npos);
    EXPECT_EQ(lines.find("note 35\n"), std::string::npos) << "its text has been forgotten";
    EXPECT_TRUE(lines.starts_with("  0.000000001 s  host0  (a note)\n")) << lines;
    for (int i = 0; i != 200; ++i)
        t->note(2, 1, what::order, 0);
    lines = t->last_lines(host_name);
    EXPECT_EQ(lines.find("note"), std::string::npos);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 200);
}

} // namespace
