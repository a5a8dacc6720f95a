// From a node's text to numbers and truth values.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/resp3/error.hpp>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace fairlead::resp3 {

/// A decimal integer, with or without sign, that fits Integer.
/// Errors     error::not_an_integer  something else, also an empty text
///            error::out_of_range    it does not fit
/// Returns 0 with an error.
template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
Integer to_integer(std::string_view text, error_code& ec) noexcept {
    ec.clear();
    Integer value = 0;
    if (text.size() > 1 && text[0] == '+' && text[1] != '-')
        text.remove_prefix(1); // from_chars knows no plus
    char const* const end = text.data() + text.size();
    auto const [stop, problem] = std::from_chars(text.data(), end, value);
    if (stop != end || problem == std::errc::invalid_argument) {
        ec = error::not_an_integer;
        return 0;
    }
    if (problem != std::errc{}) {
        ec = error::out_of_range;
        return 0;
    }
    return value;
}

/// A floating point number as the server writes it: decimal, "inf", "-inf" or "nan". RESP2 bulks are read alike.
/// Errors     error::not_a_real    something else
///            error::out_of_range  beyond a double's exponents
/// Returns 0 with an error.
FAIRLEAD_EXPORT double to_real(std::string_view text, error_code& ec) noexcept;

/// "t" and "f" of RESP3, "1" and "0" of RESP2's numbers.
/// Errors     error::not_a_boolean  something else
/// Returns false with an error.
FAIRLEAD_EXPORT bool to_boolean(std::string_view text, error_code& ec) noexcept;

} // namespace fairlead::resp3
