// Identities in PKCS #12, and the secrets of connections in a file.
#include <unit/tls/pair.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace fairlead::test;

class TlsFiles : public testing::Test {
public:
    ~TlsFiles() override { std::filesystem::remove(path); }
    std::string text() const {
        std::ostringstream all;
        all << std::ifstream(path).rdbuf();
        return all.str();
    }
    std::string const path = testing::TempDir() + "tls_file_" + std::to_string(::getpid());
    io_context context;
};

/// The identity of `server()`, with its authority.
std::string packed(char const* password, bool has_key = true) {
    auto const read = [](std::string const& pem) { return BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())); };
    BIO* const parts[] = {read(server().certificate), read(server().key), read(authority().certificate)};
    X509* const own = PEM_read_bio_X509(parts[0], nullptr, nullptr, nullptr);
    EVP_PKEY* const key = has_key ? PEM_read_bio_PrivateKey(parts[1], nullptr, nullptr, nullptr) : nullptr;
    STACK_OF(X509)* const others = sk_X509_new_null();
    sk_X509_push(others, PEM_read_bio_X509(parts[2], nullptr, nullptr, nullptr));
    PKCS12* const all = PKCS12_create(password, "server", key, own, others, 0, 0, 0, 0, 0);
    unsigned char* bytes = nullptr;
    auto const size = i2d_PKCS12(all, &bytes);
    std::string made(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    PKCS12_free(all);
    sk_X509_pop_free(others, &X509_free);
    EVP_PKEY_free(key);
    X509_free(own);
    for (auto* const p : parts)
        BIO_free(p);
    return made;
}

TEST_F(TlsFiles, AnIdentityComesOutOfPkcs12) {
    std::ofstream(path) << packed("secret");
    for (bool const is_file : {false, true}) {
        ssl::context of_server(ssl::context::tls_server);
        of_server.set_password_callback([](std::size_t, auto) { return std::string("secret"); });
        auto const bytes = packed("secret");
        is_file ? of_server.use_pkcs12_file(path) : of_server.use_pkcs12(buffer(bytes));
        tls_pair p(context, client_context(), std::move(of_server));
        run_through(context, [&]() -> awaitable<void> {
            auto const ends = co_await p.shake_hands();
            EXPECT_FALSE(ends.first) << ends.first.message();
        });
        STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(p.client.native_handle());
        EXPECT_EQ(sk_X509_num(chain), 2) << "with its authority";
    }
}

TEST_F(TlsFiles, Pkcs12ThatCannotBeUsedIsAnError) {
    ssl::context c(ssl::context::tls_server);
    error_code ec;
    c.use_pkcs12(buffer(packed("secret")), ec);
    EXPECT_EQ(ec, ssl::error::no_password) << ec.message();
    c.set_password_callback([](std::size_t, auto) { return std::string("wrong"); });
    c.use_pkcs12(buffer(packed("secret")), ec);
    EXPECT_EQ(ERR_GET_REASON(static_cast<unsigned long>(ec.value())), PKCS12_R_MAC_VERIFY_FAILURE) << ec.message();
    c.use_pkcs12(buffer("nothing of the kind", 19), ec);
    EXPECT_TRUE(ec);
    c.use_pkcs12_file(path + "_that_is_not_there", ec);
    EXPECT_EQ(ec, std::errc::no_such_file_or_directory) << ec.message();
    c.set_password_callback([](std::size_t, auto) { return std::string(); });
    c.use_pkcs12(buffer(packed("", false)), ec);
    EXPECT_EQ(ec.category(), error::get_ssl_category()) << "no key";
    EXPECT_EQ(SSL_CTX_get0_certificate(c.native_handle()), nullptr);
    c.use_pkcs12(buffer(packed("")), ec);
    EXPECT_FALSE(ec) << ec.message();
}

TEST_F(TlsFiles, SecretsAreAppendedLineByLine) {
    auto of_client = client_context();
    of_client.set_key_log_file(path);
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_read | perms::owner_write);
    for (int i = 0; i != 2; ++i) {
        ssl::context again = client_context();
        again.set_key_log_file(path);
        tls_pair p(context, std::move(again), server_context());
        run_through(context, [&]() -> awaitable<void> { co_await p.shake_hands(); });
    }
    std::istringstream lines(text());
    std::string line;
    int of_traffic = 0;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string label, random, secret, none;
        EXPECT_TRUE(words >> label >> random >> secret) << line;
        EXPECT_FALSE(words >> none) << line;
        EXPECT_EQ(random.size(), 64U);
        of_traffic += label == "CLIENT_TRAFFIC_SECRET_0";
    }
    EXPECT_EQ(of_traffic, 2);
}

TEST_F(TlsFiles, ALogThatCannotBeWrittenIsAnError) {
    ssl::context c(ssl::context::tls);
    error_code ec;
    c.set_key_log_file(path + "/in/no/folder", ec);
    EXPECT_EQ(ec, std::errc::no_such_file_or_directory) << ec.message();
    EXPECT_THROW(c.set_key_log_file("/"), system_error);
}

TEST(TlsIdentity, AKeyOfAnotherCertificateIsAnErrorInEitherOrder) {
    auto const other = make_identity("other.test"), of_rsa = make_identity("other.test", {.is_rsa = true});
    for (auto const* const wrong : {&other, &of_rsa}) {
        error_code ec;
        ssl::context certificate_first(ssl::context::tls_server);
        certificate_first.use_certificate_chain(buffer(server().certificate));
        certificate_first.use_private_key(buffer(wrong->key), ssl::context::pem, ec);
        EXPECT_TRUE(ec) << "every handshake would end with no shared cipher";
        ssl::context key_first(ssl::context::tls_server);
        key_first.use_private_key(buffer(wrong->key), ssl::context::pem, ec);
        EXPECT_FALSE(ec) << ec.message();
        key_first.use_certificate_chain(buffer(server().certificate), ec);
        EXPECT_TRUE(ec) << "every handshake would end with no shared cipher";
        key_first.use_private_key(buffer(wrong->key), ssl::context::pem, ec);
        EXPECT_TRUE(ec);
    }
}

TEST(TlsIdentity, ACertificateAndItsKeyComeInEitherOrderAndAreReplaced) {
    auto const other = make_identity("other.test"), of_rsa = make_identity("other.test", {.is_rsa = true});
    ssl::context c(ssl::context::tls_server);
    c.use_private_key(buffer(other.key), ssl::context::pem);
    c.use_certificate_chain(buffer(other.certificate));
    for (auto const* const next : {&server(), &of_rsa, &other, &of_rsa})
        use(c, *next);
    EXPECT_EQ(SSL_CTX_check_private_key(c.native_handle()), 1);
}

/// The key of `server()`, for whoever has the password.
std::string encrypted_key(char const* password) {
    BIO* const from = BIO_new_mem_buf(server().key.data(), static_cast<int>(server().key.size()));
    BIO* const to = BIO_new(BIO_s_mem());
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(from, nullptr, nullptr, nullptr);
    PEM_write_bio_PKCS8PrivateKey(to, key, EVP_aes_128_cbc(), password, static_cast<int>(std::strlen(password)),
                                  nullptr, nullptr);
    char* bytes = nullptr;
    auto const size = BIO_get_mem_data(to, &bytes);
    std::string text(bytes, static_cast<std::size_t>(size));
    EVP_PKEY_free(key);
    BIO_free(from);
    BIO_free(to);
    return text;
}

TEST_F(TlsFiles, AKeyThatIsEncryptedNeedsThePassword) {
    auto const key = encrypted_key("secret");
    std::ofstream(path) << key;
    ssl::context c(ssl::context::tls_server);
    error_code ec;
    c.use_private_key(buffer(key), ssl::context::pem, ec);
    EXPECT_EQ(ec, ssl::error::no_password) << ec.message();
    c.use_private_key_file(path, ssl::context::pem, ec);
    EXPECT_EQ(ec, ssl::error::no_password) << ec.message();
    c.set_password_callback([](std::size_t, auto) { return std::string("wrong"); });
    c.use_private_key_file(path, ssl::context::pem, ec);
    EXPECT_EQ(ec.category(), error::get_ssl_category()) << "there was one";
    c.set_password_callback([](std::size_t, auto) { return std::string("secret"); });
    c.use_private_key(buffer(key), ssl::context::pem, ec);
    EXPECT_FALSE(ec) << ec.message();
}

} // namespace
