#include "command_table.hpp"

#include "command_entry.hpp"
#include "commands.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>

namespace fairlead::redis::impl {

namespace said {

constexpr command_facts table[] = {
#define FAIRLEAD_COMMAND(...) command(__VA_ARGS__),
#define FAIRLEAD_COMMAND_OF(...)
#include "command_table.inc"
#undef FAIRLEAD_COMMAND
#undef FAIRLEAD_COMMAND_OF
};

static_assert(std::ranges::is_sorted(table, {}, &command_facts::name));

constexpr std::size_t bytes_of_names() {
    std::size_t n = 0;
    for (auto const& each : table)
        n += each.name.size() + 1;
    return n;
}

} // namespace said

namespace {

constexpr std::string_view keywords[] = {"", "KEYS", "STORE", "STOREDIST", "STREAMS"};
static_assert(std::size(keywords) == static_cast<std::size_t>(keyword::STREAMS) + 1);
constexpr std::string_view text_of(keyword word) noexcept { return keywords[static_cast<std::size_t>(word)]; }

constexpr std::uint32_t hashed(std::uint32_t h, std::string_view text) noexcept {
    for (char const c : text)
        h = (h ^ static_cast<unsigned char>(capital(c))) * 16777619U; // FNV-1a
    return h;
}
/// Of a name, a space and a subcommand, as if they were one text in capitals.
constexpr std::uint32_t hash_of(std::string_view name, std::string_view subcommand = {}) noexcept {
    auto const h = hashed(2166136261U, name);
    return subcommand.empty() ? h : hashed(hashed(h, " "), subcommand);
}

constexpr std::size_t slot_count = 1024;
constexpr std::size_t slot_of(std::uint32_t hash) noexcept { return (hash >> 16) % slot_count; }

/// In the slot of a command's hash, or behind that, stands its place in the table, counted from 1. 0: an empty slot.
struct slot_table {
    std::array<std::uint16_t, slot_count> places{};
    std::size_t steps_max = 0;
};
constexpr slot_table slots = [] {
    slot_table t;
    for (std::size_t place = 1; place <= std::size(said::table); ++place) {
        auto slot = slot_of(hash_of(said::table[place - 1].name));
        std::size_t steps = 1;
        for (; t.places[slot] != 0; slot = (slot + 1) % slot_count)
            ++steps;
        t.places[slot] = static_cast<std::uint16_t>(place);
        t.steps_max = std::max(t.steps_max, steps);
    }
    return t;
}();
static_assert(slots.steps_max <= 8, "choose another number of slots");
static_assert(sizeof(said::table) + said::bytes_of_names() + sizeof(slots) < 48 * 1024,
              "it is too much of the library");

constexpr std::size_t name_bytes_max =
    std::ranges::max(said::table, {}, [](auto& c) { return c.name.size(); }).name.size();

constexpr bool is_named(std::string_view text, std::string_view name, std::string_view subcommand) noexcept {
    if (subcommand.empty()) // A space within a word is no space between two.
        return equals_capitals(name, text) && text.find(' ') == text.npos;
    return text.size() == name.size() + 1 + subcommand.size() && equals_capitals(name, text.substr(0, name.size())) &&
           text[name.size()] == ' ' && equals_capitals(subcommand, text.substr(name.size() + 1));
}

/// A number of keys, as servers read it: no sign, no leading zero. False: it is none.
bool read_number(std::string_view text, std::size_t& into) noexcept {
    if (text.empty() || text.front() < '0' || text.front() > '9' || (text.front() == '0' && text.size() > 1))
        return false;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), into);
    return ec == std::errc{} && end == text.data() + text.size();
}

bool fits(command_facts const& command, std::size_t words) noexcept {
    auto const n = static_cast<std::size_t>(command.arity < 0 ? -command.arity : command.arity);
    return command.arity < 0 ? words >= n : words == n;
}

} // namespace

command_facts const* facts_of(std::string_view name, std::string_view subcommand) noexcept {
    if (name.size() > name_bytes_max || subcommand.size() > name_bytes_max)
        return nullptr;
    // At most steps_max rounds for a command, and not many more for what is none.
    for (auto slot = slot_of(hash_of(name, subcommand)); slots.places[slot] != 0; slot = (slot + 1) % slot_count)
        if (auto const& facts = said::table[slots.places[slot] - 1U]; is_named(facts.name, name, subcommand))
            return &facts;
    return nullptr;
}

command_facts const* facts_of_words(std::span<std::string_view const> words) noexcept {
    if (words.empty())
        return nullptr;
    auto const* const found = facts_of(words[0]);
    // An empty second word is none of a subcommand, and would be taken for its absence.
    if (!found || !is_container(*found) || words.size() == 1)
        return found;
    return words[1].empty() ? nullptr : facts_of(words[0], words[1]);
}

std::span<command_facts const> all_command_facts() noexcept { return said::table; }

key_walk::key_walk(command_facts const& command, std::span<std::string_view const> words, key_places places) noexcept
    : words_(words),
      specs_(command.keys()),
      places_(places) {
    if (!fits(command, words.size()))
        refuse();
    else if (specs_.empty() && command.has(flag::movablekeys))
        known_ = known_keys::some;
}

std::size_t key_walk::next() noexcept {
    // At most one round for each specification.
    while (left_ == 0) {
        if (has_begun_)
            specs_ = specs_.subspan(1);
        has_begun_ = !specs_.empty();
        if (!has_begun_)
            return 0;
        begin(specs_.front());
    }
    --left_;
    auto const index = next_;
    next_ += spec().key_step;
    return index;
}

void key_walk::begin(key_spec const& spec) noexcept {
    if (spec.has(key::not_key) && places_ == key_places::keys)
        return;
    if (spec.has(key::incomplete) || spec.begin_search == key_spec::begin::unknown ||
        spec.find_keys == key_spec::find::unknown)
        known_ = known_keys::some;
    auto const first = beginning_of(spec);
    if (first == 0)
        return;
    if (spec.find_keys == key_spec::find::range)
        take_range(spec, first);
    else if (spec.find_keys == key_spec::find::keynum)
        take_counted(spec, first);
}

/// 0: nowhere. That is well where the arity allows it.
std::size_t key_walk::beginning_of(key_spec const& spec) const noexcept {
    auto const count = static_cast<std::ptrdiff_t>(words_.size());
    if (spec.begin_search == key_spec::begin::index)
        return spec.position < count ? static_cast<std::size_t>(spec.position) : 0;
    if (spec.begin_search != key_spec::begin::keyword)
        return 0;
    // Neither the name nor the last word: nothing would stand behind it. A negative position searches backwards.
    std::ptrdiff_t const step = spec.position < 0 ? -1 : 1;
    for (auto i = spec.position < 0 ? count + spec.position : spec.position; i > 0 && i < count - 1; i += step)
        if (equals_capitals(words_[static_cast<std::size_t>(i)], text_of(spec.word)))
            return static_cast<std::size_t>(i) + 1;
    return 0;
}

void key_walk::take_range(key_spec const& spec, std::size_t first) noexcept {
    auto const count = static_cast<std::ptrdiff_t>(words_.size());
    auto const from = static_cast<std::ptrdiff_t>(first);
    auto const last = spec.last_key >= 0 ? from + spec.last_key
                      : spec.limit > 1   ? from + (count - from) / spec.limit + spec.last_key
                                         : count + spec.last_key;
    if (last < from || last >= count)
        return refuse();
    next_ = first;
    left_ = static_cast<std::size_t>(last - from) / spec.key_step + 1;
}

void key_walk::take_counted(key_spec const& spec, std::size_t from) noexcept {
    auto const at = from + static_cast<std::size_t>(spec.keynum_index);
    std::size_t n = 0;
    if (at >= words_.size() || !read_number(words_[at], n))
        return refuse();
    next_ = from + static_cast<std::size_t>(spec.first_key);
    if (n == 0)
        return;
    if (next_ >= words_.size() || n - 1 > (words_.size() - 1 - next_) / spec.key_step)
        return refuse();
    left_ = n;
}

void key_walk::refuse() noexcept {
    known_ = known_keys::malformed;
    specs_ = {};
    has_begun_ = false;
    left_ = 0;
}

} // namespace fairlead::redis::impl
