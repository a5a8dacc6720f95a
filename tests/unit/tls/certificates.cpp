#include <unit/tls/certificates.hpp>

#include <cstdlib>

#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace fairlead::test {
namespace {

template <auto Free> struct certificate_part_freed {
    template <class T> void operator()(T* p) const noexcept { Free(p); }
};
template <class T, auto Free> using part = std::unique_ptr<T, certificate_part_freed<Free>>;
using bio_part = part<BIO, &BIO_free>;
using key_part = part<EVP_PKEY, &EVP_PKEY_free>;
using certificate_part = part<X509, &X509_free>;

template <class P> P need(P p) {
    if (!p)
        std::abort(); // OpenSSL has no memory, or does not know P-256.
    return p;
}
std::string text_of(BIO* b) {
    char* data = nullptr;
    auto const n = BIO_get_mem_data(b, &data);
    return {data, static_cast<std::size_t>(n)};
}
bio_part text_bio(std::string const& s) {
    return need(bio_part(BIO_new_mem_buf(s.data(), static_cast<int>(s.size()))));
}

void extend(X509* c, X509* issuer, int what, std::string const& value) {
    X509V3_CTX of;
    X509V3_set_ctx(&of, issuer, c, nullptr, nullptr, 0);
    auto const e =
        need(part<X509_EXTENSION, &X509_EXTENSION_free>(X509V3_EXT_conf_nid(nullptr, &of, what, value.c_str())));
    X509_add_ext(c, e.get(), -1);
}

} // namespace

identity make_identity(std::string_view name, certificate_terms const& terms, identity const* by) {
    static long serial = 1;
    key_part const key = need(key_part(terms.is_rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")));
    certificate_part const c = need(certificate_part(X509_new()));
    X509_set_version(c.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(c.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(c.get()), terms.begins);
    X509_gmtime_adj(X509_getm_notAfter(c.get()), terms.ends);
    X509_set_pubkey(c.get(), key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(c.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<unsigned char const*>(name.data()), static_cast<int>(name.size()), -1,
                               0);
    certificate_part issuer;
    key_part signer;
    if (by) {
        issuer = need(certificate_part(PEM_read_bio_X509(text_bio(by->certificate).get(), nullptr, nullptr, nullptr)));
        signer = need(key_part(PEM_read_bio_PrivateKey(text_bio(by->key).get(), nullptr, nullptr, nullptr)));
    }
    X509_set_issuer_name(c.get(), X509_get_subject_name(by ? issuer.get() : c.get()));
    extend(c.get(), by ? issuer.get() : c.get(), NID_basic_constraints,
           terms.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (!terms.is_authority)
        extend(c.get(), by ? issuer.get() : c.get(), NID_subject_alt_name, terms.names);
    if (!terms.purposes.empty())
        extend(c.get(), by ? issuer.get() : c.get(), NID_ext_key_usage, terms.purposes);
    if (!terms.features.empty())
        extend(c.get(), by ? issuer.get() : c.get(), NID_tlsfeature, terms.features);
    X509_sign(c.get(), by ? signer.get() : key.get(), EVP_sha256());

    bio_part const written = need(bio_part(BIO_new(BIO_s_mem())));
    PEM_write_bio_X509(written.get(), c.get());
    bio_part const written_key = need(bio_part(BIO_new(BIO_s_mem())));
    PEM_write_bio_PrivateKey(written_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {text_of(written.get()), text_of(written_key.get())};
}

std::string make_ocsp_response(std::vector<ocsp_terms> const& all) {
    using time_part = part<ASN1_TIME, &ASN1_TIME_free>;
    auto const certificate_of = [](identity const& i) {
        return need(certificate_part(PEM_read_bio_X509(text_bio(i.certificate).get(), nullptr, nullptr, nullptr)));
    };
    auto const issuer = certificate_of(authority());
    auto const answers = need(part<OCSP_BASICRESP, &OCSP_BASICRESP_free>(OCSP_BASICRESP_new()));
    for (auto const& each : all) {
        auto const subject = certificate_of(each.subject ? *each.subject : server());
        auto const id =
            need(part<OCSP_CERTID, &OCSP_CERTID_free>(OCSP_cert_to_id(EVP_sha256(), subject.get(), issuer.get())));
        time_part const begins = need(time_part(X509_gmtime_adj(nullptr, each.begins)));
        time_part const ends = need(time_part(X509_gmtime_adj(nullptr, each.ends)));
        OCSP_basic_add1_status(answers.get(), id.get(), each.status, 0,
                               each.status == V_OCSP_CERTSTATUS_REVOKED ? begins.get() : nullptr, begins.get(),
                               each.ends != 0 ? ends.get() : nullptr);
    }
    auto const& by = all.front().signer ? *all.front().signer : authority();
    key_part const key = need(key_part(PEM_read_bio_PrivateKey(text_bio(by.key).get(), nullptr, nullptr, nullptr)));
    OCSP_basic_sign(answers.get(), certificate_of(by).get(), key.get(), EVP_sha256(), nullptr, 0);
    auto const response = need(
        part<OCSP_RESPONSE, &OCSP_RESPONSE_free>(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, answers.get())));
    bio_part const written = need(bio_part(BIO_new(BIO_s_mem())));
    i2d_OCSP_RESPONSE_bio(written.get(), response.get());
    return text_of(written.get());
}

identity const& authority() {
    static identity const made = make_identity("authority of the tests", {.is_authority = true});
    return made;
}
identity const& server() {
    static identity const made = make_identity("server.test", {}, &authority());
    return made;
}

} // namespace fairlead::test
