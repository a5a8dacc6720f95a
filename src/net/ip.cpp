// Endpoints of the internet: the one place that knows sockaddr_in and sockaddr_in6.
#include <fairlead/net/ip.hpp>

#include <net/address_text.hpp>

#include <cstddef>
#include <type_traits>

#include <netinet/in.h>

namespace fairlead::impl::net {

static_assert(sizeof(ip_endpoint) == 28 && std::is_trivially_copyable_v<ip_endpoint>);
static_assert(sizeof(ip::tcp::endpoint) == 28 && std::is_trivially_copyable_v<ip::tcp::endpoint>);
static_assert(alignof(ip_endpoint) >= alignof(sockaddr_in) && alignof(ip_endpoint) >= alignof(sockaddr_in6));
static_assert(ip_endpoint::size_v4 == sizeof(sockaddr_in) && ip_endpoint::size_v6 == sizeof(sockaddr_in6));
static_assert(sizeof(sa_family_t) == 2 && offsetof(sockaddr_in, sin_family) == 0);
static_assert(offsetof(sockaddr_in, sin_port) == 2 && offsetof(sockaddr_in6, sin6_port) == 2);

ip_endpoint::ip_endpoint(int family, std::uint16_t port_number) noexcept : bytes_{} {
    auto const stored = static_cast<sa_family_t>(family);
    std::memcpy(bytes_, &stored, sizeof stored);
    port(port_number);
}

ip_endpoint::ip_endpoint(ip::address const& address, std::uint16_t port_number) noexcept
    : ip_endpoint(address.is_v4() ? AF_INET : AF_INET6, port_number) {
    if (address.is_v4()) {
        auto const raw = address.to_v4().to_bytes();
        std::memcpy(bytes_ + offsetof(sockaddr_in, sin_addr), raw.data(), raw.size());
    } else {
        auto const v6 = address.to_v6();
        auto const raw = v6.to_bytes();
        auto const scope_id = v6.scope_id();
        std::memcpy(bytes_ + offsetof(sockaddr_in6, sin6_addr), raw.data(), raw.size());
        std::memcpy(bytes_ + offsetof(sockaddr_in6, sin6_scope_id), &scope_id, sizeof scope_id);
    }
}

void ip_endpoint::resize(std::size_t size) {
    if (size > sizeof bytes_)
        base::throw_error(error::invalid_argument, "endpoint");
}

ip::address ip_endpoint::address() const noexcept {
    if (is_v4()) {
        ip::address_v4::bytes_type raw;
        std::memcpy(raw.data(), bytes_ + offsetof(sockaddr_in, sin_addr), raw.size());
        return ip::address_v4(raw);
    }
    ip::address_v6::bytes_type raw;
    ip::scope_id_type scope_id;
    std::memcpy(raw.data(), bytes_ + offsetof(sockaddr_in6, sin6_addr), raw.size());
    std::memcpy(&scope_id, bytes_ + offsetof(sockaddr_in6, sin6_scope_id), sizeof scope_id);
    return ip::address_v6(raw, scope_id);
}

std::string ip_endpoint::to_string() const {
    char text[text_max_v6 + sizeof "[]:65535"];
    char* end = text;
    if (is_v4()) {
        end = print_address(address(), end);
    } else {
        *end++ = '[';
        end = print_address(address(), end);
        *end++ = ']';
    }
    *end++ = ':';
    return {text, print_number(port(), end)};
}

std::size_t ip_endpoint::hash() const noexcept {
    return std::hash<ip::address>()(address()) ^ std::size_t{port()} * 0x9E3779B97F4A7C15u;
}

bool operator==(ip_endpoint const& a, ip_endpoint const& b) noexcept {
    return a.port() == b.port() && a.address() == b.address();
}

std::strong_ordering operator<=>(ip_endpoint const& a, ip_endpoint const& b) noexcept {
    auto const by_address = a.address() <=> b.address();
    return by_address != 0 ? by_address : a.port() <=> b.port();
}

} // namespace fairlead::impl::net
