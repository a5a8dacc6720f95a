#include <fairlead/resp3/writer.hpp>

#include <fairlead/base/assert.hpp>
#include <fairlead/resp3/write_command.hpp>

namespace fairlead::resp3 {
namespace {

using impl::append_bulk;
using impl::append_head;

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
    append_texts(out, texts, count);
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
