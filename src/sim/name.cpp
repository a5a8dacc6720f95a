#include "name.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

namespace fairlead::sim {
namespace {

/// Where the address stands in the bytes, and how long it is.
std::pair<std::size_t, std::size_t> place_of_address(int family) noexcept {
    return family == AF_INET ? std::pair<std::size_t, std::size_t>(4, 4) : std::pair<std::size_t, std::size_t>(8, 16);
}

} // namespace

int name::family() const noexcept {
    sa_family_t f;
    std::memcpy(&f, bytes, sizeof f);
    return f;
}

int name::read(int family_wanted, void const* address, std::size_t address_size) noexcept {
    *this = {};
    if (address_size < sizeof(sa_family_t) || address_size > sizeof bytes)
        return EINVAL;
    std::memcpy(bytes, address, address_size);
    size = static_cast<std::uint32_t>(address_size);
    auto const exact = family_wanted == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (family_wanted != AF_UNIX && address_size < exact) // noticed first
        return EINVAL;
    if (family() != family_wanted)
        return family_wanted == AF_UNIX ? EINVAL : EAFNOSUPPORT;
    if (family_wanted == AF_UNIX) {
        if (size == sizeof(sa_family_t))
            return EINVAL;
        if (bytes[2] != 0) // A path ends with its NUL, an abstract name with its size.
            size = 2 + static_cast<std::uint32_t>(::strnlen(reinterpret_cast<char const*>(bytes) + 2, size - 2));
        std::memset(bytes + size, 0, sizeof bytes - size);
        return 0;
    }
    size = static_cast<std::uint32_t>(exact);
    std::memset(bytes + size, 0, sizeof bytes - size);
    if (family_wanted == AF_INET)
        std::memset(bytes + offsetof(sockaddr_in, sin_zero), 0, sizeof(sockaddr_in::sin_zero));
    return 0;
}

bool name::is_any() const noexcept {
    auto const [at, n] = place_of_address(family());
    return std::all_of(bytes + at, bytes + at + n, [](unsigned char b) { return b == 0; });
}

bool name::is_loopback() const noexcept {
    if (family() == AF_INET)
        return bytes[4] == 127;
    if (is_v4_mapped())
        return bytes[20] == 127;
    return bytes[23] == 1 && std::all_of(bytes + 8, bytes + 23, [](unsigned char b) { return b == 0; });
}

void name::become_loopback() noexcept {
    if (family() == AF_INET) {
        bytes[4] = 127;
        bytes[5] = bytes[6] = 0;
        bytes[7] = 1;
    } else {
        std::memset(bytes + 8, 0, 15);
        bytes[23] = 1;
    }
}

bool name::overlaps(name const& other) const noexcept {
    if (family() != other.family() || size != other.size)
        return false;
    if (family() == AF_UNIX)
        return size > 2 && std::memcmp(bytes, other.bytes, size) == 0;
    auto const [at, n] = place_of_address(family());
    return port() == other.port() && (is_any() || other.is_any() || std::memcmp(bytes + at, other.bytes + at, n) == 0);
}

bool name::is_v4_mapped() const noexcept {
    return family() == AF_INET6 && bytes[18] == 0xff && bytes[19] == 0xff &&
           std::all_of(bytes + 8, bytes + 18, [](unsigned char b) { return b == 0; });
}

ip::address name::address() const noexcept {
    if (family() == AF_INET) {
        ip::address_v4::bytes_type b;
        std::memcpy(b.data(), bytes + 4, b.size());
        return ip::address_v4(b);
    }
    ip::address_v6::bytes_type b;
    std::memcpy(b.data(), bytes + 8, b.size());
    return ip::address_v6(b);
}

void name::address(ip::address const& a) noexcept {
    if (a.is_v4()) {
        auto const b = a.to_v4().to_bytes();
        std::memcpy(bytes + 4, b.data(), b.size());
    } else {
        auto const b = a.to_v6().to_bytes();
        std::memcpy(bytes + 8, b.data(), b.size());
    }
}

name name::mapped() const noexcept {
    name n;
    sa_family_t const f = AF_INET6;
    std::memcpy(n.bytes, &f, sizeof f);
    n.size = sizeof(sockaddr_in6);
    n.port(port());
    n.bytes[18] = n.bytes[19] = 0xff;
    std::memcpy(n.bytes + 20, bytes + 4, 4);
    return n;
}

bool name::operator==(name const& other) const noexcept {
    if (size != other.size || family() != other.family())
        return false;
    if (family() == AF_UNIX)
        return std::memcmp(bytes, other.bytes, size) == 0;
    auto const [at, n] = place_of_address(family());
    return port() == other.port() && std::memcmp(bytes + at, other.bytes + at, n) == 0;
}

} // namespace fairlead::sim
