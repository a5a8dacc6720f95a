#include "command_table.hpp"

#include "command_entry.hpp"
#include "commands.hpp"

#include <algorithm>
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
static_assert(sizeof(table) + bytes_of_names() < 48 * 1024, "the table takes too much of the library");

} // namespace said

namespace {

constexpr std::string_view keywords[] = {"", "KEYS", "STORE", "STOREDIST", "STREAMS"};
static_assert(std::size(keywords) == static_cast<std::size_t>(keyword::STREAMS) + 1);
constexpr std::string_view text_of(keyword word) noexcept { return keywords[static_cast<std::size_t>(word)]; }

/// A name and a subcommand, read as if they were one text in capitals with a space between them.
struct wanted {
    std::string_view name, subcommand;

    constexpr std::size_t size() const noexcept { return name.size() + !subcommand.empty() + subcommand.size(); }
    constexpr unsigned char at(std::size_t i) const noexcept {
        if (i < name.size())
            return static_cast<unsigned char>(capital(name[i]));
        if (i == name.size())
            return ' ';
        return static_cast<unsigned char>(capital(subcommand[i - name.size() - 1]));
    }
    /// As std::string_view::compare() of the whole text.
    constexpr int compare(std::string_view text) const noexcept {
        std::size_t const both = std::min(size(), text.size());
        for (std::size_t i = 0; i != both; ++i)
            if (at(i) != static_cast<unsigned char>(text[i]))
                return at(i) < static_cast<unsigned char>(text[i]) ? -1 : 1;
        return size() == text.size() ? 0 : size() < text.size() ? -1 : 1;
    }
};

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
    wanted const text{name, subcommand};
    auto const* const found = std::ranges::partition_point(
        said::table, [&](std::string_view each) { return text.compare(each) > 0; }, &command_facts::name);
    if (found == std::end(said::table) || text.compare(found->name) != 0)
        return nullptr;
    // A space within a word is no space between two.
    return found->name.find(' ') == (subcommand.empty() ? found->name.npos : name.size()) ? found : nullptr;
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
