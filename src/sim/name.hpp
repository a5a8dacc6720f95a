// Socket addresses, as the simulated network compares them.
#pragma once

#include <fairlead/net/ip.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead::sim {

/// A socket address as the system lays it out.
struct name {
    alignas(4) unsigned char bytes[110] = {};
    std::uint32_t size = 0;

    /// 0 or an errno value.
    int read(int family_wanted, void const* address, std::size_t address_size) noexcept;
    int family() const noexcept;
    std::uint16_t port() const noexcept { return static_cast<std::uint16_t>(bytes[2] << 8 | bytes[3]); }
    void port(std::uint16_t p) noexcept {
        bytes[2] = static_cast<unsigned char>(p >> 8);
        bytes[3] = static_cast<unsigned char>(p);
    }
    bool is_any() const noexcept;
    bool is_loopback() const noexcept;
    void become_loopback() noexcept;
    bool is_v4_mapped() const noexcept;
    ip::address address() const noexcept;
    void address(ip::address const& a) noexcept; ///< of the same family
    /// ::ffff:a.b.c.d for an IPv4 name.
    name mapped() const noexcept;
    /// One socket bound to this name and one bound to the other would get in each other's way.
    bool overlaps(name const& other) const noexcept;
    bool operator==(name const& other) const noexcept;
};

} // namespace fairlead::sim
