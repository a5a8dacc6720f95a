// SHA-1 (RFC 3174), for the names under which servers keep scripts. It protects nothing.
#pragma once

#include <array>
#include <string_view>

namespace fairlead::redis::impl {

/// In lower case, as servers write it.
std::array<char, 40> sha1_of(std::string_view text) noexcept;

} // namespace fairlead::redis::impl
