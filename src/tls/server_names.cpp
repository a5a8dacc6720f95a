// A server with several names: which context a client gets (SNI, RFC 6066 section 3).
#include <tls/settings.hpp>

#include <memory>
#include <string_view>
#include <utility>

#include <openssl/evp.h>

namespace fairlead::ssl {
namespace {

/// The context has chosen whom it verifies. One of OpenSSL's has if it verifies.
bool has_mode(SSL_CTX* c) noexcept {
    auto const* const kept = impl::settings_of(c);
    return (kept && kept->has_verify_mode) || SSL_CTX_get_verify_mode(c) != SSL_VERIFY_NONE;
}

/// Choices of the stream count first, then those of the new context, then those of the first one. A mode takes the
/// callback and the depth along: it was chosen for them, and another callback may accept anybody.
void choose_verification(SSL* s, SSL_CTX* c, impl::settings& own, impl::settings const& of_first) {
    auto const* const kept = impl::settings_of(c);
    bool const is_whole = has_mode(c);
    auto const mode = is_whole && !own.has_verify_mode ? SSL_CTX_get_verify_mode(c) : SSL_get_verify_mode(s);
    auto call = SSL_get_verify_callback(s);
    if (!own.verify) {
        if (is_whole || (kept && kept->verify))
            call = SSL_CTX_get_verify_callback(c);
        else
            own.verify = of_first.verify;
    }
    SSL_set_verify(s, mode, call);
    if (!own.has_depth && (is_whole || (kept && kept->has_depth)))
        SSL_set_verify_depth(s, SSL_CTX_get_verify_depth(c));
}

/// The first context and the new one verify together, and so does a stream that was made before the first one changed.
/// Where nobody verifies, OpenSSL's choice is right: the scope of the new context.
bool choose_scope(SSL* s, SSL_CTX* c, impl::settings const& own, impl::settings const& of_first) noexcept {
    if (own.is_alone || (!has_mode(c) && SSL_get_verify_mode(s) == SSL_VERIFY_NONE))
        return true;
    auto const* const kept = impl::settings_of(c);
    static constexpr impl::session_scope none{};
    if (!kept || kept->scope == none || of_first.scope == none) // One of OpenSSL's: nobody knows when it has changed.
        return !impl::stand_alone(s);
    struct {
        impl::session_scope first, chosen;
        int mode, depth, calls;
    } const all{of_first.scope, kept->scope, SSL_get_verify_mode(s), SSL_get_verify_depth(s),
                SSL_get_verify_callback(s) != nullptr};
    unsigned char digest[SSL_MAX_SID_CTX_LENGTH];
    std::size_t size = 0;
    return EVP_Q_digest(nullptr, "SHA256", nullptr, &all, sizeof all, digest, &size) == 1 &&
           SSL_set_session_id_context(s, digest, static_cast<unsigned>(size)) == 1;
}

/// The protocols are those of the first one unless the new one has some.
bool change_context(SSL* s, SSL_CTX* c, impl::settings const& of_first) {
    if (!c || c == SSL_get_SSL_CTX(s))
        return true;
    auto* const own = impl::make_settings(s);
    if (!own)
        return false;
    own->protocols = of_first.protocols;
    choose_verification(s, c, *own, of_first);
    return SSL_set_SSL_CTX(s, c) && choose_scope(s, c, *own, of_first);
}

/// The number in two bytes, which are taken from the front. Too few: more than there can be behind them.
std::size_t take_size(std::string_view& bytes) noexcept {
    if (bytes.size() < 2)
        return bytes.size() + 1;
    auto const n =
        static_cast<std::size_t>(static_cast<unsigned char>(bytes[0]) << 8 | static_cast<unsigned char>(bytes[1]));
    bytes.remove_prefix(2);
    return n;
}

/// The name in a ClientHello, empty: none. False: it is malformed, which OpenSSL says a little later.
bool find_name(SSL* s, std::string_view& name) noexcept {
    unsigned char const* data = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(s, TLSEXT_TYPE_server_name, &data, &size) != 1)
        return true;
    std::string_view rest(reinterpret_cast<char const*>(data), size);
    if (take_size(rest) != rest.size() || rest.empty() || rest.front() != TLSEXT_NAMETYPE_host_name)
        return false;
    rest.remove_prefix(1);
    if (take_size(rest) != rest.size() || rest.size() > TLSEXT_MAXLEN_host_name || rest.find('\0') != rest.npos)
        return false;
    name = rest;
    return true;
}

/// Before sessions are looked at: a client may resume only one of the context that is chosen. Clients of the first one
/// may not have shown a certificate for which the other one asks.
int choose_context(SSL* s, int* alert, void*) noexcept {
    auto const* const kept = impl::settings_of(SSL_get_SSL_CTX(s));
    std::string_view name;
    if (!kept || !kept->by_name || !find_name(s, name))
        return SSL_CLIENT_HELLO_SUCCESS;
    try {
        auto const chosen = kept->by_name(name);
        if (!chosen || change_context(s, chosen->native_handle(), *kept))
            return SSL_CLIENT_HELLO_SUCCESS;
        *alert = SSL_AD_INTERNAL_ERROR;
    } catch (...) {
        *alert = SSL_AD_UNRECOGNIZED_NAME;
    }
    return SSL_CLIENT_HELLO_ERROR;
}
/// The client is told that its name was of use.
int acknowledge(SSL*, int*, void*) noexcept { return SSL_TLSEXT_ERR_OK; }

} // namespace

error_code context::choose_by_name(impl::server_name_function f, error_code& ec) {
    if (SSL_CTX_get_ssl_method(handle_) == TLS_client_method())
        return ec = fairlead::error::operation_not_supported;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->by_name = std::move(f);
    SSL_CTX_set_client_hello_cb(handle_, &choose_context, nullptr);
    SSL_CTX_set_tlsext_servername_callback(handle_, &acknowledge);
    return ec = {};
}

} // namespace fairlead::ssl
