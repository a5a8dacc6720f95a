// Certificates for tests, made when they are asked for, and two sides that use them.
#pragma once

#include <fairlead/tls/context.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
    bool is_rsa = false;
    std::string purposes = {}; ///< as openssl.cnf has them; empty: any
    std::string features = {}; ///< of TLS, which its server promises to have, as openssl.cnf has them
};

/// Signed by `by`, or by itself if that is null.
identity make_identity(std::string_view name, certificate_terms const& terms = {}, identity const* by = nullptr);

/// How the answer of an authority about a certificate differs from a good one.
struct ocsp_terms {
    int status = 0;                    ///< good; 1: revoked, 2: unknown
    long begins = -60;                 ///< seconds from now
    long ends = 3600;                  ///< 0: it does not say
    identity const* subject = nullptr; ///< null: server()
    identity const* signer = nullptr;  ///< null: authority(), which has signed the subject in any case
};
/// An OCSP response with an answer for each of `all`, DER. The first one's signer signs.
std::string make_ocsp_response(std::vector<ocsp_terms> const& all = {{}});

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
