// OCSP responses (RFC 6960): a server staples the one of its certificate, and a client may require it.
#include <fairlead/tls/operations.hpp>

#include <tls/engine.hpp>
#include <tls/settings.hpp>

#include <memory>
#include <string>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace fairlead::ssl {
namespace impl {
namespace {

template <auto Free> struct ocsp_part_freed {
    template <class T> void operator()(T* p) const noexcept { Free(p); }
};
using response_ptr = std::unique_ptr<OCSP_RESPONSE, ocsp_part_freed<&OCSP_RESPONSE_free>>;
using statements_ptr = std::unique_ptr<OCSP_BASICRESP, ocsp_part_freed<&OCSP_BASICRESP_free>>;
using subject_ptr = std::unique_ptr<OCSP_CERTID, ocsp_part_freed<&OCSP_CERTID_free>>;

constexpr long clock_tolerance_s = 300;
/// Of a response that does not say when a newer one comes. Otherwise one could be used for ever.
constexpr long age_max_s = 24L * 60 * 60;

/// Null: malformed, or the responder declines.
statements_ptr statements_of(const_buffer const& der) noexcept {
    auto const* begin = static_cast<unsigned char const*>(der.data());
    auto const* const end = begin + der.size();
    response_ptr const all(d2i_OCSP_RESPONSE(nullptr, &begin, static_cast<long>(der.size())));
    if (!all || begin != end || OCSP_response_status(all.get()) != OCSP_RESPONSE_STATUS_SUCCESSFUL)
        return nullptr;
    return statements_ptr(OCSP_response_get1_basic(all.get()));
}

X509* issuer_among(STACK_OF(X509) * chain, X509* of) noexcept {
    for (int i = 0; i < sk_X509_num(chain); ++i)
        if (X509* const each = sk_X509_value(chain, i); X509_check_issued(each, of) == X509_V_OK)
            return each;
    return nullptr;
}
bool is_about(OCSP_SINGLERESP const* statement, X509* own, X509* issuer) noexcept {
    auto* const subject = const_cast<OCSP_CERTID*>(OCSP_SINGLERESP_get0_id(statement));
    ASN1_OBJECT* digest = nullptr;
    OCSP_id_get0_info(nullptr, &digest, nullptr, nullptr, subject);
    auto const* const with = digest ? EVP_get_digestbyobj(digest) : nullptr;
    subject_ptr const expected(with ? OCSP_cert_to_id(with, own, issuer) : nullptr);
    return expected && OCSP_id_cmp(expected.get(), subject) == 0;
}

/// Of one statement, now, about the certificate that it is about.
error_code verdict_of(OCSP_SINGLERESP* statement) noexcept {
    ASN1_GENERALIZEDTIME *since = nullptr, *until = nullptr;
    int const status = OCSP_single_get0_status(statement, nullptr, nullptr, &since, &until);
    if (status == V_OCSP_CERTSTATUS_REVOKED) // For ever.
        return {X509_V_ERR_CERT_REVOKED, error::get_verify_category()};
    if (OCSP_check_validity(since, until, clock_tolerance_s, until ? -1 : age_max_s) != 1)
        return error::ocsp_response_expired;
    return status == V_OCSP_CERTSTATUS_GOOD ? error_code() : error::ocsp_status_unknown;
}

/// No error: the response of the server says that its certificate is good.
error_code look_at_response(SSL* s) noexcept {
    unsigned char const* bytes = nullptr;
    auto const size = SSL_get_tlsext_status_ocsp_resp(s, &bytes);
    if (!bytes || size <= 0)
        return error::no_ocsp_response;
    auto const statements = statements_of(const_buffer(bytes, static_cast<std::size_t>(size)));
    if (!statements)
        return error::ocsp_response_malformed;
    X509* const own = SSL_get0_peer_certificate(s);
    STACK_OF(X509)* chain = SSL_get0_verified_chain(s);
    if (!own || sk_X509_num(chain) <= 0) // The program's callback may have accepted what leads nowhere.
        chain = SSL_get_peer_cert_chain(s);
    X509* const issuer = own ? issuer_among(chain, own) : nullptr;
    bool const is_partial = X509_VERIFY_PARAM_get_flags(SSL_get0_param(s)) & X509_V_FLAG_PARTIAL_CHAIN;
    unsigned long const flags = is_partial ? OCSP_PARTIAL_CHAIN : 0;
    if (!issuer || OCSP_basic_verify(statements.get(), chain, SSL_CTX_get_cert_store(SSL_get_SSL_CTX(s)), flags) <= 0)
        return error::ocsp_response_unverified;
    error_code found = error::ocsp_response_mismatched;
    for (int i = 0; i < OCSP_resp_count(statements.get()); ++i) {
        auto* const statement = OCSP_resp_get0(statements.get(), i);
        if (!is_about(statement, own, issuer))
            continue;
        auto const verdict = verdict_of(statement);
        if (verdict.category() == error::get_verify_category())
            return verdict;
        if (found) // Of several ones a good one counts.
            found = verdict;
    }
    return found;
}

int staple(SSL* s, settings const& of) noexcept {
    std::string made;
    try {
        made = of.staples();
    } catch (...) { // The client decides whether it can do without.
    }
    if (made.empty())
        return SSL_TLSEXT_ERR_NOACK;
    void* const copy = OPENSSL_memdup(made.data(), made.size());
    if (!copy)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    SSL_set_tlsext_status_ocsp_resp(s, copy, static_cast<long>(made.size())); // OpenSSL's from now on.
    return SSL_TLSEXT_ERR_OK;
}

int refuse_unless_good(SSL* s) noexcept {
    ERR_set_mark();
    auto const ec = look_at_response(s);
    ERR_pop_to_mark(); // OpenSSL says itself that the response is refused.
    if (!ec)
        return 1;
    auto* const own = make_settings(s);
    if (!own)
        return -1;
    own->ocsp_failure = ec;
    return 0;
}

/// The certificate says that its server always has a response (RFC 7633). A thief of its key has none
/// once it is revoked, and must not get away with that.
bool demands_ocsp(X509* own) noexcept {
    struct features_freed {
        void operator()(TLS_FEATURE* f) const noexcept { TLS_FEATURE_free(f); }
    };
    std::unique_ptr<TLS_FEATURE, features_freed> const all(
        static_cast<TLS_FEATURE*>(own ? X509_get_ext_d2i(own, NID_tlsfeature, nullptr, nullptr) : nullptr));
    for (int i = 0; all && i < sk_ASN1_INTEGER_num(all.get()); ++i)
        if (ASN1_INTEGER_get(sk_ASN1_INTEGER_value(all.get(), i)) == TLSEXT_TYPE_status_request)
            return true;
    return false;
}
/// Of a client that verifies. A function of the program's is asked before the response has come, and most of them
/// compare a name only. So what it accepts says nothing about the response.
bool heeds_demands(SSL const* s, settings const& of) noexcept {
    return of.is_ours && SSL_get_verify_mode(s) != SSL_VERIFY_NONE && !of.accepts_missing_ocsp;
}

} // namespace

/// OpenSSL calls it on servers whose client asks for a response, and on clients that have asked for one.
int handle_ocsp(SSL* s, void*) noexcept {
    auto const* const kept = settings_of(SSL_get_SSL_CTX(s));
    if (SSL_is_server(s))
        return kept && kept->staples ? staple(s, *kept) : SSL_TLSEXT_ERR_NOACK;
    if (!kept || SSL_session_reused(s))
        return 1;
    bool const is_required =
        kept->requires_ocsp || (heeds_demands(s, *kept) && demands_ocsp(SSL_get0_peer_certificate(s)));
    return is_required ? refuse_unless_good(s) : 1;
}

void ask_for_ocsp(SSL* s) noexcept {
    auto const* const kept = settings_of(SSL_get_SSL_CTX(s));
    if (kept && (kept->requires_ocsp || heeds_demands(s, *kept)))
        SSL_set_tlsext_status_type(s, TLSEXT_STATUSTYPE_ocsp);
}
error_code ocsp_failure_of(SSL const* s) noexcept {
    auto const* const own = settings_of(s);
    return own ? own->ocsp_failure : error_code();
}

const_buffer stream_core::ocsp_response() const noexcept {
    unsigned char const* bytes = nullptr;
    auto const size = SSL_get_tlsext_status_ocsp_resp(native_handle(), &bytes);
    return bytes && size > 0 ? const_buffer(bytes, static_cast<std::size_t>(size)) : const_buffer();
}

} // namespace impl

error_code context::staple_with(impl::ocsp_response_function f, error_code& ec) {
    if (SSL_CTX_get_ssl_method(handle_) == TLS_client_method())
        return ec = fairlead::error::operation_not_supported;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->staples = std::move(f);
    SSL_CTX_set_tlsext_status_cb(handle_, &impl::handle_ocsp);
    return ec = {};
}
error_code context::use_ocsp_response(const_buffer const& bytes, error_code& ec) {
    ERR_set_mark();
    bool const is_one = impl::statements_of(bytes) != nullptr;
    ERR_pop_to_mark();
    if (!is_one)
        return ec = error::ocsp_response_malformed;
    return staple_with([all = std::string(static_cast<char const*>(bytes.data()), bytes.size())] { return all; }, ec);
}
error_code context::use_ocsp_response_file(std::string const& file, error_code& ec) {
    ERR_clear_error();
    struct bio_freed {
        void operator()(BIO* b) const noexcept { BIO_free(b); }
    };
    std::unique_ptr<BIO, bio_freed> const from(BIO_new_file(file.c_str(), "rb"));
    if (!from)
        return ec = impl::last_error();
    std::string all;
    char some[4096];
    for (int n = 0; (n = BIO_read(from.get(), some, sizeof some)) > 0;)
        all.append(some, static_cast<std::size_t>(n));
    return use_ocsp_response(const_buffer(all.data(), all.size()), ec);
}

error_code context::request_ocsp_response(error_code& ec) {
    if (SSL_CTX_get_ssl_method(handle_) == TLS_server_method())
        return ec = fairlead::error::operation_not_supported;
    SSL_CTX_set_tlsext_status_type(handle_, TLSEXT_STATUSTYPE_ocsp);
    return ec = {};
}
error_code context::accept_missing_ocsp_responses(error_code& ec) {
    if (SSL_CTX_get_ssl_method(handle_) == TLS_server_method())
        return ec = fairlead::error::operation_not_supported;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->accepts_missing_ocsp = true;
    return ec = {};
}
error_code context::require_ocsp_response(error_code& ec) {
    if (request_ocsp_response(ec))
        return ec;
    auto* const kept = impl::make_settings(handle_);
    if (!kept)
        return ec = fairlead::error::no_memory;
    kept->requires_ocsp = true;
    kept->sessions.begin_epoch(); // The others were made without.
    SSL_CTX_set_tlsext_status_cb(handle_, &impl::handle_ocsp);
    return ec = {};
}

} // namespace fairlead::ssl
