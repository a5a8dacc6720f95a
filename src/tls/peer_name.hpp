// Whom a program expects: a host name or an address, as certificates have it.
#pragma once

#include <fairlead/net/ip.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <openssl/x509v3.h>

namespace fairlead::ssl::impl {

/// Wildcards stand for a whole label, and names stand where certificates have them today (RFC 9525 section 2).
inline constexpr unsigned name_flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;

struct peer_name {
    std::string text; ///< without brackets, zone and the last dot; empty: it is neither a name nor an address
    bool is_address = false;
};

/// OpenSSL takes ".example.org" for any name below that, and "*" for itself: neither is a host.
inline peer_name peer_name_of(std::string_view name) {
    constexpr std::size_t bytes_max = 255;
    bool const is_in_brackets = name.size() > 2 && name.front() == '[' && name.back() == ']';
    std::string text(is_in_brackets ? name.substr(1, name.size() - 2) : name);
    if (text.find('\0') != std::string::npos)
        return {};
    error_code no_address;
    auto const zone = text.find(':') == std::string::npos ? text.size() : std::min(text.find('%'), text.size());
    auto const address = ip::make_address(text.substr(0, zone), no_address);
    if (!no_address && (address.is_v6() || !is_in_brackets))
        return {text.substr(0, zone), true};
    if (is_in_brackets)
        return {};
    if (text.ends_with('.'))
        text.pop_back();
    bool const is_name = !text.empty() && text.size() <= bytes_max && !text.starts_with('.') &&
                         text.find_first_of("*:%[]/@ ") == std::string::npos;
    return {is_name ? std::move(text) : std::string(), false};
}

} // namespace fairlead::ssl::impl
