// Row L13: endless records and messages that say nothing. Each costs the peer next to nothing.
#include <unit/tls/pair.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;
using octets = std::vector<unsigned char>;

/// Records of a client of TLS 1.2 with AES-128-GCM, after its Finished. OpenSSL would not write such ones.
class forged_client {
public:
    explicit forged_client(SSL* s) {
        unsigned char secret[48], seed[64];
        auto const n = SSL_SESSION_get_master_key(SSL_get0_session(s), secret, sizeof secret);
        SSL_get_server_random(s, seed, 32);
        SSL_get_client_random(s, seed + 32, 32);
        std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> const kind(EVP_KDF_fetch(nullptr, "TLS1-PRF", nullptr),
                                                                &EVP_KDF_free);
        std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> const kdf(EVP_KDF_CTX_new(kind.get()), &EVP_KDF_CTX_free);
        char digest[] = "SHA256", label[] = "key expansion";
        OSSL_PARAM const terms[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                                    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, secret, n),
                                    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, label, sizeof label - 1),
                                    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed, sizeof seed),
                                    OSSL_PARAM_construct_end()};
        EXPECT_EQ(EVP_KDF_derive(kdf.get(), keys_.data(), keys_.size(), terms), 1);
    }
    std::string record(unsigned char type, std::string_view text) {
        unsigned char about[13] = {}, nonce[12], explicit_nonce[8];
        for (int i = 0; i != 8; ++i)
            about[i] = explicit_nonce[i] = static_cast<unsigned char>(sequence_ >> (56 - 8 * i));
        ++sequence_;
        about[8] = type;
        about[9] = about[10] = 3;
        about[11] = static_cast<unsigned char>(text.size() >> 8);
        about[12] = static_cast<unsigned char>(text.size());
        std::memcpy(nonce, keys_.data() + 32, 4); // behind the keys of both sides
        std::memcpy(nonce + 4, explicit_nonce, 8);
        octets sealed(text.size() + 16);
        std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> const c(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
        int n = 0;
        EVP_EncryptInit_ex(c.get(), EVP_aes_128_gcm(), nullptr, keys_.data(), nonce);
        EVP_EncryptUpdate(c.get(), nullptr, &n, about, sizeof about);
        if (!text.empty())
            EVP_EncryptUpdate(c.get(), sealed.data(), &n, reinterpret_cast<unsigned char const*>(text.data()),
                              static_cast<int>(text.size()));
        EVP_EncryptFinal_ex(c.get(), sealed.data() + text.size(), &n);
        EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_GET_TAG, 16, sealed.data() + text.size());
        auto const size = sizeof explicit_nonce + sealed.size();
        std::string all{static_cast<char>(type), 3, 3, static_cast<char>(size >> 8), static_cast<char>(size)};
        all.append(reinterpret_cast<char const*>(explicit_nonce), sizeof explicit_nonce);
        all.append(reinterpret_cast<char const*>(sealed.data()), sealed.size());
        return all;
    }

private:
    std::array<unsigned char, 40> keys_{};
    std::uint64_t sequence_ = 1;
};

class TlsFloods : public testing::Test {
public:
    io_context context;
    char got[100];
    /// The next read of the server, with so many bytes for it.
    error_code read_after(tls_pair& p, std::string const& bytes) {
        error_code ec;
        run_through(context, [&]() -> awaitable<void> {
            co_await async_write(p.client.next_layer(), buffer(bytes));
            auto reading = p.server.async_read_some(buffer(got), redirect_error(ec));
            got[co_await std::move(reading)] = '\0';
        });
        return ec;
    }
    static ssl::context client_of_gcm() {
        auto c = client_context(ssl::context::tlsv12_client);
        SSL_CTX_set_cipher_list(c.native_handle(), "ECDHE-ECDSA-AES128-GCM-SHA256");
        return c;
    }
};

TEST_F(TlsFloods, L13_EmptyRecordsBehindTheHandshakeEndTheStream) {
    tls_pair p(context, client_of_gcm(), server_context());
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    forged_client forged(p.client.native_handle());
    std::string some;
    for (int i = 0; i != 20; ++i) // A few are no attack.
        some += forged.record(23, "");
    EXPECT_FALSE(read_after(p, some + forged.record(23, "text")));
    EXPECT_STREQ(got, "text");
    std::string many;
    for (int i = 0; i != 2000; ++i)
        many += forged.record(23, "");
    auto const ec = read_after(p, many);
    EXPECT_EQ(ec.category(), error::get_ssl_category()) << ec.message();
}

TEST_F(TlsFloods, L13_WarningsWithoutEndEndTheStream) {
    tls_pair p(context, client_of_gcm(), server_context());
    run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    forged_client forged(p.client.native_handle());
    std::string many;
    for (int i = 0; i != 2000; ++i)
        many += forged.record(21, std::string_view("\x01\x5a", 2)); // a warning: user_canceled
    auto const ec = read_after(p, many);
    EXPECT_EQ(ec.category(), error::get_ssl_category()) << ec.message();
}

TEST_F(TlsFloods, L13_EmptyRecordsEndTheHandshake) {
    for (std::string const& each : {std::string("\x16\x03\x01\x00\x00", 5), std::string("\x15\x03\x01\x00\x00", 5),
                                    std::string("\x15\x03\x01\x00\x02\x01\x5a", 7)}) {
        std::string bytes;
        for (int i = 0; i != 2000; ++i)
            bytes += each;
        auto const ec = handshake_after(context, bytes);
        EXPECT_EQ(ec.category(), error::get_ssl_category()) << ec.message();
    }
}

TEST_F(TlsFloods, L13_UpdatesOfKeysWithoutEndEndTheStream) {
    tls_pair p(context, client_context(ssl::context::tlsv13_client), server_context());
    p.of_server.set_handshake_size_max(10'000);
    p.server = tls_socket(context, p.of_server);
    p.client = tls_socket(context, p.of_client);
    p.connect();
    error_code ec;
    int sent = 0;
    run_through(context, [&]() -> awaitable<void> {
        co_await p.shake_hands();
        auto const updates = [](tls_socket& s, int& n) -> awaitable<void> {
            for (error_code e; !e && n != 2000; ++n) {
                EXPECT_EQ(SSL_key_update(s.native_handle(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
                auto op = s.async_handshake(ssl::stream_base::client, redirect_error(e)); // It sends the update.
                co_await std::move(op);
            }
        };
        auto const reads = [](TlsFloods& t, tls_socket& s, error_code& e) -> awaitable<void> {
            auto reading = s.async_read_some(buffer(t.got), redirect_error(e));
            co_await std::move(reading);
            s.next_layer().close();
        };
        auto client = updates(p.client, sent);
        auto server = reads(*this, p.server, ec);
        co_await when_all(std::move(client), std::move(server));
    });
    EXPECT_LT(sent, 2000);
    EXPECT_EQ(ec, ssl::error::handshake_too_large) << ec.message();
}

} // namespace
