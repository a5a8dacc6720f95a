// How the embedded server reads and writes words, numbers and patterns.
#include <redis_server/text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace fairlead::redis::server_impl {
namespace {

// The class behind a '[' at pattern[p]: whether it has `byte`; p moves behind it. One that is never closed ends with
// the pattern.
bool class_has(std::string_view pattern, std::size_t& p, char byte) noexcept {
    std::size_t i = p + 1;
    bool const is_negated = i < pattern.size() && pattern[i] == '^';
    if (is_negated)
        ++i;
    bool found = false;
    auto const value = [](char b) { return static_cast<unsigned char>(b); };
    for (; i < pattern.size() && pattern[i] != ']'; ++i) {
        if (pattern[i] == '\\' && i + 1 < pattern.size()) {
            found |= pattern[++i] == byte;
        } else if (i + 2 < pattern.size() && pattern[i + 1] == '-') {
            auto const a = value(pattern[i]), b = value(pattern[i + 2]);
            found |= value(byte) >= std::min(a, b) && value(byte) <= std::max(a, b);
            i += 2;
        } else {
            found |= pattern[i] == byte;
        }
    }
    p = i < pattern.size() ? i + 1 : i;
    return found != is_negated;
}

} // namespace

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0, t = 0;
    // Where to go on when what follows the last star fits nowhere so far: the star takes one byte more. Earlier stars
    // need no second try, since the last one can take whatever they could.
    std::size_t star = std::string_view::npos, star_text = 0;
    while (t < text.size() || p < pattern.size()) {
        bool matches = false;
        if (p < pattern.size()) {
            std::size_t next = p + 1;
            if (pattern[p] == '*') {
                star = p++;
                star_text = t;
                continue;
            }
            if (t < text.size()) {
                if (pattern[p] == '?') {
                    matches = true;
                } else if (pattern[p] == '[') {
                    next = p;
                    matches = class_has(pattern, next, text[t]);
                } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
                    matches = pattern[p + 1] == text[t];
                    next = p + 2;
                } else {
                    matches = pattern[p] == text[t];
                }
            }
            if (matches) {
                p = next;
                ++t;
                continue;
            }
        }
        if (star == std::string_view::npos || star_text >= text.size())
            return false;
        p = star + 1;
        t = ++star_text;
    }
    return true;
}

bool equals_any_case(std::string_view text, std::string_view lower_case) noexcept {
    return std::ranges::equal(text, lower_case, {}, lower);
}

std::string to_lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), lower);
    return result;
}

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& byte : result)
        byte = byte >= 'a' && byte <= 'z' ? static_cast<char>(byte & ~0x20) : byte;
    return result;
}

bool parse_integer(std::string_view text, std::int64_t& n) noexcept {
    std::string_view const digits = text.substr(text.starts_with('-') ? 1 : 0);
    if (digits.starts_with('0') && text.size() != 1)
        return false; // "007", "-0": not how integers are written
    auto const [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    return ec == std::errc{} && stop == text.data() + text.size();
}

namespace {

template <typename Real> bool parse_any_real(std::string_view text, Real& n) noexcept {
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-')
        text.remove_prefix(1);
    auto const [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    return ec == std::errc{} && stop == text.data() + text.size() && !std::isnan(n);
}

} // namespace

bool parse_real(std::string_view text, double& n) noexcept { return parse_any_real(text, n); }
bool parse_real(std::string_view text, long double& n) noexcept { return parse_any_real(text, n); }

std::string real_text(double n) {
    if (std::isinf(n))
        return n > 0 ? "inf" : "-inf";
    char digits[48];
    constexpr double exact_integer_max = 1e15;
    if (n == std::trunc(n) && std::abs(n) < exact_integer_max && !(n == 0 && std::signbit(n)))
        return std::to_string(static_cast<std::int64_t>(n));
    for (int precision = 15; precision <= std::numeric_limits<double>::max_digits10; ++precision) {
        int const size = std::snprintf(digits, sizeof digits, "%.*g", precision, n);
        double back = 0;
        if (std::from_chars(digits, digits + size, back); back == n)
            break;
    }
    return digits;
}

std::string fixed_text(long double n) {
    constexpr int digits_behind_point = 17;
    int const size = std::snprintf(nullptr, 0, "%.*Lf", digits_behind_point, n);
    std::string text(static_cast<std::size_t>(size) + 1, '\0');
    std::snprintf(text.data(), text.size(), "%.*Lf", digits_behind_point, n);
    text.pop_back();
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
        text.pop_back();
    return text == "-0" ? "0" : text;
}

bounds clamp(std::int64_t first, std::int64_t last, std::size_t size) noexcept {
    auto const n = static_cast<std::int64_t>(size);
    if (first < 0)
        first = std::max<std::int64_t>(first + n, 0);
    if (last < 0)
        last += n;
    last = std::min(last, n - 1);
    if (first > last)
        return {0, 0};
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last) + 1};
}

std::size_t chosen_count(std::int64_t count, std::size_t size) noexcept {
    return count < 0 ? 0 - static_cast<std::size_t>(count) : std::min(static_cast<std::size_t>(count), size);
}

} // namespace fairlead::redis::server_impl
