#include "faults.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace fairlead::sim {
namespace {

struct kind_of_rule {
    std::string_view name;
    std::uint32_t seldom, often; ///< of 1024
};

// A world is good, a little bad or bad, for each rule apart: what is always a little bad finds less.
constexpr kind_of_rule kinds[rules] = {
    {"reorder", 512, 1024},
    {"not_ready", 100, 500},
    {"short_read", 100, 700},
    {"short_write", 100, 700},
    {"late_cancel", 200, 800},
    {"spike", 32, 100},
    {"starve", 2, 20},
    {"loss", 5, 50},
    {"copy", 5, 50},
    {"overtaken", 20, 200},
    {"reset", 1, 8},
    {"refuse", 50, 300},
    {"unreachable", 20, 200},
    {"unanswered", 20, 200},
    {"accept_error", 20, 200},
    {"no_buffers", 2, 20},
    {"no_descriptor", 10, 100},
    {"look_up_failure", 50, 400},
    {"look_up_delay", 50, 300},
    {"disk_error", 5, 50},
    {"disk_full", 5, 50},
};
static_assert(kinds[rules - 1].often != 0, "a row for each rule");

std::uint64_t hash_of(std::string_view text) noexcept { // FNV-1a: the same everywhere
    std::uint64_t h = 0xcbf29ce484222325U;
    for (char const c : text)
        h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return h;
}

constexpr std::uint64_t purpose_of_rules = 100;

} // namespace

std::string_view name_of(rule r) noexcept { return kinds[static_cast<std::size_t>(r)].name; }

std::uint64_t below(random_stream& r, std::uint64_t n) noexcept {
    auto const v = r.next();
    return n == 0 ? 0 : v % n; // Uneven by less than n / 2^64.
}

faults::faults(std::uint64_t seed, std::string_view settings, counters& counts) : seed_(seed), counts_(counts) {
    for (std::size_t i = 0; i != rules; ++i) {
        rules_[i].stream = random_stream(seed, purpose_of_rules + i);
        if (i < first_drastic_rule)
            allow(static_cast<rule>(i));
    }
    while (!settings.empty()) {
        auto const one = settings.substr(0, settings.find(','));
        settings.remove_prefix(std::min(one.size() + 1, settings.size()));
        auto const equals = one.find('=');
        auto const name = one.substr(0, equals);
        std::uint64_t value = 0;
        auto const text = equals == one.npos ? std::string_view() : one.substr(equals + 1);
        auto const r = std::from_chars(text.data(), text.data() + text.size(), value);
        if (name.empty() || text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
            throw std::invalid_argument("sim::world: cannot read the setting \"" + std::string(one) +
                                        "\"; expected name=number,name=number");
        auto const* const kind =
            std::find_if(std::begin(kinds), std::end(kinds), [&](kind_of_rule const& k) { return k.name == name; });
        if (kind != std::end(kinds)) {
            if (value > always)
                throw std::invalid_argument("sim::world: " + std::string(one) + ": a rate is at most 1024 (of 1024)");
            auto& one_of_them = rules_[kind - std::begin(kinds)];
            one_of_them.of_1024 = static_cast<std::uint32_t>(value);
            one_of_them.fixed = true;
        } else if (name == "faults") {
            most_ = value;
        } else {
            settings_.push_back({std::string(name), value});
        }
    }
}

void faults::set(rule r, std::uint32_t of_1024) noexcept {
    if (!at(r).fixed)
        at(r).of_1024 = std::min(of_1024, always);
}

void faults::allow(rule r) noexcept {
    auto const& k = kinds[static_cast<std::size_t>(r)];
    auto const kind = at(r).stream.below(3);
    set(r, kind == 0 ? 0 : kind == 1 ? k.seldom : k.often);
}

void faults::end() noexcept {
    for (auto& one : rules_)
        one.of_1024 = 0;
}

bool faults::inject(rule r) noexcept {
    if (counts_.faults >= most_)
        return false;
    ++counts_.faults;
    ++counts_.injected[static_cast<std::size_t>(r)];
    return true;
}

std::uint64_t faults::choose(std::string_view name, std::uint64_t least, std::uint64_t most) {
    random_stream stream(seed_, hash_of(name));
    auto value = most > least ? least + below(stream, most - least + 1) : least;
    auto const named = [&](choice const& c) { return c.name == name; };
    if (auto const i = std::find_if(settings_.begin(), settings_.end(), named); i != settings_.end())
        value = std::clamp(i->value, least, std::max(least, most));
    if (std::none_of(chosen_.begin(), chosen_.end(), named))
        chosen_.push_back({std::string(name), value});
    return value;
}

std::string faults::description() const {
    std::string text = "rules (of 1024):";
    for (std::size_t i = 0; i != rules; ++i)
        if (rules_[i].of_1024 != 0)
            text += ' ' + std::string(kinds[i].name) + '=' + std::to_string(rules_[i].of_1024);
    if (most_ != UINT64_MAX)
        text += " faults=" + std::to_string(most_);
    if (!chosen_.empty()) {
        text += "\nchosen:";
        for (auto const& c : chosen_)
            text += ' ' + c.name + '=' + std::to_string(c.value);
    }
    return text;
}

} // namespace fairlead::sim
