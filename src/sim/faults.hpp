// Decides what goes wrong. Each rule has a rate and a random stream of its own, so that switching one off leaves the
// others as they were. That makes a failing seed easy to shrink.
#pragma once

#include <fairlead/sim/random.hpp>
#include <fairlead/sim/rule.hpp>
#include <fairlead/sim/world.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::sim {

class faults {
public:
    /// Throws std::invalid_argument for settings that cannot be read.
    faults(std::uint64_t seed, std::string_view settings, counters& counts);

    std::uint32_t rate(rule r) const noexcept { return at(r).of_1024; }
    void set(rule r, std::uint32_t of_1024) noexcept;
    /// Draws how often.
    void allow(rule r) noexcept;
    void end() noexcept;

    /// Does it happen now?
    bool happens(rule r) noexcept {
        auto& one = at(r);
        return one.of_1024 != 0 && one.stream.chance(one.of_1024) && inject(r);
    }
    /// The stream for how it happens.
    random_stream& stream(rule r) noexcept { return at(r).stream; }

    std::uint64_t choose(std::string_view name, std::uint64_t least, std::uint64_t most);
    std::string description() const;

private:
    struct one_rule {
        std::uint32_t of_1024 = 0;
        bool fixed = false; ///< by the settings
        random_stream stream{0, 0};
    };
    struct choice {
        std::string name;
        std::uint64_t value;
    };

    one_rule& at(rule r) noexcept { return rules_[static_cast<std::size_t>(r)]; }
    one_rule const& at(rule r) const noexcept { return rules_[static_cast<std::size_t>(r)]; }
    bool inject(rule r) noexcept;

    std::uint64_t seed_;
    counters& counts_;
    std::uint64_t most_ = UINT64_MAX;
    one_rule rules_[rules];
    std::vector<choice> settings_; ///< for choose()
    std::vector<choice> chosen_;
};

/// 0 to n - 1 for ranges beyond 32 bits, too; 0 for n == 0.
std::uint64_t below(random_stream& r, std::uint64_t n) noexcept;

} // namespace fairlead::sim
