// The contexts of TLS programs that have one source for Fairlead and for Asio.
#pragma once

#include "tls_agreement.hpp"

#include <asio.hpp>
#include <asio/ssl.hpp>

namespace tls {

struct contexts {
    asio::ssl::context client{asio::ssl::context::tls_client};
    asio::ssl::context server{asio::ssl::context::tls_server};

    explicit contexts(identities const& those) {
        agree(client.native_handle());
        agree(server.native_handle());
        client.add_certificate_authority(asio::buffer(those.authority.certificate_text));
        client.set_verify_mode(asio::ssl::verify_peer);
        server.use_certificate_chain(asio::buffer(those.server.certificate_text));
        server.use_private_key(asio::buffer(those.server.key_text), asio::ssl::context::pem);
    }
};

/// Before a client's handshake: the name that the server has to have.
template <class Stream> void expect_server(Stream& s) {
#ifdef FAIRLEAD_VERSION_MAJOR
    s.set_host_name(host_name);
#else
    s.set_verify_callback(asio::ssl::host_name_verification(host_name));
    need(SSL_set_tlsext_host_name(s.native_handle(), host_name) == 1);
#endif
}

} // namespace tls
