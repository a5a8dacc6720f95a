// Certificates for tests, made when they are asked for, and two sides that use them.
#pragma once

#include <fairlead/tls/context.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace fairlead::test {

/// A certificate and its key as PEM.
struct identity {
    std::string certificate;
    std::string key;
};

/// How one differs from a good one.
struct certificate_terms {
    std::string names = "DNS:server.test,DNS:*.wild.test,IP:127.0.0.1"; ///< as openssl.cnf has them
    long begins = -3600;                                                ///< seconds from now
    long ends = 3600;
    bool is_authority = false;
};

/// Signed by `by`, or by itself if that is null.
identity make_identity(std::string_view name, certificate_terms const& terms = {}, identity const* by = nullptr);

/// An authority, and a server that it vouches for. Made once.
identity const& authority();
identity const& server();

inline void use(ssl::context& c, identity const& i) {
    c.use_certificate_chain(buffer(i.certificate));
    c.use_private_key(buffer(i.key), ssl::context::pem);
}
/// For servers: who they are.
inline ssl::context server_context(ssl::context::method m = ssl::context::tls_server) {
    ssl::context c(m);
    use(c, server());
    return c;
}
/// For clients: they trust the authority only.
inline ssl::context client_context(ssl::context::method m = ssl::context::tls_client) {
    ssl::context c(m);
    c.add_certificate_authority(buffer(authority().certificate));
    return c;
}

} // namespace fairlead::test
