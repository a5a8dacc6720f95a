// The verification of a host name as a callback, for programs written for Asio. Ours say set_host_name().
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/tls/verify_context.hpp>

#include <string>
#include <utility>

namespace fairlead::ssl {

/// A callback that accepts a certificate only if it is verified and made out to `host`. That is a name, which a
/// certificate may have with a wildcard (RFC 9525), or a textual address.
class host_name_verification {
public:
    using result_type = bool;

    explicit host_name_verification(std::string host) : host_(std::move(host)) {}
    FAIRLEAD_EXPORT bool operator()(bool is_verified, verify_context& c) const;

private:
    std::string host_;
};

} // namespace fairlead::ssl
