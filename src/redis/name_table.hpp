// A table by name, for the way of each message to its subscription.
//
// The names lie in the table itself, and the hash tells nearly all others apart: a look-up reads one place as a rule.
// That of the standard library divides, and follows two pointers.
#pragma once

#include <fairlead/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::redis::impl {

/// Of names that the program chose: it need not resist anybody. Never 0.
inline std::size_t hash_of_name(std::string_view name) noexcept {
    constexpr std::size_t word = sizeof(std::uint64_t);
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    auto const mixed = [](std::uint64_t h, char const* at, std::size_t n) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, at, n);
        h = (h ^ bytes) * odd;
        return h ^ (h >> 29);
    };
    std::uint64_t h = name.size() * odd;
    auto const* at = name.data();
    auto left = name.size();
    for (; left > word; left -= word, at += word)
        h = mixed(h, at, word);
    if (name.size() >= word) { // The last word may overlap the one before it.
        h = mixed(h, name.data() + name.size() - word, word);
    } else {
        for (; left >= 4; left -= 4, at += 4)
            h = mixed(h, at, 4);
        for (; left != 0; --left, ++at)
            h = mixed(h, at, 1);
    }
    // A product's low bits know nothing of the high ones of its factors, where the last letters of a name are.
    return static_cast<std::size_t>(((h ^ (h >> 32)) * odd) | 1);
}

/// As a == b, without a call for short names.
inline bool is_same_name(std::string_view a, std::string_view b) noexcept {
    auto const n = a.size();
    if (n != b.size())
        return false;
    auto const differ = [a, b](auto word, std::size_t at) {
        auto other = word;
        std::memcpy(&word, a.data() + at, sizeof word);
        std::memcpy(&other, b.data() + at, sizeof other);
        return word ^ other;
    };
    // The last word may overlap the first one.
    if (n >= 8)
        return n <= 16 ? (differ(std::uint64_t{}, 0) | differ(std::uint64_t{}, n - 8)) == 0
                       : std::memcmp(a.data(), b.data(), n) == 0;
    if (n >= 4)
        return (differ(std::uint32_t{}, 0) | differ(std::uint32_t{}, n - 4)) == 0;
    for (std::size_t i = 0; i != n; ++i)
        if (a[i] != b[i])
            return false;
    return true;
}

/// Values by their names. Adding and erasing move others.
template <class Value> class name_table {
public:
    bool empty() const noexcept { return count_ == 0; }
    std::size_t size() const noexcept { return count_; }

    /// Null: there is none.
    Value* find(std::string_view name) noexcept { return find(name, hash_of_name(name)); }
    /// With its hash.
    FAIRLEAD_ALWAYS_INLINE Value* find(std::string_view name, std::size_t hash) noexcept {
        if (count_ == 0)
            return nullptr;
        for (auto i = place_of(hash);; i = next(i)) {
            auto& p = places_[i];
            if (p.hash == hash && is_same_name(p.name, name)) [[likely]]
                return &p.value;
            if (p.hash == 0)
                return nullptr;
        }
    }
    /// A find() with this hash comes soon.
    FAIRLEAD_ALWAYS_INLINE void expect(std::size_t hash) const noexcept {
        if (count_ != 0)
            __builtin_prefetch(&places_[place_of(hash)]);
    }
    /// One of this name, which may be new.
    /// Throws     bad_alloc: nothing has changed
    Value& operator[](std::string_view name) {
        if (auto* const there = find(name))
            return *there;
        std::string copy(name);
        if (2 * (count_ + 1) > places_.size())
            grow();
        auto& p = free_place_for(hash_of_name(name));
        p.hash = hash_of_name(name);
        p.name = std::move(copy);
        ++count_;
        return p.value;
    }
    /// Erases the one of this name, if there is one.
    void erase(std::string_view name) noexcept {
        auto* const there = find(name);
        if (!there)
            return;
        auto hole = static_cast<std::size_t>(place_with(*there) - places_.data());
        --count_;
        // Those behind it that it kept from their own places move up.
        for (auto i = next(hole); places_[i].hash != 0; i = next(i)) {
            auto const from_home = distance(place_of(places_[i].hash), i);
            if (from_home < distance(hole, i))
                continue;
            places_[hole] = std::move(places_[i]);
            hole = i;
        }
        places_[hole] = place();
    }
    /// Calls f(name, value) for each, in any order.
    template <class F> void for_each(F f) {
        for (auto& p : places_)
            if (p.hash != 0)
                f(std::string_view(p.name), p.value);
    }

private:
    /// For values of up to 16 bytes it is a line of the cache.
    struct alignas(64) place {
        std::size_t hash = 0; // 0: it is free
        std::string name{};
        Value value{};
    };
    static constexpr std::size_t places_min = 8;

    std::size_t place_of(std::size_t hash) const noexcept { return (hash >> 32) & (places_.size() - 1); }
    std::size_t next(std::size_t i) const noexcept { return (i + 1) & (places_.size() - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept { return (to - from) & (places_.size() - 1); }
    place* place_with(Value const& v) noexcept {
        auto const first = reinterpret_cast<std::uintptr_t>(places_.data());
        return places_.data() + (reinterpret_cast<std::uintptr_t>(&v) - first) / sizeof(place);
    }
    place& free_place_for(std::size_t hash) noexcept {
        auto i = place_of(hash);
        while (places_[i].hash != 0)
            i = next(i);
        return places_[i];
    }
    void grow() {
        std::vector<place> larger(places_.empty() ? places_min : 2 * places_.size());
        larger.swap(places_);
        for (auto& p : larger)
            if (p.hash != 0)
                free_place_for(p.hash) = std::move(p);
    }

    std::vector<place> places_; // a power of two of them; half of them are free at least
    std::size_t count_ = 0;
};

} // namespace fairlead::redis::impl
