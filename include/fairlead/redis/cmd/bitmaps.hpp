// Commands of the bits in strings.
#pragma once

#include <fairlead/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fairlead::redis {

/// The operations of BITOP on the bits of several strings; `invert` takes one.
enum class bit_operation : unsigned char {
    all_of,
    any_of,
    one_of, ///< XOR: an odd number of them.
    invert,
};

namespace impl {

constexpr std::string_view name_of(bit_operation operation) noexcept {
    constexpr std::string_view names[] = {"AND", "OR", "XOR", "NOT"};
    return names[static_cast<unsigned char>(operation)];
}

} // namespace impl

namespace options {

/// Of BITFIELD: a number of a type, "u8" or "i16" for example, at an offset: 7, or "#2" for the third of that type.
struct field_get : impl::option<> {
    field_get(value_view type, value_view offset) noexcept : option("GET", type, offset) {}
};
/// Of BITFIELD: sets a number; the result is the old one.
struct field_set : impl::option<> {
    field_set(value_view type, value_view offset, std::int64_t number) noexcept : option("SET", type, offset, number) {}
};
/// Of BITFIELD: adds to a number; the result is the new one.
struct field_incrby : impl::option<> {
    field_incrby(value_view type, value_view offset, std::int64_t by) noexcept : option("INCRBY", type, offset, by) {}
};
/// Of BITFIELD: when a later number overflows, it wraps around, stops at the limit, or stays as it was and is null.
struct overflow : impl::option<> {
    enum class to : unsigned char {
        wrap,
        limit,
        fail,
    };
    explicit overflow(to what) noexcept
        : option("OVERFLOW", what == to::wrap    ? "WRAP"
                             : what == to::limit ? "SAT"
                                                 : "FAIL") {}
};

} // namespace options

namespace cmd {

/// BITCOUNT: how many bits are set.
inline command<std::int64_t> bitcount(key_view key) { return impl::make<std::int64_t>("BITCOUNT", {key}); }
/// BITCOUNT: how many bits are set from first to last, both included. It has the options byte_unit and bit_unit.
template <class... Option>
command<std::int64_t> bitcount(key_view key, std::int64_t first, std::int64_t last, Option const&... option) {
    using known = impl::options_of<options::byte_unit_t, options::bit_unit_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "BITCOUNT has the options byte_unit and bit_unit");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>("BITCOUNT", {key, value_view(first), value_view(last), impl::part_of(option)...});
}
/// BITFIELD: numbers of any size, by field_get, field_set, field_incrby and overflow: a result of each but overflow.
template <class... Option>
command<std::vector<std::optional<std::int64_t>>> bitfield(key_view key, Option const&... option) {
    using known = impl::options_of<options::field_get, options::field_set, options::field_incrby, options::overflow>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "BITFIELD takes field_get, field_set, field_incrby and overflow");
    return impl::make<std::vector<std::optional<std::int64_t>>>("BITFIELD", {key, impl::part_of(option)...});
}
/// BITFIELD_RO: numbers of any size, by field_get.
template <class... Option>
command<std::vector<std::optional<std::int64_t>>> bitfield_ro(key_view key, Option const&... option) {
    constexpr bool is_known = impl::options_of<options::field_get>::include<Option...>;
    static_assert(is_known, "BITFIELD_RO takes field_get");
    return impl::make<std::vector<std::optional<std::int64_t>>>("BITFIELD_RO", {key, impl::part_of(option)...});
}
/// BITOP: the length of the string at `target` afterwards.
inline command<std::int64_t> bitop(bit_operation operation, key_view target, keys_view keys) {
    return impl::make<std::int64_t>("BITOP", {impl::name_of(operation), target, keys});
}
/// BITPOS: the first bit that is set, or is not; -1 for none.
inline command<std::int64_t> bitpos(key_view key, bool bit) {
    return impl::make<std::int64_t>("BITPOS", {key, bit ? "1" : "0"});
}
/// BITPOS: the first such bit from first to last, both included. It has the options byte_unit and bit_unit.
template <class... Option>
command<std::int64_t> bitpos(key_view key, bool bit, std::int64_t first, std::int64_t last, Option const&... option) {
    using known = impl::options_of<options::byte_unit_t, options::bit_unit_t>;
    constexpr bool is_known = known::include<Option...>;
    static_assert(is_known, "BITPOS has the options byte_unit and bit_unit");
    impl::check_options<Option...>();
    return impl::make<std::int64_t>(
        "BITPOS", {key, bit ? "1" : "0", value_view(first), value_view(last), impl::part_of(option)...});
}
/// GETBIT: whether a bit is set.
inline command<bool> getbit(key_view key, std::int64_t offset) {
    return impl::make<bool>("GETBIT", {key, value_view(offset)});
}
/// SETBIT: whether the bit was set before.
inline command<bool> setbit(key_view key, std::int64_t offset, bool bit) {
    return impl::make<bool>("SETBIT", {key, value_view(offset), bit ? "1" : "0"});
}

} // namespace cmd
} // namespace fairlead::redis
