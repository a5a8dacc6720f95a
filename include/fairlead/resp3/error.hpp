// Errors of bytes that claim to be RESP.
#pragma once

#include <fairlead/base/error.hpp>

#include <string>
#include <string_view>

namespace fairlead::resp3 {

/// Protocol errors end the connection: nobody can tell where the next message starts. The conversion errors at the
/// end concern one value; the connection goes on.
enum class error {
    unknown_type = 1,  ///< The first byte of a value is none of RESP's: the peer speaks something else (TLS? HTTP?).
    bad_line_end,      ///< A line has a CR or LF that is not part of its closing CRLF.
    bad_length,        ///< A length is no decimal number, or is negative where no null is defined.
    bad_body_end,      ///< A bulk's body is not followed by CRLF: its length was wrong.
    bad_number,        ///< ':' without a decimal integer of 64 bits.
    bad_real,          ///< ',' without a decimal number, inf, -inf or nan.
    bad_big_number,    ///< '(' with something else than a sign and digits.
    bad_boolean,       ///< '#' followed by neither t nor f.
    bad_null,          ///< '_' followed by something.
    bad_verbatim,      ///< '=' whose body does not start with three characters and a colon.
    streamed_type,     ///< A type of unknown length ("$?", "*?"), which limits::streamed_types does not allow.
    bad_stream,        ///< '.' or ';' out of place, or a map that ended between a key and its value.
    line_too_long,     ///< Above limits::line_bytes_max: raise it if the server is trusted.
    bulk_too_long,     ///< Above limits::bulk_bytes_max: raise it if the server is trusted.
    too_many_elements, ///< Above limits::elements_max: raise it if the server is trusted.
    too_deep,          ///< Above limits::depth_max: raise it if the server is trusted.
    message_too_long,  ///< Above limits::message_bytes_max: raise it if the server is trusted.

    not_an_integer, ///< The value is no decimal integer: read it as text.
    not_a_real,     ///< The value is no floating point number: read it as text.
    not_a_boolean,  ///< The value is none of t, f, 1 and 0: read it as text.
    out_of_range,   ///< The value is a number that the wanted type cannot hold: use a wider one.
};

/// The category of resp3::error.
FAIRLEAD_EXPORT error_category const& get_error_category() noexcept;
/// Called by `error_code ec = resp3::error::out_of_range`, and by comparisons.
inline error_code make_error_code(error e) noexcept { return {static_cast<int>(e), get_error_category()}; }

/// Bytes of a peer made fit for a log. Printable ASCII stays as it is, other bytes become \r, \n or \xNN. The text is
/// cut after `bytes_max` bytes, then followed by "...". Never larger than 4 * bytes_max + 3.
FAIRLEAD_EXPORT std::string printable(std::string_view bytes, std::size_t bytes_max = 64);

} // namespace fairlead::resp3

template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::resp3::error> : std::true_type {};
