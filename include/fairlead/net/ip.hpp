// The internet's protocols, tcp and udp, and their endpoints.
#pragma once

#include <fairlead/net/address.hpp>
#include <fairlead/net/fwd.hpp>
#include <fairlead/net/multicast_options.hpp>
#include <fairlead/net/os_values.hpp>
#include <fairlead/net/socket_options.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <string>

struct sockaddr;

namespace fairlead {

namespace impl::net {

/// The bytes of a sockaddr_in or sockaddr_in6: what every endpoint of the internet is, without the system's headers.
class ip_endpoint {
public:
    static constexpr std::size_t size_v4 = 16;
    static constexpr std::size_t size_v6 = 28;

    ip_endpoint() noexcept : ip_endpoint(os::af_inet, 0) {}
    FAIRLEAD_EXPORT ip_endpoint(int family, std::uint16_t port) noexcept;
    FAIRLEAD_EXPORT ip_endpoint(ip::address const& address, std::uint16_t port) noexcept;

    void* data() noexcept { return bytes_; }
    void const* data() const noexcept { return bytes_; }
    bool is_v4() const noexcept {
        std::uint16_t family;
        std::memcpy(&family, bytes_, sizeof family);
        return family == os::af_inet;
    }
    std::size_t size() const noexcept { return is_v4() ? size_v4 : size_v6; }
    FAIRLEAD_EXPORT void resize(std::size_t size);

    std::uint16_t port() const noexcept { return static_cast<std::uint16_t>(bytes_[2] << 8 | bytes_[3]); }
    void port(std::uint16_t n) noexcept {
        bytes_[2] = static_cast<unsigned char>(n >> 8);
        bytes_[3] = static_cast<unsigned char>(n);
    }
    FAIRLEAD_EXPORT ip::address address() const noexcept;
    void address(ip::address const& a) noexcept { *this = ip_endpoint(a, port()); }

    FAIRLEAD_EXPORT std::string to_string() const;
    FAIRLEAD_EXPORT std::size_t hash() const noexcept;

    FAIRLEAD_EXPORT friend bool operator==(ip_endpoint const& a, ip_endpoint const& b) noexcept;
    FAIRLEAD_EXPORT friend std::strong_ordering operator<=>(ip_endpoint const& a, ip_endpoint const& b) noexcept;

private:
    alignas(4) unsigned char bytes_[size_v6];
};

} // namespace impl::net

namespace ip {

/// A port, in the byte order of this computer.
using port_type = std::uint16_t;

/// An address and a port. A value of 28 bytes that the system reads and writes as it is.
template <typename Protocol> class basic_endpoint {
public:
    using protocol_type = Protocol;
    using data_type = ::sockaddr;

    /// 0.0.0.0:0
    basic_endpoint() noexcept = default;
    /// Every local address of that version: what an acceptor binds to.
    basic_endpoint(Protocol const& protocol, port_type port) noexcept : value_(protocol.family(), port) {}
    basic_endpoint(ip::address const& address, port_type port) noexcept : value_(address, port) {}

    Protocol protocol() const noexcept { return value_.is_v4() ? Protocol::v4() : Protocol::v6(); }

    ip::address address() const noexcept { return value_.address(); }
    void address(ip::address const& a) noexcept { value_.address(a); }
    port_type port() const noexcept { return value_.port(); }
    void port(port_type n) noexcept { value_.port(n); }

    /// For system calls: they read size() bytes at data(), or write up to capacity() and tell resize() how many.
    /// Errors     error::invalid_argument    resize() beyond capacity()
    data_type* data() noexcept { return static_cast<data_type*>(value_.data()); }
    data_type const* data() const noexcept { return static_cast<data_type const*>(value_.data()); }
    std::size_t size() const noexcept { return value_.size(); }
    void resize(std::size_t size) { value_.resize(size); }
    static constexpr std::size_t capacity() noexcept { return sizeof(impl::net::ip_endpoint); }

    /// "127.0.0.1:80", "[::1]:80"
    std::string to_string() const { return value_.to_string(); }
    std::size_t hash() const noexcept { return value_.hash(); }

    friend bool operator==(basic_endpoint const&, basic_endpoint const&) noexcept = default;
    friend std::strong_ordering operator<=>(basic_endpoint const&, basic_endpoint const&) noexcept = default;

private:
    impl::net::ip_endpoint value_;
};

/// The text of to_string(). Needs <ostream> only where it is called.
template <typename Elem, typename Traits, typename Protocol> std::basic_ostream<Elem, Traits>&
operator<<(std::basic_ostream<Elem, Traits>& os, basic_endpoint<Protocol> const& endpoint) {
    return os << endpoint.to_string().c_str();
}

/// Streams: every byte arrives once and in order, or the connection fails.
class tcp {
public:
    using endpoint = basic_endpoint<tcp>;
    using socket = basic_stream_socket<tcp>;     ///< fairlead/net/stream_socket.hpp
    using acceptor = basic_socket_acceptor<tcp>; ///< fairlead/net/acceptor.hpp
    using resolver = basic_resolver<tcp>;        ///< fairlead/net/resolver.hpp
    using iostream = basic_socket_iostream<tcp>; ///< fairlead/net/socket_iostream.hpp

    /// Sends small pieces at once instead of waiting for more (Nagle's algorithm off).
    using no_delay = impl::net::socket_option::boolean<impl::net::os::ipproto_tcp, impl::net::os::tcp_nodelay>;

    static constexpr tcp v4() noexcept { return tcp(impl::net::os::af_inet); }
    static constexpr tcp v6() noexcept { return tcp(impl::net::os::af_inet6); }

    constexpr int family() const noexcept { return family_; }
    constexpr int type() const noexcept { return impl::net::os::sock_stream; }
    constexpr int protocol() const noexcept { return impl::net::os::ipproto_tcp; }

    friend constexpr bool operator==(tcp const&, tcp const&) noexcept = default;

private:
    constexpr explicit tcp(int family) noexcept : family_(family) {}

    int family_;
};

/// Datagrams: each arrives whole, or twice, or never.
class udp {
public:
    using endpoint = basic_endpoint<udp>;
    using socket = basic_datagram_socket<udp>; ///< fairlead/net/datagram_socket.hpp
    using resolver = basic_resolver<udp>;      ///< fairlead/net/resolver.hpp

    static constexpr udp v4() noexcept { return udp(impl::net::os::af_inet); }
    static constexpr udp v6() noexcept { return udp(impl::net::os::af_inet6); }

    constexpr int family() const noexcept { return family_; }
    constexpr int type() const noexcept { return impl::net::os::sock_dgram; }
    constexpr int protocol() const noexcept { return impl::net::os::ipproto_udp; }

    friend constexpr bool operator==(udp const&, udp const&) noexcept = default;

private:
    constexpr explicit udp(int family) noexcept : family_(family) {}

    int family_;
};

/// Messages of the internet protocol about itself. Raw: they take a privilege.
class icmp {
public:
    using endpoint = basic_endpoint<icmp>;
    using socket = basic_raw_socket<icmp>; ///< fairlead/net/raw_socket.hpp
    using resolver = basic_resolver<icmp>; ///< fairlead/net/resolver.hpp

    static constexpr icmp v4() noexcept { return icmp(impl::net::os::ipproto_icmp, impl::net::os::af_inet); }
    static constexpr icmp v6() noexcept { return icmp(impl::net::os::ipproto_icmpv6, impl::net::os::af_inet6); }

    constexpr int family() const noexcept { return family_; }
    constexpr int type() const noexcept { return impl::net::os::sock_raw; }
    constexpr int protocol() const noexcept { return protocol_; }

    friend constexpr bool operator==(icmp const&, icmp const&) noexcept = default;

private:
    constexpr icmp(int protocol, int family) noexcept : protocol_(protocol), family_(family) {}

    int protocol_;
    int family_;
};

} // namespace ip
} // namespace fairlead

template <typename Protocol> struct std::hash<fairlead::ip::basic_endpoint<Protocol>> {
    std::size_t operator()(fairlead::ip::basic_endpoint<Protocol> const& endpoint) const noexcept {
        return endpoint.hash();
    }
};
