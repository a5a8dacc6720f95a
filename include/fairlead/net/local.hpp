// UNIX-domain protocols and their endpoints.
#pragma once

#include <fairlead/net/fwd.hpp>
#include <fairlead/net/os_values.hpp>
#include <fairlead/net/socket_options.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

struct sockaddr;

namespace fairlead {

namespace detail {

/// The bytes of a sockaddr_un and how many of its path count. No heap: a name has at most 108 bytes.
class local_endpoint {
public:
    static constexpr std::size_t path_offset = 2;
    static constexpr std::size_t path_max = 108;

    FAIRLEAD_EXPORT local_endpoint() noexcept;
    FAIRLEAD_EXPORT explicit local_endpoint(std::string_view path);

    void* data() noexcept { return &bytes_; }
    void const* data() const noexcept { return &bytes_; }
    std::size_t size() const noexcept { return path_offset + length_ + (has_nul() ? 1 : 0); }
    FAIRLEAD_EXPORT void resize(std::size_t size);

    /// Compiled in the library, as is comparing. Here the compiler would ask whether the length is the end of a range.
    /// That takes it longer than the rest of this header.
    FAIRLEAD_EXPORT std::string_view path() const noexcept;

    FAIRLEAD_EXPORT std::string to_string() const;
    FAIRLEAD_EXPORT std::size_t hash() const noexcept;

    FAIRLEAD_EXPORT friend bool operator==(local_endpoint const& a, local_endpoint const& b) noexcept;
    FAIRLEAD_EXPORT friend std::strong_ordering operator<=>(local_endpoint const& a, local_endpoint const& b) noexcept;

private:
    // A path in the file system counts with its NUL where that has space; an abstract name and no name have none.
    bool has_nul() const noexcept { return length_ != 0 && length_ != path_max && bytes_.path[0] != '\0'; }

    struct {
        std::uint16_t family;
        char path[path_max];
    } bytes_;
    std::uint16_t length_ = 0;
};

} // namespace detail

namespace local {

/// A path in the file system, an abstract name (it begins with NUL and may contain more), or nothing (unnamed).
/// Errors     error::name_too_long       a path beyond 107 bytes, an abstract name beyond 108
///            error::invalid_argument    a path with a NUL inside: the system would use another file than was asked for
template <typename Protocol> class basic_endpoint {
public:
    using protocol_type = Protocol;
    using data_type = ::sockaddr;

    /// Unnamed.
    basic_endpoint() noexcept = default;
    basic_endpoint(char const* path) : value_(path) {}
    basic_endpoint(std::string const& path) : value_(path) {}
    basic_endpoint(std::string_view path) : value_(path) {}

    Protocol protocol() const noexcept { return {}; }

    std::string path() const { return std::string(value_.path()); }
    /// As path(), without a copy: refers to this endpoint.
    std::string_view path_view() const noexcept FAIRLEAD_LIFETIMEBOUND { return value_.path(); }
    void path(std::string_view path) { value_ = detail::local_endpoint(path); }

    /// For system calls: they read size() bytes at data(), or write up to capacity() and tell resize() how many.
    /// Errors     error::invalid_argument    resize() beyond capacity() and the one byte that Linux may count on top
    data_type* data() noexcept { return static_cast<data_type*>(value_.data()); }
    data_type const* data() const noexcept { return static_cast<data_type const*>(value_.data()); }
    std::size_t size() const noexcept { return value_.size(); }
    void resize(std::size_t size) { value_.resize(size); }
    static constexpr std::size_t capacity() noexcept {
        return detail::local_endpoint::path_offset + detail::local_endpoint::path_max;
    }

    /// The path; the NULs of an abstract name as '@'.
    std::string to_string() const { return value_.to_string(); }
    std::size_t hash() const noexcept { return value_.hash(); }

    friend bool operator==(basic_endpoint const&, basic_endpoint const&) noexcept = default;
    friend std::strong_ordering operator<=>(basic_endpoint const&, basic_endpoint const&) noexcept = default;

private:
    detail::local_endpoint value_;
};

/// The text of to_string(). Needs <ostream> only where it is called.
template <typename Elem, typename Traits, typename Protocol> std::basic_ostream<Elem, Traits>&
operator<<(std::basic_ostream<Elem, Traits>& os, basic_endpoint<Protocol> const& endpoint) {
    return os << endpoint.to_string().c_str();
}

/// Streams within this computer: as TCP, under a path or an abstract name in place of address and port.
class stream_protocol {
public:
    using endpoint = basic_endpoint<stream_protocol>;
    using socket = basic_stream_socket<stream_protocol>;     ///< fairlead/net/stream_socket.hpp
    using acceptor = basic_socket_acceptor<stream_protocol>; ///< fairlead/net/acceptor.hpp
    using iostream = basic_socket_iostream<stream_protocol>; ///< fairlead/net/socket_iostream.hpp

    constexpr int family() const noexcept { return impl::net::os::af_unix; }
    constexpr int type() const noexcept { return impl::net::os::sock_stream; }
    constexpr int protocol() const noexcept { return 0; }

    friend constexpr bool operator==(stream_protocol const&, stream_protocol const&) noexcept = default;
};

/// Datagrams within this computer: each arrives whole, in order and exactly once; a sender waits for space at the
/// receiver.
class datagram_protocol {
public:
    using endpoint = basic_endpoint<datagram_protocol>;
    using socket = basic_datagram_socket<datagram_protocol>; ///< fairlead/net/datagram_socket.hpp

    constexpr int family() const noexcept { return impl::net::os::af_unix; }
    constexpr int type() const noexcept { return impl::net::os::sock_dgram; }
    constexpr int protocol() const noexcept { return 0; }

    friend constexpr bool operator==(datagram_protocol const&, datagram_protocol const&) noexcept = default;
};

/// Packets over a connection within this computer.
class seq_packet_protocol {
public:
    using endpoint = basic_endpoint<seq_packet_protocol>;
    using socket = basic_seq_packet_socket<seq_packet_protocol>; ///< fairlead/net/seq_packet_socket.hpp
    using acceptor = basic_socket_acceptor<seq_packet_protocol>; ///< fairlead/net/acceptor.hpp

    constexpr int family() const noexcept { return impl::net::os::af_unix; }
    constexpr int type() const noexcept { return impl::net::os::sock_seqpacket; }
    constexpr int protocol() const noexcept { return 0; }

    friend constexpr bool operator==(seq_packet_protocol const&, seq_packet_protocol const&) noexcept = default;
};

} // namespace local
} // namespace fairlead

template <typename Protocol> struct std::hash<fairlead::local::basic_endpoint<Protocol>> {
    std::size_t operator()(fairlead::local::basic_endpoint<Protocol> const& endpoint) const noexcept {
        return endpoint.hash();
    }
};
