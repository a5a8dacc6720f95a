// How a command is written into a text, of whatever allocator.
#pragma once

#include <fairlead/base/copy_text.hpp>
#include <fairlead/resp3/writer.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead::resp3::impl {

inline constexpr std::size_t head_bytes_max = 1 + 20 + 2; // type byte, digits of any 64 bit number, CRLF

// Commands up to this size are written into one resized string: clearing the bytes first costs less there than asking
// for space at every piece.
inline constexpr std::size_t resized_bytes_max = 1024;

// "00" to "99".
inline constexpr auto two_digits = [] {
    std::array<char, 200> table{};
    for (std::size_t i = 0; i != 100; ++i) {
        table[2 * i] = static_cast<char>('0' + i / 10);
        table[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return table;
}();

// Writes "<kind><n>\r\n" and returns the end. Most lengths have one or two digits.
inline char* put_head(char* to, char kind, std::uint64_t n) noexcept {
    *to++ = kind;
    if (n < 10) {
        *to++ = static_cast<char>('0' + n);
    } else if (n < 100) {
        std::memcpy(to, &two_digits[2 * n], 2);
        to += 2;
    } else {
        to = std::to_chars(to, to + 20, n).ptr;
    }
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

inline char* put_bulk(char* to, std::string_view text) noexcept {
    to = put_head(to, '$', text.size());
    fairlead::impl::base::copy_text(to, text.data(), text.size());
    to += text.size();
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

template <class Text> void append_head(Text& out, char kind, std::uint64_t n) {
    char head[head_bytes_max];
    out.append(head, put_head(head, kind, n));
}

template <class Text> void append_bulk(Text& out, char kind, std::string_view prefix, std::string_view body) {
    append_head(out, kind, prefix.size() + body.size());
    out.append(prefix).append(body).append("\r\n", 2);
}

template <class Text> void append_texts(Text& out, std::string_view const* texts, std::size_t count) {
    std::size_t bytes = head_bytes_max;
    for (std::size_t i = 0; i != count; ++i)
        bytes += head_bytes_max + texts[i].size() + 2;
    std::size_t const before = out.size();
    if (bytes > resized_bytes_max) {
        out.reserve(before + bytes); // All the memory now: the command is added whole or not at all.
        append_head(out, '*', count);
        for (std::size_t i = 0; i != count; ++i)
            append_bulk(out, '$', {}, texts[i]);
        return;
    }
    out.resize(before + bytes);
    char* const begin = out.data();
    char* to = put_head(begin + before, '*', count);
    for (std::size_t i = 0; i != count; ++i)
        to = put_bulk(to, texts[i]);
    out.resize(static_cast<std::size_t>(to - begin));
}

} // namespace fairlead::resp3::impl
