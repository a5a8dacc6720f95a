// The values that the embedded server's keys hold. Sorted containers, so that listing one never depends on a hash.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead::redis::server_impl {

using hash_value = std::map<std::string, std::string, std::less<>>;
using list_value = std::deque<std::string>;
using set_value = std::set<std::string, std::less<>>;

/// A sorted set: members with their scores, and the pairs of both in the order of the set.
class sorted_set_value {
public:
    using rank_set = std::set<std::pair<double, std::string>>;

    bool empty() const noexcept { return scores_.empty(); }
    std::size_t size() const noexcept { return scores_.size(); }
    rank_set const& ranked() const noexcept { return ranked_; }
    std::map<std::string, double, std::less<>> const& scores() const noexcept { return scores_; }
    double const* score(std::string_view member) const {
        auto const at = scores_.find(member);
        return at == scores_.end() ? nullptr : &at->second;
    }
    /// Returns whether the member is new.
    bool set(std::string_view member, double score) {
        auto const [at, is_new] = scores_.try_emplace(std::string(member), score);
        if (!is_new) {
            ranked_.erase({at->second, at->first});
            at->second = score;
        }
        ranked_.emplace(score, at->first);
        return is_new;
    }
    bool erase(std::string_view member) {
        auto const at = scores_.find(member);
        if (at == scores_.end())
            return false;
        ranked_.erase({at->second, at->first});
        scores_.erase(at);
        return true;
    }

private:
    std::map<std::string, double, std::less<>> scores_;
    rank_set ranked_;
};

/// The members that a HyperLogLog of Redis estimates are kept here, and counted exactly.
struct counted_value {
    std::set<std::string, std::less<>> members;
};

struct stream_id {
    std::uint64_t ms = 0;
    std::uint64_t seq = 0;
    auto operator<=>(stream_id const&) const = default;
    static constexpr stream_id max() noexcept { return {~std::uint64_t{0}, ~std::uint64_t{0}}; }
    std::string text() const { return std::to_string(ms) + "-" + std::to_string(seq); }
};

/// One entry that a consumer has read and not acknowledged.
struct pending_entry {
    std::string consumer;
    std::int64_t delivered_at = 0; // milliseconds of the engine's clock
    std::int64_t deliveries = 1;
};

struct stream_consumer {
    std::int64_t seen_at = 0;
    std::size_t pending = 0;
};

struct stream_group {
    stream_id last_delivered;
    std::optional<std::uint64_t> entries_read; // nothing when it cannot be known
    std::map<stream_id, pending_entry> pending;
    std::map<std::string, stream_consumer, std::less<>> consumers;
};

struct stream_value {
    std::map<stream_id, std::vector<std::string>> entries; // fields and values by turns
    stream_id last_id;
    stream_id max_deleted_id;
    std::uint64_t entries_added = 0;
    std::map<std::string, stream_group, std::less<>> groups;
};

using value =
    std::variant<std::string, hash_value, list_value, set_value, sorted_set_value, stream_value, counted_value>;

/// As TYPE names it.
std::string_view type_name(value const& held) noexcept;

/// Collections without elements do not exist as keys. Strings and streams do.
bool is_gone(value const& held) noexcept;

inline constexpr std::int64_t no_expiry = std::numeric_limits<std::int64_t>::max();

struct entry {
    value held;
    std::int64_t expires_at = no_expiry; // milliseconds of the engine's clock
};

struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
using database = std::unordered_map<std::string, entry, text_hash, std::equal_to<>>;

} // namespace fairlead::redis::server_impl
