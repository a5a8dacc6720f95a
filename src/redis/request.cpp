#include <fairlead/redis/request.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace fairlead::redis {
namespace {

using detail::confirmation;
using fitness = request::fitness;

enum class role : unsigned char { plain, confirmed, multi, exec, client, reads_stream };

struct special_command {
    std::string_view name; // in capitals
    role what;
    fitness fit;
    confirmation confirmed_by;
};

constexpr auto no = confirmation::none;

// Commands about which more must be known than that one reply answers them. Sorted by name.
constexpr special_command specials[] = {
    {"ASKING", role::plain, fitness::dedicated, no}, // concerns whatever command comes next
    {"AUTH", role::plain, fitness::dedicated, no},
    {"BLMOVE", role::plain, fitness::dedicated, no}, // blocking: all other callers would wait
    {"BLMPOP", role::plain, fitness::dedicated, no},
    {"BLPOP", role::plain, fitness::dedicated, no},
    {"BRPOP", role::plain, fitness::dedicated, no},
    {"BRPOPLPUSH", role::plain, fitness::dedicated, no},
    {"BZMPOP", role::plain, fitness::dedicated, no},
    {"BZPOPMAX", role::plain, fitness::dedicated, no},
    {"BZPOPMIN", role::plain, fitness::dedicated, no},
    {"CLIENT", role::client, fitness::shared, no},
    {"DISCARD", role::exec, fitness::shared, no},
    {"EXEC", role::exec, fitness::shared, no},
    {"HELLO", role::plain, fitness::never, no},   // changes the protocol under the parser
    {"MONITOR", role::plain, fitness::never, no}, // endless replies
    {"MULTI", role::multi, fitness::shared, no},
    {"PSUBSCRIBE", role::confirmed, fitness::shared, confirmation::psubscribe},
    {"PSYNC", role::plain, fitness::never, no}, // turns the connection into a replication stream
    {"PUNSUBSCRIBE", role::confirmed, fitness::shared, confirmation::punsubscribe},
    {"QUIT", role::plain, fitness::never, no},
    {"READONLY", role::plain, fitness::dedicated, no},
    {"READWRITE", role::plain, fitness::dedicated, no},
    {"REPLCONF", role::plain, fitness::never, no},
    {"RESET", role::plain, fitness::never, no}, // back to RESP2, database 0 and no user
    {"SELECT", role::plain, fitness::dedicated, no},
    {"SSUBSCRIBE", role::confirmed, fitness::shared, confirmation::ssubscribe},
    {"SUBSCRIBE", role::confirmed, fitness::shared, confirmation::subscribe},
    {"SUNSUBSCRIBE", role::confirmed, fitness::shared, confirmation::sunsubscribe},
    {"SYNC", role::plain, fitness::never, no},
    {"UNSUBSCRIBE", role::confirmed, fitness::shared, confirmation::unsubscribe},
    {"WAIT", role::plain, fitness::dedicated, no},
    {"WAITAOF", role::plain, fitness::dedicated, no},
    {"WATCH", role::plain, fitness::dedicated, no},
    {"XREAD", role::reads_stream, fitness::shared, no},
    {"XREADGROUP", role::reads_stream, fitness::shared, no},
};
static_assert(std::ranges::is_sorted(specials, {}, &special_command::name));

constexpr std::size_t name_bytes_max =
    std::ranges::max(specials, {}, [](auto& c) { return c.name.size(); }).name.size();

// For each first byte: which lengths (as bits) special names with it have. Rules out nearly all other commands.
constexpr auto special_lengths = [] {
    std::array<std::uint16_t, 256> table{};
    for (auto const& c : specials)
        for (char const first : {c.name[0], static_cast<char>(c.name[0] | 0x20)})
            table[static_cast<unsigned char>(first)] |= static_cast<std::uint16_t>(1U << c.name.size());
    return table;
}();
static_assert(name_bytes_max < 16);

bool may_be_special(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_bytes_max &&
           (special_lengths[static_cast<unsigned char>(name[0])] >> name.size() & 1U) != 0;
}

constexpr char capital(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; }

bool equals_any_case(std::string_view text, std::string_view capitals) noexcept {
    return std::ranges::equal(text, capitals, {}, capital);
}

special_command const* find_special(std::string_view name) noexcept {
    if (name.size() > name_bytes_max)
        return nullptr;
    char capitals[name_bytes_max];
    std::ranges::transform(name, capitals, capital);
    std::string_view const wanted(capitals, name.size());
    auto const* found = std::ranges::lower_bound(specials, wanted, {}, &special_command::name);
    return found != std::end(specials) && found->name == wanted ? found : nullptr;
}

/// Reads back the arguments of a command that was serialised.
class arguments_of {
public:
    explicit arguments_of(std::string_view command) noexcept : rest_(command), left_(number()) {}

    std::size_t left() const noexcept { return left_; }
    std::string_view next() noexcept {
        --left_;
        std::size_t const size = number();
        auto const text = rest_.substr(0, size);
        rest_.remove_prefix(size + 2);
        return text;
    }

private:
    /// After the type byte, up to CRLF.
    std::size_t number() noexcept {
        std::size_t n = 0;
        auto const* const begin = rest_.data() + 1;
        auto const* const end = std::from_chars(begin, rest_.data() + rest_.size(), n).ptr;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()) + 2);
        return n;
    }

    std::string_view rest_;
    std::size_t left_;
};

} // namespace

void request::clear() noexcept {
    payload_.clear();
    parts_.clear();
    commands_ = replies_ = 0;
    refused_ = {};
    fitness_ = fitness::shared;
    transaction_ = none;
}

void request::note(std::size_t start, std::string_view name) {
    if (may_be_special(name) || !parts_.empty()) [[unlikely]]
        return note_special(start, name);
    ++commands_;
    ++replies_;
}

void request::note_special(std::size_t start, std::string_view name) {
    auto const* const known = find_special(name);
    auto what = known ? known->what : role::plain;
    auto fit = known ? known->fit : fitness::shared;
    arguments_of arguments(std::string_view(payload_).substr(start));
    arguments.next();

    if (what == role::client && arguments.left() != 0 && equals_any_case(arguments.next(), "REPLY"))
        fit = fitness::never;
    if (what == role::reads_stream)
        while (arguments.left() != 0) {
            auto const word = arguments.next();
            if (equals_any_case(word, "STREAMS"))
                break; // keys follow
            if (equals_any_case(word, "BLOCK"))
                fit = fitness::dedicated;
        }
    // Inside a transaction its answer would be +QUEUED, and the confirmation a push in the place of an element.
    if (what == role::confirmed && transaction_ == open)
        fit = fitness::never;

    auto const before = parts_.size();
    try {
        if (what == role::confirmed) {
            if (parts_.empty() && replies_ != 0)
                parts_.push_back({static_cast<std::uint32_t>(replies_), confirmation::none});
            // Without arguments UNSUBSCRIBE is confirmed at least once; SUBSCRIBE is answered by an error.
            auto const count = static_cast<std::uint32_t>(std::max<std::size_t>(arguments.left(), 1));
            parts_.push_back({count, known->confirmed_by});
        } else if (!parts_.empty()) {
            if (parts_.back().kind == confirmation::none)
                ++parts_.back().count;
            else
                parts_.push_back({1, confirmation::none});
        }
    } catch (...) {
        parts_.resize(before);
        payload_.resize(start);
        throw;
    }
    ++commands_;
    if (what != role::confirmed)
        ++replies_;
    if (what == role::multi)
        transaction_ = open;
    if (what == role::exec)
        transaction_ = none;
    if (fit > fitness_) {
        fitness_ = fit;
        refused_ = known->name;
    }
}

} // namespace fairlead::redis
