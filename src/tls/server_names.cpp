// A server with several names: which context a client gets (SNI, RFC 6066 section 3).
#include <tls/settings.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace fairlead::ssl {
namespace {

/// The stream changes its context. It keeps the choices of the first one about its peer and about protocols.
bool keep_choices(SSL* s, impl::settings const& of_first) {
    auto* const own = impl::make_settings(s);
    if (!own)
        return false;
    if (!own->verify)
        own->verify = of_first.verify;
    own->protocols = of_first.protocols;
    return true;
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
        if (!chosen || (keep_choices(s, *kept) && SSL_set_SSL_CTX(s, chosen->native_handle())))
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
