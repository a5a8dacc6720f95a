// The errors of TLS beside those of the stream below.
//
// Three categories: those of OpenSSL itself, the reasons for which a certificate is refused, and what happens to a
// stream.
#pragma once

#include <fairlead/base/error.hpp>

namespace fairlead {
namespace error {

/// Codes of OpenSSL (ERR_get_error) as they are; the text is OpenSSL's. Source: Asio, asio::error::ssl_errors.
enum ssl_errors {};

/// The category of ssl_errors.
FAIRLEAD_EXPORT error_category const& get_ssl_category() noexcept;
/// For `error_code ec = ssl_errors(...)`, and for comparisons.
inline error_code make_error_code(ssl_errors e) noexcept { return {static_cast<int>(e), get_ssl_category()}; }

} // namespace error

namespace ssl::error {

/// Ends of a stream that OpenSSL has no code for. Source: Asio, asio::ssl::error::stream_errors.
enum stream_errors {
    stream_truncated = 1, ///< The stream below ended without close_notify: bytes may be missing, by accident or not.
    unspecified_system_error, ///< OpenSSL failed without saying why.
    unexpected_result,        ///< OpenSSL returned what its manual does not know.
    no_host_name,             ///< A client that verifies its peer was told no name: call set_host_name() first.
    // Of a client that requires a stapled OCSP response. Its server has caused them, or its responder.
    no_ocsp_response,         ///< The server has stapled none: it has to be set up to do so.
    ocsp_response_malformed,  ///< Its bytes are no OCSP response, or one in which the responder declines to answer.
    ocsp_response_unverified, ///< It is not signed by the authority of the certificate, nor by its delegate.
    ocsp_response_mismatched, ///< It is about other certificates than the server's.
    ocsp_response_expired,    ///< It is too old, or from the future: the server has to fetch a newer one.
    ocsp_status_unknown,      ///< The responder does not know the certificate.
    // Of any handshake.
    handshake_timed_out, ///< The peer has not finished it in time: context::set_handshake_timeout().
    handshake_too_large, ///< The peer sends more than this side takes: context::set_handshake_size_max().
    // Of any shutdown.
    shutdown_timed_out, ///< The peer has not answered the goodbye in time: context::set_shutdown_timeout().
    // Of a context.
    no_password, ///< A key or an identity is encrypted: call context::set_password_callback() first.
};

/// The category of stream_errors.
FAIRLEAD_EXPORT error_category const& get_stream_category() noexcept;
/// For `ec == ssl::error::stream_truncated`.
inline error_code make_error_code(stream_errors e) noexcept { return {static_cast<int>(e), get_stream_category()}; }

/// The category of refused certificates. Values are those of X509_STORE_CTX_get_error, such as
/// X509_V_ERR_CERT_HAS_EXPIRED.
FAIRLEAD_EXPORT error_category const& get_verify_category() noexcept;

} // namespace ssl::error

namespace ssl {

/// A property that errors of several sources share: `if (ec == ssl::condition::certificate_refused)`.
enum class condition {
    /// One side does not accept the certificate of the other, or misses it. With TLS 1.3 a client hears so after its
    /// handshake: in its first read, or in a write to the server that has gone.
    certificate_refused = 1,
};

/// The category of ssl::condition.
FAIRLEAD_EXPORT error_category const& get_condition_category() noexcept;
/// For `ec == ssl::condition::certificate_refused`.
inline error_condition make_error_condition(condition c) noexcept {
    return {static_cast<int>(c), get_condition_category()};
}

} // namespace ssl
} // namespace fairlead

template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::error::ssl_errors> : std::true_type {
};
template <> struct fairlead::impl::base::error_codes::is_error_code_enum<fairlead::ssl::error::stream_errors>
    : std::true_type {};
template <> struct fairlead::impl::base::error_codes::is_error_condition_enum<fairlead::ssl::condition>
    : std::true_type {};
