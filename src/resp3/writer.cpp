#include <fairlead/base/assert.hpp>
#include <fairlead/resp3/writer.hpp>

#include <array>
#include <cstring>

namespace fairlead::resp3 {
namespace {

constexpr std::size_t head_bytes_max = 1 + 20 + 2; // type byte, digits of any 64 bit number, CRLF

// Commands up to this size are written into one resized string: clearing the bytes first costs less there than asking
// for space at every piece.
constexpr std::size_t resized_bytes_max = 1024;

// "00" to "99".
constexpr auto two_digits = [] {
    std::array<char, 200> table{};
    for (std::size_t i = 0; i != 100; ++i) {
        table[2 * i] = static_cast<char>('0' + i / 10);
        table[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return table;
}();

// Writes "<kind><n>\r\n" and returns the end. Most lengths have one or two digits.
char* put_head(char* to, char kind, std::uint64_t n) noexcept {
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

char* put_bulk(char* to, std::string_view text) noexcept {
    to = put_head(to, '$', text.size());
    if (!text.empty()) // an empty view may have no address
        std::memcpy(to, text.data(), text.size());
    to += text.size();
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

void append_head(std::string& out, char kind, std::uint64_t n) {
    char head[head_bytes_max];
    out.append(head, put_head(head, kind, n));
}

void append_bulk(std::string& out, char kind, std::string_view prefix, std::string_view body) {
    append_head(out, kind, prefix.size() + body.size());
    out.append(prefix).append(body).append("\r\n", 2);
}

void append_line(std::string& out, char kind, std::string_view text) {
    out += kind;
    out.append(text).append("\r\n", 2);
}

void append_clean_line(std::string& out, char kind, std::string_view text) {
    std::size_t const at = out.size() + 1;
    append_line(out, kind, text);
    for (std::size_t i = at; i != at + text.size(); ++i)
        if (out[i] == '\r' || out[i] == '\n')
            out[i] = ' ';
}

} // namespace

void resp3::impl::append_command_texts(std::string& out, std::string_view const* texts, std::size_t count) {
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

void append_command_header(std::string& out, std::size_t arguments) { append_head(out, '*', arguments); }
void append_argument(std::string& out, std::string_view text) { append_bulk(out, '$', {}, text); }

void append_simple_string(std::string& out, std::string_view text) { append_clean_line(out, '+', text); }
void append_simple_error(std::string& out, std::string_view text) { append_clean_line(out, '-', text); }

void append_number(std::string& out, std::int64_t value) {
    if (value >= 0)
        return append_head(out, ':', static_cast<std::uint64_t>(value));
    char digits[20];
    append_line(out, ':', {digits, static_cast<std::size_t>(std::to_chars(digits, digits + 20, value).ptr - digits)});
}

void append_blob_string(std::string& out, std::string_view body) { append_bulk(out, '$', {}, body); }

void append_blob_error(std::string& out, std::string_view body, version to) {
    to == version::resp3 ? append_bulk(out, '!', {}, body) : append_simple_error(out, body);
}

void append_null(std::string& out, version to) { out += to == version::resp3 ? "_\r\n" : "$-1\r\n"; }
void append_null_array(std::string& out, version to) { out += to == version::resp3 ? "_\r\n" : "*-1\r\n"; }

void append_boolean(std::string& out, bool value, version to) {
    if (to == version::resp3)
        out += value ? "#t\r\n" : "#f\r\n";
    else
        out += value ? ":1\r\n" : ":0\r\n";
}

void append_real(std::string& out, double value, version to) {
    char digits[48];
    auto const bytes = static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
    std::string_view text(digits, bytes);
    if (text == "-nan")
        text.remove_prefix(1); // the sign of a nan means nothing, and RESP3 knows none
    to == version::resp3 ? append_line(out, ',', text) : append_bulk(out, '$', {}, text);
}

void append_big_number(std::string& out, std::string_view digits, version to) {
    to == version::resp3 ? append_clean_line(out, '(', digits) : append_bulk(out, '$', {}, digits);
}

void append_verbatim_string(std::string& out, std::string_view format, std::string_view text, version to) {
    FAIRLEAD_ASSERT(format.size() == 3);
    if (to == version::resp2)
        return append_bulk(out, '$', {}, text);
    char const prefix[] = {format[0], format[1], format[2], ':'};
    append_bulk(out, '=', {prefix, sizeof prefix}, text);
}

void append_array_header(std::string& out, std::size_t elements) { append_head(out, '*', elements); }
void append_set_header(std::string& out, std::size_t elements, version to) {
    append_head(out, to == version::resp3 ? '~' : '*', elements);
}
void append_push_header(std::string& out, std::size_t elements, version to) {
    append_head(out, to == version::resp3 ? '>' : '*', elements);
}
void append_map_header(std::string& out, std::size_t pairs, version to) {
    to == version::resp3 ? append_head(out, '%', pairs) : append_head(out, '*', pairs * 2);
}
void append_attribute_header(std::string& out, std::size_t pairs) { append_head(out, '|', pairs); }

} // namespace fairlead::resp3
