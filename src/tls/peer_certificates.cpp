// The certificates that the peer has sent.
#include <fairlead/tls/operations.hpp>

#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace fairlead::ssl::impl {
namespace {

std::string der_of(X509* c) {
    std::string bytes;
    if (int const size = i2d_X509(c, nullptr); size > 0) {
        bytes.resize(static_cast<std::size_t>(size));
        auto* into = reinterpret_cast<unsigned char*>(bytes.data());
        i2d_X509(c, &into);
    }
    return bytes;
}

} // namespace

std::vector<std::string> stream_core::peer_certificates() const {
    auto* const s = native_handle();
    std::vector<std::string> all;
    X509* const own = SSL_get0_peer_certificate(s);
    if (!own)
        return all;
    all.push_back(der_of(own));
    STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(s);
    // OpenSSL has the peer's own in the chain of a server, and not in that of a client.
    for (int i = SSL_is_server(s) ? 0 : 1; i < sk_X509_num(chain); ++i)
        all.push_back(der_of(sk_X509_value(chain, i)));
    return all;
}

} // namespace fairlead::ssl::impl
