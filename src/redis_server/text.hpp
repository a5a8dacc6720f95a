// How the embedded server reads and writes words, numbers and patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fairlead::redis::server_impl {

constexpr char lower(char byte) noexcept { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte; }

bool equals_any_case(std::string_view text, std::string_view lower) noexcept;
std::string to_lower(std::string_view text);
std::string upper(std::string_view text);

/// Decimal without plus, blanks or leading zeros, as Redis reads integers.
bool parse_integer(std::string_view text, std::int64_t& n) noexcept;
/// A number with a fraction or an exponent, or "inf" with or without a sign. Not NaN.
bool parse_real(std::string_view text, double& n) noexcept;
bool parse_real(std::string_view text, long double& n) noexcept;
/// The shortest digits that give the same number, as scores are written.
std::string real_text(double n);

/// Without exponent, as INCRBYFLOAT answers.
std::string fixed_text(long double n);

/// Redis's patterns: ? * [a-z] [^a] and \ before any of them. O(text * pattern), without recursion.
bool glob_match(std::string_view pattern, std::string_view text) noexcept;

/// The elements from `first` to `last`, both included and negative ones counted from the end: [begin, end).
struct bounds {
    std::size_t begin;
    std::size_t end;
};
bounds clamp(std::int64_t first, std::int64_t last, std::size_t size) noexcept;

/// How many elements a random choice gives. Below zero, elements may come again.
std::size_t chosen_count(std::int64_t count, std::size_t size) noexcept;

} // namespace fairlead::redis::server_impl
