#include <redis/address.hpp>

#include <fairlead/redis/error.hpp>

#include <algorithm>

namespace fairlead::redis::impl {
namespace {

constexpr std::string_view default_port = "6379";

bool is_port(std::string_view text) noexcept {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
}

} // namespace

error_code parse_address(std::string_view text, address_parts& address) noexcept {
    constexpr std::string_view unix_prefix = "unix:";
    address = {};
    if (text.starts_with(unix_prefix)) {
        address.host = text.substr(unix_prefix.size());
        address.is_unix = true;
        return address.host.empty() ? make_error_code(error::invalid_address) : error_code();
    }
    address.port = default_port;
    if (text.starts_with('[')) {
        auto const end = text.find(']');
        if (end == text.npos)
            return error::invalid_address;
        address.host = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        if (!text.empty() && text[0] != ':')
            return error::invalid_address;
        if (!text.empty())
            address.port = text.substr(1);
    } else {
        auto const colon = text.find(':');
        address.host = text.substr(0, colon);
        if (colon != text.npos)
            address.port = text.substr(colon + 1);
    }
    if (address.host.empty() || address.host.find('\0') != text.npos || !is_port(address.port))
        return error::invalid_address;
    return {};
}

} // namespace fairlead::redis::impl
