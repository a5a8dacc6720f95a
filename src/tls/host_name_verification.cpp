#include <fairlead/tls/host_name_verification.hpp>

#include <fairlead/net/ip.hpp>

#include <openssl/x509v3.h>

namespace fairlead::ssl {

bool host_name_verification::operator()(bool is_verified, verify_context& c) const {
    if (!is_verified)
        return false;
    auto* const found = c.native_handle();
    if (X509_STORE_CTX_get_error_depth(found) > 0) // Authorities have names of their own.
        return true;
    X509* const certificate = X509_STORE_CTX_get_current_cert(found);
    error_code no_address;
    ip::make_address(host_, no_address);
    bool const fits = no_address ? X509_check_host(certificate, host_.data(), host_.size(),
                                                   X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1
                                 : X509_check_ip_asc(certificate, host_.c_str(), 0) == 1;
    if (!fits)
        X509_STORE_CTX_set_error(found, no_address ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_ERR_IP_ADDRESS_MISMATCH);
    return fits;
}

} // namespace fairlead::ssl
