// Bytes that a client sends ahead of its handshake (early data, RFC 8446 section 2.3).
#include <fairlead/tls/operations.hpp>

#include <tls/engine.hpp>
#include <tls/machine.hpp>
#include <tls/settings.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fairlead::ssl {
namespace impl {

error_code keep_early_data(SSL* s, void const* from, std::size_t size) noexcept {
    auto* const own = make_settings(s);
    if (!own)
        return fairlead::error::no_memory;
    try {
        own->early_data.assign(static_cast<char const*>(from), size);
    } catch (...) {
        return fairlead::error::no_memory;
    }
    own->early_data_sent = 0;
    return {};
}
std::string_view early_data_of(SSL const* s) noexcept {
    auto const* const own = settings_of(s);
    return own ? std::string_view(own->early_data).substr(own->early_data_sent) : std::string_view();
}
void consume_early_data(SSL* s, std::size_t n) noexcept { settings_of(s)->early_data_sent += n; }
void forget_early_data(SSL* s) noexcept {
    if (auto* const own = settings_of(s))
        std::exchange(own->early_data, {}).clear();
}
bool allows_early_data(SSL const* s) noexcept {
    auto const* const session = SSL_get0_session(s);
    return session && SSL_SESSION_is_resumable(session) &&
           SSL_SESSION_get_max_early_data(session) >= early_data_of(s).size();
}

error_code stream_core::set_early_data(const_buffer const& b) noexcept {
    return own().tls().set_early_data(b.data(), b.size());
}
early_data stream_core::early_data_outcome() const noexcept {
    switch (SSL_get_early_data_status(native_handle())) {
    case SSL_EARLY_DATA_ACCEPTED: return early_data::accepted;
    case SSL_EARLY_DATA_REJECTED: return early_data::refused;
    default: return early_data::not_sent;
    }
}

} // namespace impl

error_code context::accept_replayable_early_data(std::size_t most, error_code& ec) {
    if (SSL_CTX_get_ssl_method(handle_) == TLS_client_method())
        return ec = fairlead::error::operation_not_supported;
    if (most == 0 || most > UINT32_MAX)
        return ec = fairlead::error::invalid_argument;
    auto const n = static_cast<std::uint32_t>(most);
    SSL_CTX_set_max_early_data(handle_, n);
    // Of a client that has a ticket from before. Bytes that are refused have to be skipped, up to this limit.
    SSL_CTX_set_recv_max_early_data(handle_, std::max(n, SSL_CTX_get_recv_max_early_data(handle_)));
    return ec = {};
}

} // namespace fairlead::ssl
