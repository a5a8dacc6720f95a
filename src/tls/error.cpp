#include <fairlead/tls/error.hpp>

#include <string>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

namespace fairlead {
namespace {

struct ssl_category_type final : error_category {
    char const* name() const noexcept override { return "fairlead.ssl"; }
    std::string message(int value) const override {
        auto const code = static_cast<unsigned long>(static_cast<unsigned>(value));
        char const* const reason = ERR_reason_error_string(code);
        char const* const library = ERR_lib_error_string(code);
        if (!reason)
            return "an error of OpenSSL without a text, number " + std::to_string(code);
        return library ? std::string(reason) + " (" + library + ')' : std::string(reason);
    }
};

struct stream_category_type final : error_category {
    char const* name() const noexcept override { return "fairlead.ssl.stream"; }
    std::string message(int value) const override {
        switch (static_cast<ssl::error::stream_errors>(value)) {
        case ssl::error::stream_truncated:
            return "The connection ended without close_notify: the peer broke off, or somebody cut it, and bytes may "
                   "be "
                   "missing";
        case ssl::error::unspecified_system_error: return "OpenSSL failed without saying why";
        case ssl::error::unexpected_result: return "OpenSSL returned a result that its manual does not know";
        case ssl::error::no_host_name:
            return "This client verifies its peer, but was told no name: call set_host_name() before the handshake";
        case ssl::error::no_ocsp_response:
            return "The server has stapled no OCSP response to its certificate, and this client requires one";
        case ssl::error::ocsp_response_malformed:
            return "The stapled OCSP response cannot be read, or its responder declines to answer";
        case ssl::error::ocsp_response_unverified:
            return "The stapled OCSP response is not signed by the authority of the certificate, nor by its delegate";
        case ssl::error::ocsp_response_mismatched:
            return "The stapled OCSP response is not about the certificate of the server";
        case ssl::error::ocsp_response_expired: return "The stapled OCSP response is too old, or not valid yet";
        case ssl::error::ocsp_status_unknown:
            return "The responder of the stapled OCSP response does not know the certificate of the server";
        case ssl::error::handshake_timed_out: return "The peer has not finished the handshake in time";
        case ssl::error::handshake_too_large:
            return "The peer sends a larger handshake than this side takes, such as a long chain of certificates";
        case ssl::error::shutdown_timed_out:
            return "The peer has not answered the goodbye (close_notify) in time: close the stream below";
        case ssl::error::no_password:
            return "The key is encrypted, and there is no password: call set_password_callback() first";
        }
        return "an error of TLS streams that this version does not know";
    }
};

struct verify_category_type final : error_category {
    char const* name() const noexcept override { return "fairlead.ssl.verify"; }
    std::string message(int value) const override {
        return std::string("The certificate of the peer is refused: ") + X509_verify_cert_error_string(value);
    }
};

/// The alerts of RFC 8446 section 6.2 that are about a certificate; OpenSSL's codes are 1000 more.
bool is_alert_about_certificate(error_code const& ec) noexcept {
    auto const code = static_cast<unsigned long>(static_cast<unsigned>(ec.value()));
    if (ec.category() != error::get_ssl_category() || ERR_GET_LIB(code) != ERR_LIB_SSL)
        return false;
    switch (ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_BAD_CERTIFICATE_STATUS_RESPONSE:
    case SSL_AD_CERTIFICATE_REQUIRED: return true;
    default: return ERR_GET_REASON(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
    }
}

/// A certificate is refused because of its stapled OCSP response, or because there is none.
bool is_about_ocsp(error_code const& ec) noexcept {
    return ec.category() == ssl::error::get_stream_category() && ec.value() >= ssl::error::no_ocsp_response &&
           ec.value() <= ssl::error::ocsp_status_unknown;
}

struct condition_category_type final : error_category {
    char const* name() const noexcept override { return "fairlead.ssl.condition"; }
    std::string message(int) const override { return "One side does not accept the certificate of the other"; }
    bool equivalent(error_code const& ec, int) const noexcept override {
        return ec.category() == ssl::error::get_verify_category() || is_about_ocsp(ec) ||
               is_alert_about_certificate(ec);
    }
};

template <class Category> error_category const& only() noexcept {
    static Category const c;
    return c;
}

} // namespace

error_category const& error::get_ssl_category() noexcept { return only<ssl_category_type>(); }
error_category const& ssl::error::get_stream_category() noexcept { return only<stream_category_type>(); }
error_category const& ssl::error::get_verify_category() noexcept { return only<verify_category_type>(); }
error_category const& ssl::get_condition_category() noexcept { return only<condition_category_type>(); }

} // namespace fairlead
