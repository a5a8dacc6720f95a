// Protocols that are chosen at run time, and their endpoints: any address family of the system.
#pragma once

#include <fairlead/base/error.hpp>
#include <fairlead/net/fwd.hpp>
#include <fairlead/net/os_values.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <typeinfo>

struct sockaddr;

namespace fairlead {

namespace detail {

/// The bytes of a sockaddr_storage.
class generic_endpoint {
public:
    static constexpr std::size_t size_max = 128;

    FAIRLEAD_EXPORT generic_endpoint() noexcept;
    FAIRLEAD_EXPORT generic_endpoint(void const* address, std::size_t size, int protocol);

    void* data() noexcept { return bytes_; }
    void const* data() const noexcept { return bytes_; }
    std::size_t size() const noexcept { return size_; }
    FAIRLEAD_EXPORT void resize(std::size_t size);
    FAIRLEAD_EXPORT int family() const noexcept;
    int protocol() const noexcept { return protocol_; }
    FAIRLEAD_EXPORT std::size_t hash() const noexcept;

    FAIRLEAD_EXPORT friend bool operator==(generic_endpoint const& a, generic_endpoint const& b) noexcept;
    FAIRLEAD_EXPORT friend std::strong_ordering operator<=>(generic_endpoint const& a,
                                                            generic_endpoint const& b) noexcept;

private:
    alignas(8) unsigned char bytes_[size_max];
    std::uint32_t size_;
    int protocol_;
};

} // namespace detail

namespace generic {

/// An address of whatever family. Ordered by its bytes.
template <typename Protocol> class basic_endpoint {
public:
    using protocol_type = Protocol;
    using data_type = ::sockaddr;

    /// No family, no bytes but those that name it.
    basic_endpoint() noexcept = default;
    /// From a sockaddr of `size` bytes.
    /// Errors     error::invalid_argument    more than capacity()
    basic_endpoint(void const* address, std::size_t size, int protocol = 0) : value_(address, size, protocol) {}
    /// From an endpoint of another protocol.
    template <typename Endpoint>
        requires(!std::same_as<Endpoint, basic_endpoint> &&
                 requires(Endpoint const& e) {
                     e.data();
                     e.size();
                     e.protocol();
                 })
    basic_endpoint(Endpoint const& e) : value_(e.data(), e.size(), e.protocol().protocol()) {}

    Protocol protocol() const noexcept { return Protocol(value_.family(), value_.protocol()); }

    /// For system calls: they read size() bytes at data(), or write up to capacity() and tell resize() how many.
    data_type* data() noexcept { return static_cast<data_type*>(value_.data()); }
    data_type const* data() const noexcept { return static_cast<data_type const*>(value_.data()); }
    std::size_t size() const noexcept { return value_.size(); }
    void resize(std::size_t size) { value_.resize(size); }
    static constexpr std::size_t capacity() noexcept { return detail::generic_endpoint::size_max; }
    std::size_t hash() const noexcept { return value_.hash(); }

    friend bool operator==(basic_endpoint const&, basic_endpoint const&) noexcept = default;
    friend std::strong_ordering operator<=>(basic_endpoint const&, basic_endpoint const&) noexcept = default;

private:
    detail::generic_endpoint value_;
};

} // namespace generic

namespace detail {

/// The base of the four protocols. `Self` names the endpoint.
template <class Self, int Type> class generic_protocol {
public:
    constexpr int family() const noexcept { return family_; }
    constexpr int type() const noexcept { return Type; }
    constexpr int protocol() const noexcept { return protocol_; }
    friend constexpr bool operator==(Self const& a, Self const& b) noexcept {
        return a.family() == b.family() && a.protocol() == b.protocol();
    }

protected:
    constexpr generic_protocol(int family, int protocol) noexcept : family_(family), protocol_(protocol) {}
    template <class Protocol> constexpr explicit generic_protocol(Protocol const& p, int protocol)
        : generic_protocol(p.family(), protocol) {
        if (p.type() != Type)
            throw std::bad_cast();
    }
    ~generic_protocol() = default;

private:
    int family_;
    int protocol_;
};

template <class P>
concept names_protocol = requires(P const& p) {
    { p.family() } -> std::convertible_to<int>;
    { p.type() } -> std::convertible_to<int>;
    { p.protocol() } -> std::convertible_to<int>;
};

} // namespace detail

namespace generic {

/// Streams of any family. Sockets of tcp and local::stream_protocol convert to this one's.
/// Errors     bad_cast    made from a protocol that is not one of streams
class stream_protocol : public detail::generic_protocol<stream_protocol, impl::net::os::sock_stream> {
public:
    using endpoint = basic_endpoint<stream_protocol>;
    using socket = basic_stream_socket<stream_protocol>;     ///< fairlead/net/stream_socket.hpp
    using acceptor = basic_socket_acceptor<stream_protocol>; ///< fairlead/net/acceptor.hpp

    constexpr stream_protocol(int family, int protocol) noexcept : generic_protocol(family, protocol) {}
    template <detail::names_protocol P>
        requires(!std::same_as<P, stream_protocol>)
    constexpr stream_protocol(P const& p) : generic_protocol(p, p.protocol()) {}
};

/// Datagrams of any family.
class datagram_protocol : public detail::generic_protocol<datagram_protocol, impl::net::os::sock_dgram> {
public:
    using endpoint = basic_endpoint<datagram_protocol>;
    using socket = basic_datagram_socket<datagram_protocol>; ///< fairlead/net/datagram_socket.hpp

    constexpr datagram_protocol(int family, int protocol) noexcept : generic_protocol(family, protocol) {}
    template <detail::names_protocol P>
        requires(!std::same_as<P, datagram_protocol>)
    constexpr datagram_protocol(P const& p) : generic_protocol(p, p.protocol()) {}
};

/// Packets in order, of any family.
class seq_packet_protocol : public detail::generic_protocol<seq_packet_protocol, impl::net::os::sock_seqpacket> {
public:
    using endpoint = basic_endpoint<seq_packet_protocol>;
    using socket = basic_seq_packet_socket<seq_packet_protocol>; ///< fairlead/net/seq_packet_socket.hpp
    using acceptor = basic_socket_acceptor<seq_packet_protocol>; ///< fairlead/net/acceptor.hpp

    constexpr seq_packet_protocol(int family, int protocol) noexcept : generic_protocol(family, protocol) {}
    template <detail::names_protocol P>
        requires(!std::same_as<P, seq_packet_protocol>)
    constexpr seq_packet_protocol(P const& p) : generic_protocol(p, p.protocol()) {}
};

/// Raw packets of any family.
class raw_protocol : public detail::generic_protocol<raw_protocol, impl::net::os::sock_raw> {
public:
    using endpoint = basic_endpoint<raw_protocol>;
    using socket = basic_raw_socket<raw_protocol>; ///< fairlead/net/raw_socket.hpp

    constexpr raw_protocol(int family, int protocol) noexcept : generic_protocol(family, protocol) {}
    template <detail::names_protocol P>
        requires(!std::same_as<P, raw_protocol>)
    constexpr raw_protocol(P const& p) : generic_protocol(p, p.protocol()) {}
};

} // namespace generic
} // namespace fairlead

template <typename Protocol> struct std::hash<fairlead::generic::basic_endpoint<Protocol>> {
    std::size_t operator()(fairlead::generic::basic_endpoint<Protocol> const& endpoint) const noexcept {
        return endpoint.hash();
    }
};
