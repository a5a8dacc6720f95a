// The list of differences: well-formed, about drivers that exist, and no longer than the tests need.
#include "driver_under_test.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace fairlead::conformance {
namespace {

/// The differences that the tests of this folder ask for.
std::set<std::string> asked_for() {
    std::set<std::string> ids;
    for (auto const& entry : std::filesystem::directory_iterator(FAIRLEAD_SOURCE_DIR "/tests/conformance")) {
        if (entry.path().extension() != ".cpp")
            continue;
        std::ifstream file(entry.path());
        std::string const text{std::istreambuf_iterator<char>(file), {}};
        std::string const call = "differs(\""; // Not to be found in this line.
        for (auto at = text.find(call); at != text.npos; at = text.find(call, at + 1)) {
            auto const begin = at + call.size();
            ids.insert(text.substr(begin, text.find('"', begin) - begin));
        }
    }
    return ids;
}

TEST(Differences, EveryRowSaysAboutWhichDriverWhatWhyAndUntilWhen) {
    std::set<std::pair<std::string, std::string>> seen;
    for (auto const& d : read_differences()) {
        SCOPED_TRACE(d.id);
        EXPECT_TRUE(std::any_of(drivers().begin(), drivers().end(),
                                [&](driver_under_test const& each) { return d.driver == each.name; }))
            << "no driver is called " << d.driver;
        EXPECT_FALSE(d.what.empty());
        EXPECT_FALSE(d.why.empty());
        EXPECT_FALSE(d.until.empty());
        EXPECT_TRUE(seen.emplace(d.id, d.driver).second) << "twice";
    }
}

TEST(Differences, EveryRowIsAskedForByATest) {
    auto const asked = asked_for();
    for (auto const& d : read_differences())
        EXPECT_TRUE(asked.contains(d.id)) << "no test needs '" << d.id << "' any more: remove the row";
}

TEST(Differences, EveryQuestionHasARow) {
    auto const rows = read_differences();
    for (auto const& id : asked_for())
        EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](difference const& d) { return d.id == id; }))
            << "'" << id << "' is not listed in differences.md";
}

} // namespace
} // namespace fairlead::conformance
