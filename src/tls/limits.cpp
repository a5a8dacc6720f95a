// The limits of handshakes, and the functions by which a program gives up what is safe.
#include <tls/engine.hpp>
#include <tls/settings.hpp>

#include <climits>

namespace fairlead::ssl {

error_code context::limit_handshake_time(std::int64_t ns, error_code& ec) {
    if (ns <= 0)
        return ec = fairlead::error::invalid_argument;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->handshake_timeout_ns = ns;
    return ec = {};
}
error_code context::limit_shutdown_time(std::int64_t ns, error_code& ec) {
    if (ns <= 0)
        return ec = fairlead::error::invalid_argument;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->shutdown_timeout_ns = ns;
    return ec = {};
}
error_code context::set_handshake_size_max(std::size_t bytes, error_code& ec) {
    if (bytes == 0 || bytes > INT_MAX)
        return ec = fairlead::error::invalid_argument;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->handshake_size_max = bytes;
    SSL_CTX_set_max_cert_list(handle_, static_cast<long>(bytes));
    return ec = {};
}
error_code context::accept_endless_handshakes(error_code& ec) {
    if (auto* const kept = impl::settings_of(handle_))
        kept->handshake_timeout_ns = 0;
    return ec = {};
}
error_code context::accept_endless_shutdowns(error_code& ec) {
    if (auto* const kept = impl::settings_of(handle_))
        kept->shutdown_timeout_ns = 0;
    return ec = {};
}

error_code context::accept_unverified_peers(error_code& ec) { return set_verify_mode(ssl::verify_none, ec); }
error_code context::accept_truncated_streams(error_code& ec) { return set_options(SSL_OP_IGNORE_UNEXPECTED_EOF, ec); }
error_code context::accept_obsolete_protocols(error_code& ec) {
    SSL_CTX_set_security_level(handle_, 0);
    SSL_CTX_set_min_proto_version(handle_, TLS1_VERSION);
    return ec = {};
}
error_code context::accept_renegotiation(error_code& ec) {
    SSL_CTX_clear_options(handle_, SSL_OP_NO_RENEGOTIATION);
    return set_options(SSL_OP_ALLOW_CLIENT_RENEGOTIATION, ec);
}

} // namespace fairlead::ssl
