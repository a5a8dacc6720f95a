#include <fairlead/resp3/error.hpp>

#include <string>

namespace fairlead::resp3 {
namespace {

char const* sentence(error e) noexcept {
    switch (e) {
    case error::unknown_type:
        return "The peer sent a byte that starts no RESP value: check that address and port belong to a Redis server "
               "and "
               "that both sides agree on TLS";
    case error::bad_line_end: return "A RESP line is not closed by exactly CRLF: drop the connection";
    case error::bad_length: return "A RESP length is not a decimal number that fits its type: drop the connection";
    case error::bad_body_end: return "A RESP bulk is longer or shorter than its length said: drop the connection";
    case error::bad_number: return "A RESP number is no 64 bit integer: drop the connection";
    case error::bad_real: return "A RESP double is neither a decimal number nor inf or nan: drop the connection";
    case error::bad_big_number: return "A RESP big number has something else than digits: drop the connection";
    case error::bad_boolean: return "A RESP boolean is neither t nor f: drop the connection";
    case error::bad_null: return "A RESP null is not empty: drop the connection";
    case error::bad_verbatim: return "A RESP verbatim string lacks its format prefix: drop the connection";
    case error::streamed_type:
        return "The peer sent a RESP type of unknown length: set limits::streamed_types if the program can handle it";
    case error::bad_stream: return "A RESP stream has a part out of place: drop the connection";
    case error::line_too_long:
        return "A RESP line is longer than the limit: raise limits::line_bytes_max if that is expected";
    case error::bulk_too_long:
        return "A RESP bulk is longer than the limit: raise limits::bulk_bytes_max if that is expected";
    case error::too_many_elements:
        return "A RESP aggregate has more elements than the limit: raise limits::elements_max if that is expected";
    case error::too_deep:
        return "RESP aggregates are nested deeper than the limit: raise limits::depth_max if that is expected";
    case error::message_too_long:
        return "A RESP message is longer than the limit: raise limits::message_bytes_max if that is expected";
    case error::not_an_integer: return "The value is no decimal integer: read it as text";
    case error::not_a_real: return "The value is no floating point number: read it as text";
    case error::not_a_boolean: return "The value is no boolean: read it as text";
    case error::out_of_range: return "The number does not fit the wanted type: read it into a wider one";
    }
    return nullptr;
}

class category final : public error_category {
public:
    char const* name() const noexcept override { return "fairlead.resp3"; }
    std::string message(int value) const override {
        char const* const text = sentence(static_cast<error>(value));
        return text ? text : "fairlead.resp3 error " + std::to_string(value);
    }
};

} // namespace

error_category const& get_error_category() noexcept {
    static category const instance;
    return instance;
}

std::string printable(std::string_view bytes, std::size_t bytes_max) {
    constexpr char hex[] = "0123456789abcdef";
    std::string text;
    for (char const c : bytes.substr(0, bytes_max)) {
        auto const byte = static_cast<unsigned char>(c);
        if (c == '\r')
            text += "\\r";
        else if (c == '\n')
            text += "\\n";
        else if (c == '\\')
            text += "\\\\"; // so that the text can be read back without doubt
        else if (byte >= 0x20 && byte < 0x7f)
            text += c;
        else
            text.append({'\\', 'x', hex[byte >> 4], hex[byte & 15]});
    }
    if (bytes.size() > bytes_max)
        text += "...";
    return text;
}

} // namespace fairlead::resp3
