// IP addresses: values, their text, and what one may ask of them.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/net/bad_address_cast.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <typeinfo>

namespace fairlead::ip {

class address_v6;
/// Picks the conversions between an IPv4 address and ::ffff:a.b.c.d.
enum v4_mapped_t { v4_mapped };
/// The number of an interface; 0: none.
using scope_id_type = std::uint32_t;

/// An IPv4 address: a number of 32 bits. By default 0.0.0.0.
class address_v4 {
public:
    using uint_type = std::uint32_t;
    using bytes_type = std::array<unsigned char, 4>; ///< In network order: 127.0.0.1 begins with 127.

    constexpr address_v4() noexcept = default;
    constexpr explicit address_v4(uint_type value) noexcept : value_(value) {}
    constexpr explicit address_v4(bytes_type const& b) noexcept
        : value_(uint_type{b[0]} << 24 | uint_type{b[1]} << 16 | uint_type{b[2]} << 8 | uint_type{b[3]}) {}

    static constexpr address_v4 any() noexcept { return {}; }
    static constexpr address_v4 loopback() noexcept { return address_v4(0x7F000001); }
    static constexpr address_v4 broadcast() noexcept { return address_v4(0xFFFFFFFF); }

    constexpr uint_type to_uint() const noexcept { return value_; }
    constexpr bytes_type to_bytes() const noexcept {
        return {static_cast<unsigned char>(value_ >> 24), static_cast<unsigned char>(value_ >> 16),
                static_cast<unsigned char>(value_ >> 8), static_cast<unsigned char>(value_)};
    }
    FAIRLEAD_EXPORT std::string to_string() const;

    constexpr bool is_unspecified() const noexcept { return value_ == 0; }
    constexpr bool is_loopback() const noexcept { return value_ >> 24 == 127; }
    constexpr bool is_multicast() const noexcept { return value_ >> 28 == 0xE; }

    friend constexpr bool operator==(address_v4 const&, address_v4 const&) noexcept = default;
    friend constexpr auto operator<=>(address_v4 const&, address_v4 const&) noexcept = default;

private:
    uint_type value_ = 0;
};

/// An IPv6 address: 16 bytes, and the scope id that tells link-local ones apart.
class address_v6 {
public:
    using bytes_type = std::array<unsigned char, 16>; ///< In network order.

    constexpr address_v6() noexcept = default;
    constexpr explicit address_v6(bytes_type const& bytes, scope_id_type scope_id = 0) noexcept
        : bytes_(bytes),
          scope_id_(scope_id) {}

    static constexpr address_v6 any() noexcept { return {}; }
    static constexpr address_v6 loopback() noexcept {
        return address_v6(bytes_type{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    }

    constexpr bytes_type to_bytes() const noexcept { return bytes_; }
    /// The shortest text (RFC 5952); a scope id follows as a number: "fe80::1%2".
    FAIRLEAD_EXPORT std::string to_string() const;

    /// The index of the interface that a link-local address is meant for; 0 is none.
    constexpr scope_id_type scope_id() const noexcept { return scope_id_; }
    constexpr void scope_id(scope_id_type id) noexcept { scope_id_ = id; }

    constexpr bool is_unspecified() const noexcept { return begins_with_zeros(16); }
    constexpr bool is_loopback() const noexcept { return begins_with_zeros(15) && bytes_[15] == 1; }
    constexpr bool is_link_local() const noexcept { return bytes_[0] == 0xFE && (bytes_[1] & 0xC0) == 0x80; }
    constexpr bool is_site_local() const noexcept { return bytes_[0] == 0xFE && (bytes_[1] & 0xC0) == 0xC0; }
    constexpr bool is_v4_mapped() const noexcept {
        return begins_with_zeros(10) && bytes_[10] == 0xFF && bytes_[11] == 0xFF;
    }
    constexpr bool is_multicast() const noexcept { return bytes_[0] == 0xFF; }
    constexpr bool is_multicast_node_local() const noexcept { return is_multicast_scope(0x1); }
    constexpr bool is_multicast_link_local() const noexcept { return is_multicast_scope(0x2); }
    constexpr bool is_multicast_site_local() const noexcept { return is_multicast_scope(0x5); }
    constexpr bool is_multicast_org_local() const noexcept { return is_multicast_scope(0x8); }
    constexpr bool is_multicast_global() const noexcept { return is_multicast_scope(0xE); }

    friend constexpr bool operator==(address_v6 const&, address_v6 const&) noexcept = default;
    friend constexpr auto operator<=>(address_v6 const&, address_v6 const&) noexcept = default;

private:
    constexpr bool begins_with_zeros(std::size_t count) const noexcept {
        for (std::size_t i = 0; i < count; ++i)
            if (bytes_[i] != 0)
                return false;
        return true;
    }
    constexpr bool is_multicast_scope(int scope) const noexcept {
        return is_multicast() && (bytes_[1] & 0x0F) == scope;
    }

    bytes_type bytes_{};
    scope_id_type scope_id_ = 0;
};

/// An address of either version; 0.0.0.0 by default. All of version 4 order before all of version 6.
class address {
public:
    constexpr address() noexcept = default;
    constexpr address(address_v4 const& a) noexcept : v4_(a) {}
    constexpr address(address_v6 const& a) noexcept : is_v6_(true), v6_(a) {}

    constexpr bool is_v4() const noexcept { return !is_v6_; }
    constexpr bool is_v6() const noexcept { return is_v6_; }
    /// Errors     bad_address_cast    the address is of the other version
    FAIRLEAD_EXPORT address_v4 to_v4() const;
    FAIRLEAD_EXPORT address_v6 to_v6() const;
    FAIRLEAD_EXPORT std::string to_string() const;

    constexpr bool is_unspecified() const noexcept { return is_v6_ ? v6_.is_unspecified() : v4_.is_unspecified(); }
    constexpr bool is_loopback() const noexcept { return is_v6_ ? v6_.is_loopback() : v4_.is_loopback(); }
    constexpr bool is_multicast() const noexcept { return is_v6_ ? v6_.is_multicast() : v4_.is_multicast(); }

    friend constexpr bool operator==(address const&, address const&) noexcept = default;
    friend constexpr auto operator<=>(address const&, address const&) noexcept = default;

private:
    bool is_v6_ = false;
    address_v4 v4_; // The one that does not count stays zero, so that all members may be compared.
    address_v6 v6_;
};

[[nodiscard]] constexpr address_v4 make_address_v4(address_v4::bytes_type const& bytes) noexcept {
    return address_v4(bytes);
}
[[nodiscard]] constexpr address_v4 make_address_v4(address_v4::uint_type value) noexcept { return address_v4(value); }
[[nodiscard]] constexpr address_v6 make_address_v6(address_v6::bytes_type const& bytes,
                                                   scope_id_type scope_id = 0) noexcept {
    return address_v6(bytes, scope_id);
}

/// From text: four decimal numbers without leading zeros; RFC 4291's forms, with "%" and a scope id in decimal; or
/// either of them. The whole text must be an address. Interface names are not looked up here: ask the resolver.
/// Errors     error::invalid_argument    the text is no such address; then the result is any()
[[nodiscard]] FAIRLEAD_EXPORT address_v4 make_address_v4(std::string_view text);
FAIRLEAD_EXPORT address_v4 make_address_v4(std::string_view text, error_code& ec) noexcept;
[[nodiscard]] FAIRLEAD_EXPORT address_v6 make_address_v6(std::string_view text);
FAIRLEAD_EXPORT address_v6 make_address_v6(std::string_view text, error_code& ec) noexcept;
/// As make_address_v4() and make_address_v6(), for an address of either version.
[[nodiscard]] FAIRLEAD_EXPORT address make_address(std::string_view text);
FAIRLEAD_EXPORT address make_address(std::string_view text, error_code& ec) noexcept;

/// From ::ffff:a.b.c.d to a.b.c.d.
/// Errors     bad_address_cast    the address is not v4-mapped
[[nodiscard]] FAIRLEAD_EXPORT address_v4 make_address_v4(v4_mapped_t, address_v6 const& mapped);
/// From a.b.c.d to ::ffff:a.b.c.d.
[[nodiscard]] FAIRLEAD_EXPORT address_v6 make_address_v6(v4_mapped_t, address_v4 const& a) noexcept;

/// The text of to_string(). Needs <ostream> only where it is called.
template <typename Elem, typename Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os, address_v4 const& a) {
    return os << a.to_string().c_str();
}
template <typename Elem, typename Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os, address_v6 const& a) {
    return os << a.to_string().c_str();
}
template <typename Elem, typename Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os, address const& a) {
    return os << a.to_string().c_str();
}

} // namespace fairlead::ip

template <> struct std::hash<fairlead::ip::address_v4> {
    std::size_t operator()(fairlead::ip::address_v4 const& a) const noexcept {
        return std::hash<std::uint32_t>()(a.to_uint());
    }
};
template <> struct std::hash<fairlead::ip::address_v6> {
    FAIRLEAD_EXPORT std::size_t operator()(fairlead::ip::address_v6 const& a) const noexcept;
};
template <> struct std::hash<fairlead::ip::address> {
    FAIRLEAD_EXPORT std::size_t operator()(fairlead::ip::address const& a) const noexcept;
};
