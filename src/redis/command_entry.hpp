// The words in which command_table.inc is written, for the sources that include it.
#pragma once

#include "command_table.hpp"

#include <cstdint>
#include <string_view>

namespace fairlead::redis::impl {

namespace said {

using namespace flag;
using namespace tip;
using namespace key;
using namespace servers;
using group = command_group;

/// A specification that does not know yet where its search begins.
struct place {
    key_spec spec;
};
constexpr place range(std::int8_t last_key, std::uint8_t key_step = 1, std::int8_t limit = 0) {
    return {{.find_keys = key_spec::find::range, .last_key = last_key, .limit = limit, .key_step = key_step}};
}
constexpr place one() { return range(0); }
constexpr place keynum(std::int8_t keynum_index, std::int8_t first_key, std::uint8_t key_step) {
    return {{.find_keys = key_spec::find::keynum,
             .keynum_index = keynum_index,
             .first_key = first_key,
             .key_step = key_step}};
}
constexpr key_spec at(std::int8_t index, place p, std::uint16_t flags) {
    p.spec.begin_search = key_spec::begin::index;
    p.spec.position = index;
    p.spec.flags = flags;
    return p.spec;
}
constexpr key_spec behind(impl::keyword word, std::int8_t start_from, place p, std::uint16_t flags) {
    p.spec.begin_search = key_spec::begin::keyword;
    p.spec.word = word;
    p.spec.position = start_from;
    p.spec.flags = flags;
    return p.spec;
}
constexpr key_spec somewhere(std::uint16_t flags) { return {.flags = flags}; }

template <class... Specs> constexpr command_facts command(std::uint8_t on, std::string_view name, std::int8_t arity,
                                                          command_group of, command_version since, std::uint32_t flags,
                                                          std::uint16_t tips, Specs... specs) {
    static_assert(sizeof...(specs) <= key_specs_max);
    return {name, flags, tips, arity, of, since, on, sizeof...(specs), {specs...}};
}

} // namespace said

} // namespace fairlead::redis::impl
