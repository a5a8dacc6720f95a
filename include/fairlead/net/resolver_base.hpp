// The flags of look-ups.
#pragma once

namespace fairlead::ip {

/// Flags of a look-up, as in addrinfo.
class resolver_base {
public:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // v4_mapped: ip::v4_mapped is another thing, and both names are Asio's
    enum flags : int {
        none = 0,
        passive = 0x0001,
        canonical_name = 0x0002,
        numeric_host = 0x0004,
        v4_mapped = 0x0008,
        all_matching = 0x0010,
        address_configured = 0x0020,
        numeric_service = 0x0400
    };
#pragma GCC diagnostic pop
    friend constexpr flags operator|(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) | static_cast<int>(b));
    }
    friend constexpr flags operator&(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) & static_cast<int>(b));
    }
    friend constexpr flags operator^(flags a, flags b) noexcept {
        return static_cast<flags>(static_cast<int>(a) ^ static_cast<int>(b));
    }
    friend constexpr flags operator~(flags a) noexcept { return static_cast<flags>(~static_cast<int>(a)); }
    friend constexpr flags& operator|=(flags& a, flags b) noexcept { return a = a | b; }
    friend constexpr flags& operator&=(flags& a, flags b) noexcept { return a = a & b; }
    friend constexpr flags& operator^=(flags& a, flags b) noexcept { return a = a ^ b; }

protected:
    resolver_base() = default;
    ~resolver_base() = default;
};

/// The flags under the name that they had when a look-up was an object.
class resolver_query_base : public resolver_base {
protected:
    ~resolver_query_base() = default;
};

} // namespace fairlead::ip
