// The name that host_name_verification had before.
#pragma once

#include <fairlead/tls/host_name_verification.hpp>

#include <asio/detail/brought_along.hpp>

namespace fairlead::ssl {

using rfc2818_verification = host_name_verification;

} // namespace fairlead::ssl
