#include <fairlead/tls/host_name_verification.hpp>

#include <tls/peer_name.hpp>

namespace fairlead::ssl {

bool host_name_verification::operator()(bool is_verified, verify_context& c) const {
    if (!is_verified)
        return false;
    auto* const found = c.native_handle();
    if (X509_STORE_CTX_get_error_depth(found) > 0) // Authorities have names of their own.
        return true;
    X509* const certificate = X509_STORE_CTX_get_current_cert(found);
    auto const [text, is_address] = impl::peer_name_of(host_);
    bool const fits = !text.empty() && (is_address ? X509_check_ip_asc(certificate, text.c_str(), 0) == 1
                                                   : X509_check_host(certificate, text.data(), text.size(),
                                                                     impl::name_flags, nullptr) == 1);
    if (!fits)
        X509_STORE_CTX_set_error(found, is_address ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH);
    return fits;
}

} // namespace fairlead::ssl
