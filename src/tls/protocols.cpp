// The protocol inside TLS, on which the handshake agrees (ALPN, RFC 7301).
#include <fairlead/tls/operations.hpp>

#include <tls/engine.hpp>
#include <tls/settings.hpp>

#include <algorithm>
#include <climits>
#include <string_view>

namespace fairlead::ssl {
namespace impl {
namespace {

constexpr std::size_t name_most = 255;
constexpr std::size_t list_most = 65'535;

/// The first name of a list, which it loses.
std::string_view take_first(std::string_view& list) noexcept {
    auto const name = list.substr(1, static_cast<unsigned char>(list.front()));
    list.remove_prefix(std::min(list.size(), 1 + name.size()));
    return name;
}
bool contains(std::string_view list, std::string_view wanted) noexcept {
    while (!list.empty())
        if (take_first(list) == wanted)
            return true;
    return false;
}
char const* bytes_of(unsigned char const* p) noexcept { return reinterpret_cast<char const*>(p); }
unsigned char const* octets_of(std::string_view s) noexcept { return reinterpret_cast<unsigned char const*>(s.data()); }

} // namespace

int choose_protocol(SSL* s, unsigned char const** chosen, unsigned char* size, unsigned char const* offered,
                    unsigned offered_size, void*) noexcept {
    auto const* kept = settings_of(SSL_get_SSL_CTX(s));
    if (!kept || kept->protocols.empty())
        kept = settings_of(s); // The name of the server has chosen another context, without protocols.
    if (!kept || kept->protocols.empty())
        return SSL_TLSEXT_ERR_NOACK;
    std::string_view const theirs(bytes_of(offered), offered_size);
    for (std::string_view ours = kept->protocols; !ours.empty();)
        if (auto const name = take_first(ours); contains(theirs, name)) {
            *chosen = octets_of(name); // Copied by OpenSSL before the settings can change.
            *size = static_cast<unsigned char>(name.size());
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_ALERT_FATAL; // no_application_protocol
}

std::string_view stream_core::alpn_protocol() const noexcept {
    unsigned char const* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(native_handle(), &name, &size);
    return {bytes_of(name), size};
}

} // namespace impl

error_code context::set_alpn_protocols(std::vector<std::string> const& names, error_code& ec) {
    std::string list;
    for (auto const& name : names) {
        if (name.empty() || name.size() > impl::name_most)
            return ec = fairlead::error::invalid_argument;
        list += static_cast<char>(static_cast<unsigned char>(name.size()));
        list += name;
    }
    if (list.size() > impl::list_most)
        return ec = fairlead::error::invalid_argument;
    auto* const kept = impl::make_settings(handle_);
    if (!kept || SSL_CTX_set_alpn_protos(handle_, impl::octets_of(list), static_cast<unsigned>(list.size())) != 0)
        return ec = fairlead::error::no_memory;
    SSL_CTX_set_alpn_select_cb(handle_, &impl::choose_protocol, nullptr); // It may be a context of OpenSSL's.
    kept->protocols = std::move(list);
    kept->sessions.begin_epoch(); // Early data of a session is for the protocol that its handshake had agreed on.
    return ec = {};
}

} // namespace fairlead::ssl
