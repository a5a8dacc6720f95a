// All programs of TLS agree on TLS 1.3 with AES-128-GCM and X25519. Certificates are of ECDSA P-256, and a handshake has
// one ticket. The client verifies the server against an authority, and its name.
//
// Each program makes its certificates when it starts.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace tls {

inline constexpr char const* host_name = "server.test";

template <auto Free> struct freed_by {
    template <class T> void operator()(T* p) const noexcept { Free(p); }
};
template <class T, auto Free> using owned = std::unique_ptr<T, freed_by<Free>>;
using context_ptr = owned<SSL_CTX, &SSL_CTX_free>;
using ssl_ptr = owned<SSL, &SSL_free>;

inline void need(bool is_fine) {
    if (!is_fine)
        std::abort();
}
template <class P> P need_one(P p) {
    need(p != nullptr);
    return p;
}

/// A certificate and its key, also as PEM.
struct identity {
    owned<EVP_PKEY, &EVP_PKEY_free> key{need_one(EVP_EC_gen("P-256"))};
    owned<X509, &X509_free> certificate{need_one(X509_new())};
    std::string certificate_text, key_text;

    /// Signed by `by`, or an authority if that is null.
    explicit identity(char const* name, identity const* by) {
        auto* const c = certificate.get();
        auto const& issuer = by ? *by : *this;
        need(X509_set_version(c, 2) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(c), by ? 2 : 1) == 1);
        X509_gmtime_adj(X509_getm_notBefore(c), -3600);
        X509_gmtime_adj(X509_getm_notAfter(c), 24 * 3600);
        X509_set_pubkey(c, key.get());
        X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_UTF8,
                                   reinterpret_cast<unsigned char const*>(name), -1, -1, 0);
        X509_set_issuer_name(c, X509_get_subject_name(issuer.certificate.get()));
        extend(issuer, NID_basic_constraints, by ? "CA:FALSE" : "critical,CA:TRUE");
        if (by)
            extend(issuer, NID_subject_alt_name, std::string("DNS:") + name);
        need(X509_sign(c, issuer.key.get(), EVP_sha256()) != 0);
        certificate_text = text([c](BIO* b) { return PEM_write_bio_X509(b, c); });
        key_text = text(
            [k = key.get()](BIO* b) { return PEM_write_bio_PrivateKey(b, k, nullptr, nullptr, 0, nullptr, nullptr); });
    }

private:
    void extend(identity const& issuer, int what, std::string const& value) {
        X509V3_CTX of;
        X509V3_set_ctx(&of, issuer.certificate.get(), certificate.get(), nullptr, nullptr, 0);
        owned<X509_EXTENSION, &X509_EXTENSION_free> const e(
            need_one(X509V3_EXT_conf_nid(nullptr, &of, what, value.c_str())));
        need(X509_add_ext(certificate.get(), e.get(), -1) == 1);
    }
    template <class Write> static std::string text(Write write) {
        owned<BIO, &BIO_free> const b(need_one(BIO_new(BIO_s_mem())));
        need(write(b.get()) == 1);
        char* data = nullptr;
        auto const n = BIO_get_mem_data(b.get(), &data);
        return {data, static_cast<std::size_t>(n)};
    }
};
struct identities {
    identity authority{"authority of the benchmarks", nullptr};
    identity server{host_name, &authority};
};

/// For both sides, whoever has made the context.
inline void agree(SSL_CTX* c) {
    need(SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1);
    need(SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256") == 1);
    need(SSL_CTX_set1_groups_list(c, "X25519") == 1);
    need(SSL_CTX_set_num_tickets(c, 1) == 1);
}

/// Of bare OpenSSL.
struct bare_contexts {
    context_ptr client{need_one(SSL_CTX_new(TLS_client_method()))};
    context_ptr server{need_one(SSL_CTX_new(TLS_server_method()))};

    explicit bare_contexts(identities const& those) {
        agree(client.get());
        agree(server.get());
        SSL_CTX_set_verify(client.get(), SSL_VERIFY_PEER, nullptr);
        need(X509_STORE_add_cert(SSL_CTX_get_cert_store(client.get()), those.authority.certificate.get()) == 1);
        need(SSL_CTX_use_certificate(server.get(), those.server.certificate.get()) == 1);
        need(SSL_CTX_use_PrivateKey(server.get(), those.server.key.get()) == 1);
    }
    /// Each recv takes as much as there is, up to four records of the largest size. Else it takes a record's head, or
    /// the rest of it.
    void read_ahead() {
        for (auto* c : {client.get(), server.get()}) {
            SSL_CTX_set_read_ahead(c, 1);
            SSL_CTX_set_default_read_buffer_len(c, 4 * (16'384 + 256 + 5));
        }
    }
    ssl_ptr make_client(int fd) const {
        ssl_ptr s(need_one(SSL_new(client.get())));
        need(SSL_set_fd(s.get(), fd) == 1 && SSL_set1_host(s.get(), host_name) == 1 &&
             SSL_set_tlsext_host_name(s.get(), host_name) == 1);
        SSL_set_connect_state(s.get());
        return s;
    }
    ssl_ptr make_server(int fd) const {
        ssl_ptr s(need_one(SSL_new(server.get())));
        need(SSL_set_fd(s.get(), fd) == 1);
        SSL_set_accept_state(s.get());
        return s;
    }
};

/// The newest session of a client's, for its next handshake.
class kept_session {
public:
    /// One of OpenSSL's contexts; not for those of ours, which keep sessions by themselves.
    void begin(SSL_CTX* c) {
        need(SSL_CTX_set_ex_data(c, index(), this) == 1);
        SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
        SSL_CTX_sess_set_new_cb(c, [](SSL* s, SSL_SESSION* session) {
            static_cast<kept_session*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(s), index()))->last_.reset(session);
            return 1;
        });
    }
    void resume(SSL* s) const {
        if (last_)
            need(SSL_set_session(s, last_.get()) == 1);
    }
    /// Before the connection ends: without a goodbye OpenSSL would mark the session as of no use.
    static void spare(SSL* s) { SSL_set_shutdown(s, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); }

private:
    static int index() {
        static int const i = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
        return i;
    }
    owned<SSL_SESSION, &SSL_SESSION_free> last_;
};

} // namespace tls
