// Buffers that are written down in the program: "text"_buf, 0xdeadbeef_buf, 0b00000001_buf.
#pragma once

#include <fairlead/base/buffer.hpp>

namespace fairlead {
namespace detail {

constexpr unsigned base_of_literal(char const* text) noexcept {
    if (text[0] != '0')
        return 0;
    return text[1] == 'x' || text[1] == 'X' ? 16 : text[1] == 'b' || text[1] == 'B' ? 2 : 0;
}
/// Without the prefix, and what stands between digits.
constexpr std::size_t digits_of_literal(char const* text) noexcept {
    std::size_t n = 0;
    for (char const* c = text + 2; *c; ++c)
        n += *c != '\'';
    return n;
}
constexpr unsigned value_of_digit(char c) noexcept {
    return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

template <std::size_t Size> struct literal_bytes {
    unsigned char bytes[Size];
};

/// The bytes of a binary or hexadecimal literal, the first digits first.
template <char... Chars> constexpr auto parse_literal() noexcept {
    constexpr char text[] = {Chars..., '\0'};
    constexpr unsigned base = base_of_literal(text);
    if constexpr (base == 0) {
        static_assert(base != 0, "a buffer is written in hexadecimal or binary digits: 0x.. or 0b..");
        return literal_bytes<1>{};
    } else {
        constexpr std::size_t digits = digits_of_literal(text), digits_per_byte = base == 2 ? 8 : 2;
        static_assert(digits % digits_per_byte == 0, "the digits of a buffer fill whole bytes");
        literal_bytes<(digits + digits_per_byte - 1) / digits_per_byte> all{};
        std::size_t n = 0;
        for (char const* c = text + 2; *c; ++c)
            if (*c != '\'') {
                auto& byte = all.bytes[n++ / digits_per_byte];
                byte = static_cast<unsigned char>(byte * base + value_of_digit(*c));
            }
        return all;
    }
}
template <char... Chars> inline constexpr auto bytes_of_literal = parse_literal<Chars...>();

} // namespace detail

namespace buffer_literals {

/// A buffer of the text or the digits, the first ones first. 0x takes two digits for a byte, 0b eight.
/// Lifetime   the bytes live as long as the program
[[nodiscard]] constexpr const_buffer operator""_buf(char const* text, std::size_t size) noexcept {
    return {text, size}; // without the NUL at its end
}
template <char... Chars> [[nodiscard]] constexpr const_buffer operator""_buf() noexcept {
    auto const& bytes = detail::bytes_of_literal<Chars...>.bytes;
    return {bytes, sizeof bytes};
}

} // namespace buffer_literals
} // namespace fairlead
