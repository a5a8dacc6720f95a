// The state of a verification, for callbacks of programs.
#pragma once

struct x509_store_ctx_st; // OpenSSL's X509_STORE_CTX

namespace fairlead::ssl {

/// The state of one verification, during the call of a callback.
class verify_context {
public:
    /// For functions of OpenSSL, as X509_STORE_CTX_get_current_cert.
    using native_handle_type = x509_store_ctx_st*;

    explicit verify_context(native_handle_type h) noexcept : handle_(h) {}
    verify_context(verify_context const&) = delete;
    verify_context& operator=(verify_context const&) = delete;

    native_handle_type native_handle() noexcept { return handle_; }

private:
    native_handle_type handle_;
};

} // namespace fairlead::ssl
