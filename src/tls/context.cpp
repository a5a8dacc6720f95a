#include <fairlead/tls/context.hpp>

#include <tls/engine.hpp>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace fairlead::ssl {

static_assert(context_base::default_workarounds == SSL_OP_ALL && context_base::no_sslv3 == SSL_OP_NO_SSLv3 &&
              context_base::no_tlsv1 == SSL_OP_NO_TLSv1 && context_base::no_tlsv1_1 == SSL_OP_NO_TLSv1_1 &&
              context_base::no_tlsv1_2 == SSL_OP_NO_TLSv1_2 && context_base::no_tlsv1_3 == SSL_OP_NO_TLSv1_3 &&
              context_base::no_compression == SSL_OP_NO_COMPRESSION && verify_none == SSL_VERIFY_NONE &&
              verify_peer == SSL_VERIFY_PEER && verify_fail_if_no_peer_cert == SSL_VERIFY_FAIL_IF_NO_PEER_CERT &&
              verify_client_once == SSL_VERIFY_CLIENT_ONCE);

namespace {

template <auto Free> struct freed_by {
    template <class T> void operator()(T* p) const noexcept { Free(p); }
};
using bio_ptr = std::unique_ptr<BIO, freed_by<&BIO_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<&X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<&EVP_PKEY_free>>;

struct protocols {
    SSL_METHOD const* method;
    int least, most; // 0: what there is
};
protocols protocols_of(context_base::method m) noexcept {
    using enum context_base::method;
    switch (m) {
    case sslv23:
    case tls: return {TLS_method(), TLS1_2_VERSION, 0};
    case sslv23_client:
    case tls_client: return {TLS_client_method(), TLS1_2_VERSION, 0};
    case sslv23_server:
    case tls_server: return {TLS_server_method(), TLS1_2_VERSION, 0};
    case tlsv12: return {TLS_method(), TLS1_2_VERSION, TLS1_2_VERSION};
    case tlsv12_client: return {TLS_client_method(), TLS1_2_VERSION, TLS1_2_VERSION};
    case tlsv12_server: return {TLS_server_method(), TLS1_2_VERSION, TLS1_2_VERSION};
    case tlsv13: return {TLS_method(), TLS1_3_VERSION, TLS1_3_VERSION};
    case tlsv13_client: return {TLS_client_method(), TLS1_3_VERSION, TLS1_3_VERSION};
    case tlsv13_server: return {TLS_server_method(), TLS1_3_VERSION, TLS1_3_VERSION};
    default: return {nullptr, 0, 0};
    }
}

thread_local bool has_lacked_password = false; ///< since the function that this thread is in began
/// Nobody asks on a terminal.
int no_password(char*, int, int, void*) {
    has_lacked_password = true;
    return 0;
}
int call_password(char* into, int size, int is_for_writing, void* of) {
    try {
        auto const most = static_cast<std::size_t>(size);
        auto password = (*static_cast<impl::password_function*>(of))(most, is_for_writing ? context_base::for_writing
                                                                                          : context_base::for_reading);
        auto const n = std::min(password.size(), most);
        std::memcpy(into, password.data(), n);
        OPENSSL_cleanse(password.data(), password.size()); // It would stay in memory that was given back.
        return static_cast<int>(n);
    } catch (...) { // The key stays encrypted, and reading it fails.
        return 0;
    }
}
void forget_password_of(SSL_CTX* c) noexcept {
    if (c && SSL_CTX_get_default_passwd_cb(c) == &call_password) {
        delete static_cast<impl::password_function*>(SSL_CTX_get_default_passwd_cb_userdata(c));
        SSL_CTX_set_default_passwd_cb(c, &no_password);
        SSL_CTX_set_default_passwd_cb_userdata(c, nullptr);
    }
}

/// Unless f() returns true, the error is the one that OpenSSL has noted meanwhile.
template <class F> error_code result_of(F f) {
    ERR_clear_error();
    has_lacked_password = false;
    if (f())
        return {};
    return has_lacked_password ? make_error_code(error::no_password) : impl::last_error();
}
/// As result_of(), where the identity of a context changes. Sessions of the one before are not resumed.
template <class F> error_code identity_of(SSL_CTX* c, F f) {
    impl::forget_sessions(c);
    return result_of(f);
}
/// A certificate and its key are told apart here, where they are set, and not in a handshake.
bool fits(SSL_CTX* c) noexcept { return !SSL_CTX_get0_certificate(c) || SSL_CTX_check_private_key(c) == 1; }
bool is_mismatch() noexcept {
    ERR_raise(ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH);
    return false;
}
/// use() sets a certificate. OpenSSL drops a key that was there first and belongs to another one.
template <class Use> bool certificate_by(SSL_CTX* c, Use use) {
    bool const has_key_alone = SSL_CTX_get0_privatekey(c) && !SSL_CTX_get0_certificate(c);
    return use() && (!has_key_alone || SSL_CTX_get0_privatekey(c) || is_mismatch());
}
/// use() sets a key. OpenSSL keeps one of another kind than the certificate beside that.
template <class Use> bool key_by(SSL_CTX* c, Use use) {
    bool const has_certificate_alone = SSL_CTX_get0_certificate(c) && !SSL_CTX_get0_privatekey(c);
    if (!use())
        return false;
    if (has_certificate_alone && !SSL_CTX_get0_certificate(c))
        return is_mismatch();
    return fits(c);
}
template <class F> error_code certificate_of(SSL_CTX* c, F f) {
    return identity_of(c, [&] { return certificate_by(c, f); });
}
template <class F> error_code key_of(SSL_CTX* c, F f) {
    return identity_of(c, [&] { return key_by(c, f); });
}
bio_ptr over(const_buffer const& b) noexcept {
    return bio_ptr(b.size() <= INT_MAX ? BIO_new_mem_buf(b.data(), static_cast<int>(b.size())) : nullptr);
}
/// PEM is over when there is no further beginning.
bool is_end_of_pem() noexcept {
    auto const e = ERR_peek_last_error();
    return ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
}
int number_of(context_base::file_format f) noexcept {
    return f == context_base::asn1 ? SSL_FILETYPE_ASN1 : SSL_FILETYPE_PEM;
}
bool use_parameters(SSL_CTX* c, bio_ptr const& from) noexcept {
    key_ptr parameters(from ? PEM_read_bio_Parameters(from.get(), nullptr) : nullptr);
    if (!parameters || SSL_CTX_set0_tmp_dh_pkey(c, parameters.get()) != 1)
        return false;
    static_cast<void>(parameters.release()); // The context has it.
    return true;
}

/// A certificate, its key and its authorities, of PKCS #12.
bool use_all_of(SSL_CTX* c, bio_ptr const& from) {
    std::unique_ptr<PKCS12, freed_by<&PKCS12_free>> const all(from ? d2i_PKCS12_bio(from.get(), nullptr) : nullptr);
    if (!all)
        return false;
    char password[PEM_BUFSIZE + 1] = {};
    auto* const ask = SSL_CTX_get_default_passwd_cb(c);
    if (ask)
        ask(password, PEM_BUFSIZE, 0, SSL_CTX_get_default_passwd_cb_userdata(c));
    EVP_PKEY* key = nullptr;
    X509* own = nullptr;
    STACK_OF(X509)* authorities = nullptr;
    bool const is_open = PKCS12_parse(all.get(), password, &key, &own, &authorities) == 1;
    OPENSSL_cleanse(password, sizeof password);
    if (is_open && !(own && key))
        ERR_raise(ERR_LIB_SSL, own ? SSL_R_NO_PRIVATE_KEY_ASSIGNED : SSL_R_NO_CERTIFICATE_ASSIGNED);
    bool const is_used = own && key && SSL_CTX_use_cert_and_key(c, own, key, authorities, 1) == 1;
    EVP_PKEY_free(key);
    X509_free(own);
    sk_X509_pop_free(authorities, &X509_free);
    return is_used;
}

} // namespace

context::context(method m) : handle_(nullptr) {
    auto const p = protocols_of(m);
    if (!p.method)
        fairlead::impl::base::throw_error_now(fairlead::error::operation_not_supported,
                                              "ssl::context: SSL 2, SSL 3, TLS 1.0 and TLS 1.1 are not safe, and not "
                                              "there: choose tls, tlsv12 or tlsv13");
    ERR_clear_error();
    handle_ = SSL_CTX_new(p.method);
    if (auto const ec = handle_ ? impl::make_ours(handle_) : impl::last_error()) {
        SSL_CTX_free(handle_);
        fairlead::impl::base::throw_error_now(ec, "ssl::context");
    }
    SSL_CTX_set_min_proto_version(handle_, p.least);
    SSL_CTX_set_max_proto_version(handle_, p.most);
    SSL_CTX_set_options(handle_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_security_level(handle_, std::max(2, SSL_CTX_get_security_level(handle_)));
    SSL_CTX_set_default_passwd_cb(handle_, &no_password);
    // A certificate that the program trusts is trusted whether or not its issuer is: so one alone can be pinned.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(handle_), X509_V_FLAG_PARTIAL_CHAIN);
}
context::context(native_handle_type h) : handle_(h) {
    if (!h)
        fairlead::impl::base::throw_error_now(fairlead::error::invalid_argument, "ssl::context");
}
context::context(context&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
context& context::operator=(context&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}
context::~context() {
    forget_password_of(handle_);
    SSL_CTX_free(handle_);
}

error_code context::set_options(options o, error_code& ec) {
    SSL_CTX_set_options(handle_, o);
    return ec = {};
}
error_code context::clear_options(options o, error_code& ec) {
    SSL_CTX_clear_options(handle_, o);
    return ec = {};
}
error_code context::set_verify_mode(verify_mode v, error_code& ec) {
    if ((ec = impl::note_verify_mode(handle_)))
        return ec;
    SSL_CTX_set_verify(handle_, impl::completed(v), SSL_CTX_get_verify_callback(handle_));
    return ec;
}
error_code context::set_verify_depth(int depth, error_code& ec) {
    if ((ec = impl::note_verify_depth(handle_)))
        return ec;
    SSL_CTX_set_verify_depth(handle_, depth);
    return ec;
}
error_code context::verify_with(impl::verify_function f, error_code& ec) {
    return ec = impl::keep_verify_function(handle_, std::move(f));
}

error_code context::load_verify_file(std::string const& file, error_code& ec) {
    if ((ec = impl::note_trust(handle_)))
        return ec;
    return ec = result_of([&] { return SSL_CTX_load_verify_file(handle_, file.c_str()) == 1; });
}
error_code context::add_verify_path(std::string const& path, error_code& ec) {
    if ((ec = impl::note_trust(handle_)))
        return ec;
    return ec = result_of([&] { return SSL_CTX_load_verify_dir(handle_, path.c_str()) == 1; });
}
error_code context::add_certificate_authority(const_buffer const& text, error_code& ec) {
    if ((ec = impl::note_trust(handle_)))
        return ec;
    return ec = result_of([&] {
               auto const from = over(text);
               auto* const store = SSL_CTX_get_cert_store(handle_);
               if (!from || !store)
                   return false;
               for (int n = 0;; ++n) {
                   certificate_ptr const c(PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr));
                   if (!c)
                       return n != 0 && is_end_of_pem();
                   if (X509_STORE_add_cert(store, c.get()) != 1)
                       return false;
               }
           });
}
error_code context::set_default_verify_paths(error_code& ec) {
    if ((ec = impl::note_trust(handle_)))
        return ec;
    return ec = result_of([&] { return SSL_CTX_set_default_verify_paths(handle_) == 1; });
}

error_code context::use_certificate_chain_file(std::string const& file, error_code& ec) {
    return ec = certificate_of(handle_, [&] { return SSL_CTX_use_certificate_chain_file(handle_, file.c_str()) == 1; });
}
error_code context::use_certificate_chain(const_buffer const& text, error_code& ec) {
    return ec = certificate_of(handle_, [&] {
               auto const from = over(text);
               if (!from)
                   return false;
               certificate_ptr const own(PEM_read_bio_X509_AUX(from.get(), nullptr, &no_password, nullptr));
               if (!own || SSL_CTX_use_certificate(handle_, own.get()) != 1 || SSL_CTX_clear_chain_certs(handle_) != 1)
                   return false;
               for (;;) {
                   certificate_ptr next(PEM_read_bio_X509(from.get(), nullptr, &no_password, nullptr));
                   if (!next)
                       return is_end_of_pem();
                   if (SSL_CTX_add1_chain_cert(handle_, next.get()) != 1)
                       return false;
               }
           });
}
error_code context::use_certificate_file(std::string const& file, file_format f, error_code& ec) {
    return ec = certificate_of(handle_,
                               [&] { return SSL_CTX_use_certificate_file(handle_, file.c_str(), number_of(f)) == 1; });
}
error_code context::use_certificate(const_buffer const& bytes, file_format f, error_code& ec) {
    return ec = certificate_of(handle_, [&] {
               auto const from = over(bytes);
               if (!from)
                   return false;
               certificate_ptr const c(f == asn1 ? d2i_X509_bio(from.get(), nullptr)
                                                 : PEM_read_bio_X509_AUX(from.get(), nullptr, &no_password, nullptr));
               return c && SSL_CTX_use_certificate(handle_, c.get()) == 1;
           });
}
error_code context::use_private_key_file(std::string const& file, file_format f, error_code& ec) {
    return ec = key_of(handle_, [&] { return SSL_CTX_use_PrivateKey_file(handle_, file.c_str(), number_of(f)) == 1; });
}
error_code context::use_private_key(const_buffer const& bytes, file_format f, error_code& ec) {
    return ec = key_of(handle_, [&] {
               auto const from = over(bytes);
               if (!from)
                   return false;
               key_ptr const k(f == asn1 ? d2i_PrivateKey_bio(from.get(), nullptr)
                                         : PEM_read_bio_PrivateKey(from.get(), nullptr,
                                                                   SSL_CTX_get_default_passwd_cb(handle_),
                                                                   SSL_CTX_get_default_passwd_cb_userdata(handle_)));
               return k && SSL_CTX_use_PrivateKey(handle_, k.get()) == 1;
           });
}
error_code context::use_pkcs12_file(std::string const& file, error_code& ec) {
    return ec = identity_of(handle_, [&] { return use_all_of(handle_, bio_ptr(BIO_new_file(file.c_str(), "rb"))); });
}
error_code context::use_pkcs12(const_buffer const& bytes, error_code& ec) {
    return ec = identity_of(handle_, [&] { return use_all_of(handle_, over(bytes)); });
}
error_code context::use_tmp_dh_file(std::string const& file, error_code& ec) {
    return ec = result_of([&] { return use_parameters(handle_, bio_ptr(BIO_new_file(file.c_str(), "r"))); });
}
error_code context::use_tmp_dh(const_buffer const& text, error_code& ec) {
    return ec = result_of([&] { return use_parameters(handle_, over(text)); });
}
error_code context::ask_password_with(impl::password_function f, error_code& ec) {
    auto kept = std::make_unique<impl::password_function>(std::move(f));
    forget_password_of(handle_);
    SSL_CTX_set_default_passwd_cb_userdata(handle_, kept.release());
    SSL_CTX_set_default_passwd_cb(handle_, &call_password);
    return ec = {};
}

} // namespace fairlead::ssl
