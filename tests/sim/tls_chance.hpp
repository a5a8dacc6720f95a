// OpenSSL in a simulated world: its random numbers follow the seed, and one certificate is the same in every run.
//
// Times inside tickets still differ from run to run. They change no length, and nothing that is decided.
#pragma once

#include <fairlead/tls/context.hpp>

#include <fairlead/sim/random.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace fairlead::test::tls_script {

/// While it lives, OpenSSL draws from the seed in place of its own generators.
class openssl_chance {
public:
    explicit openssl_chance(std::uint64_t seed) {
        numbers() = sim::random_stream(seed, 0x0551);
        use(&method());
    }
    openssl_chance(openssl_chance const&) = delete;
    openssl_chance& operator=(openssl_chance const&) = delete;
    ~openssl_chance() { use(nullptr); }

private:
    static sim::random_stream& numbers() {
        static sim::random_stream s(0, 0);
        return s;
    }
    static int draw(unsigned char* into, int n) {
        for (int i = 0; i != n; ++i)
            into[i] = static_cast<unsigned char>(numbers().next() >> 56);
        return 1;
    }
    static RAND_METHOD const& method() {
        static RAND_METHOD const m = {[](void const*, int) { return 1; },         &draw, [] {},
                                      [](void const*, int, double) { return 1; }, &draw, [] { return 1; }};
        return m;
    }
    static void use(RAND_METHOD const* m) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                                         \
    "-Wdeprecated-declarations" // A provider of random numbers would be a library of its own.
        if (RAND_set_rand_method(m) != 1)
            std::abort();
#pragma GCC diagnostic pop
    }
};

struct pem_identity {
    std::string certificate, key;
};

/// "server.test" and its key. With Ed25519 a signature has one length and no random part.
inline pem_identity const& fixed_identity() {
    static pem_identity const made = [] {
        unsigned char secret[32];
        for (unsigned i = 0; i != sizeof secret; ++i)
            secret[i] = static_cast<unsigned char>(7 * i + 1);
        std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> const key(
            EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret, sizeof secret), &EVP_PKEY_free);
        std::unique_ptr<X509, void (*)(X509*)> const c(X509_new(), &X509_free);
        X509_set_version(c.get(), 2);
        ASN1_INTEGER_set(X509_get_serialNumber(c.get()), 1);
        ASN1_TIME_set_string(X509_getm_notBefore(c.get()), "20200101000000Z");
        ASN1_TIME_set_string(X509_getm_notAfter(c.get()), "21000101000000Z");
        X509_set_pubkey(c.get(), key.get());
        auto const* const name = reinterpret_cast<unsigned char const*>("server.test");
        X509_NAME_add_entry_by_txt(X509_get_subject_name(c.get()), "CN", MBSTRING_UTF8, name, -1, -1, 0);
        X509_set_issuer_name(c.get(), X509_get_subject_name(c.get()));
        X509V3_CTX of;
        X509V3_set_ctx(&of, c.get(), c.get(), nullptr, nullptr, 0);
        auto* const names = X509V3_EXT_conf_nid(nullptr, &of, NID_subject_alt_name, "DNS:server.test");
        X509_add_ext(c.get(), names, -1);
        X509_EXTENSION_free(names);
        if (X509_sign(c.get(), key.get(), nullptr) == 0)
            std::abort();
        auto const text_of = [](auto write) {
            std::unique_ptr<BIO, int (*)(BIO*)> const b(BIO_new(BIO_s_mem()), &BIO_free);
            write(b.get());
            char* data = nullptr;
            auto const n = BIO_get_mem_data(b.get(), &data);
            return std::string(data, static_cast<std::size_t>(n));
        };
        return pem_identity{text_of([&](BIO* b) { PEM_write_bio_X509(b, c.get()); }), text_of([&](BIO* b) {
                                PEM_write_bio_PrivateKey(b, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
                            })};
    }();
    return made;
}

/// Of one version of the protocol.
inline ssl::context scripted_context(bool is_client, int version) {
    ssl::context c(is_client ? ssl::context::tls_client : ssl::context::tls_server);
    if (is_client) {
        c.add_certificate_authority(buffer(fixed_identity().certificate));
        c.keep_sessions(10);
    } else {
        c.use_certificate_chain(buffer(fixed_identity().certificate));
        c.use_private_key(buffer(fixed_identity().key), ssl::context::pem);
    }
    SSL_CTX_set_min_proto_version(c.native_handle(), version);
    SSL_CTX_set_max_proto_version(c.native_handle(), version);
    return c;
}

} // namespace fairlead::test::tls_script
