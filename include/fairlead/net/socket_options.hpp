// Socket options as types: what set_option() and get_option() take; and socket_base, which names most of them.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/net/os_values.hpp>

#include <cstddef>

namespace fairlead {

namespace impl::net {

/// Throws length_error: the system answered with a value of another size than the option has.
[[noreturn]] FAIRLEAD_EXPORT void throw_option_size();
/// Throws out_of_range: no IP packet can carry this number of hops.
[[noreturn]] FAIRLEAD_EXPORT void throw_option_range();

/// Where the system finds an option.
template <int Level, int Name> struct option_key {
    template <typename Protocol> static constexpr int level(Protocol const&) noexcept { return Level; }
    template <typename Protocol> static constexpr int name(Protocol const&) noexcept { return Name; }
};

/// An option of the internet protocol, which has one place in each of its versions.
template <int NameV4, int NameV6> struct ip_option_key {
    template <typename Protocol> static constexpr int level(Protocol const& p) noexcept {
        return p.family() == os::af_inet6 ? os::ipproto_ipv6 : os::ipproto_ip;
    }
    template <typename Protocol> static constexpr int name(Protocol const& p) noexcept {
        return p.family() == os::af_inet6 ? NameV6 : NameV4;
    }
};

/// An option whose value is one int.
template <typename Key> class integer_option : public Key {
public:
    constexpr integer_option() noexcept = default;
    constexpr explicit integer_option(int value) noexcept : value_(value) {}
    constexpr integer_option& operator=(int value) noexcept { return value_ = value, *this; }

    constexpr int value() const noexcept { return value_; }

    template <typename Protocol> void* data(Protocol const&) noexcept { return &value_; }
    template <typename Protocol> void const* data(Protocol const&) const noexcept { return &value_; }
    template <typename Protocol> constexpr std::size_t size(Protocol const&) const noexcept { return sizeof(value_); }
    /// Tells how many bytes get_option() wrote.
    template <typename Protocol> void resize(Protocol const&, std::size_t size) const {
        if (size != sizeof(value_))
            throw_option_size();
    }

private:
    int value_ = 0;
};

/// The size of a buffer of the kernel, which books twice of what is set. Read it is what was set.
template <typename Key> class buffer_size_option : public integer_option<Key> {
public:
    using integer_option<Key>::integer_option;
    using integer_option<Key>::operator=;

    template <typename Protocol> void resize(Protocol const& p, std::size_t size) {
        integer_option<Key>::resize(p, size);
        *this = this->value() / 2;
    }
};

/// An option that is on or off.
template <typename Key> class boolean_option : public Key {
public:
    constexpr boolean_option() noexcept = default;
    constexpr explicit boolean_option(bool value) noexcept : value_(value ? 1 : 0) {}
    constexpr boolean_option& operator=(bool value) noexcept { return value_ = value ? 1 : 0, *this; }

    constexpr bool value() const noexcept { return value_ != 0; }
    constexpr operator bool() const noexcept { return value_ != 0; }

    template <typename Protocol> void* data(Protocol const&) noexcept { return &value_; }
    template <typename Protocol> void const* data(Protocol const&) const noexcept { return &value_; }
    template <typename Protocol> constexpr std::size_t size(Protocol const&) const noexcept { return sizeof(value_); }
    template <typename Protocol> void resize(Protocol const&, std::size_t size) {
        if (size == 1) // Some options answer with one byte, which says nothing about the other three.
            value_ = *reinterpret_cast<unsigned char const*>(&value_) != 0 ? 1 : 0;
        else if (size != sizeof(value_))
            throw_option_size();
    }

private:
    int value_ = 0;
};

/// Hops of multicast packets: 0 to 255, checked here because the system would take -1 for "the default".
/// Errors     out_of_range    the value is none of these
template <typename Key> class hops_option : public integer_option<Key> {
public:
    constexpr hops_option() noexcept = default;
    constexpr explicit hops_option(int value) : integer_option<Key>(checked(value)) {}
    constexpr hops_option& operator=(int value) {
        integer_option<Key>::operator=(checked(value));
        return *this;
    }

private:
    static constexpr int checked(int value) {
        if (value < 0 || value > 255)
            throw_option_range();
        return value;
    }
};

/// The treatment by close() of bytes that are not sent yet.
template <typename Key> class linger_option : public Key {
public:
    constexpr linger_option() noexcept = default;
    constexpr linger_option(bool enabled, int timeout_s) noexcept : value_{enabled ? 1 : 0, timeout_s} {}

    constexpr bool enabled() const noexcept { return value_.enabled != 0; }
    constexpr void enabled(bool value) noexcept { value_.enabled = value ? 1 : 0; }
    /// Seconds; 0 while enabled means: drop the bytes and reset the connection.
    constexpr int timeout() const noexcept { return value_.timeout_s; }
    constexpr void timeout(int value_s) noexcept { value_.timeout_s = value_s; }

    template <typename Protocol> void* data(Protocol const&) noexcept { return &value_; }
    template <typename Protocol> void const* data(Protocol const&) const noexcept { return &value_; }
    template <typename Protocol> constexpr std::size_t size(Protocol const&) const noexcept { return sizeof(value_); }
    template <typename Protocol> void resize(Protocol const&, std::size_t size) const {
        if (size != sizeof(value_))
            throw_option_size();
    }

private:
    struct {
        int enabled = 0;
        int timeout_s = 0;
    } value_; // struct linger
};

/// Options that sockets keep themselves and never pass on.
inline constexpr int custom_option_level = -0x5AF00000;
inline constexpr int enable_connection_aborted_name = 1;

/// By these names Asio's users make options that no header names.
namespace socket_option {
template <int Level, int Name> using boolean = boolean_option<option_key<Level, Name>>;
template <int Level, int Name> using integer = integer_option<option_key<Level, Name>>;
template <int Level, int Name> using buffer_size = buffer_size_option<option_key<Level, Name>>;
template <int Level, int Name> using linger = linger_option<option_key<Level, Name>>;
} // namespace socket_option

} // namespace impl::net

/// The constants and options that all sockets share; sockets and acceptors derive from it.
class socket_base {
public:
    enum shutdown_type {
        shutdown_receive = impl::net::os::shut_rd,
        shutdown_send = impl::net::os::shut_wr,
        shutdown_both = impl::net::os::shut_rdwr,
    };
    enum wait_type { wait_read, wait_write, wait_error };

    using message_flags = int;
    static constexpr int message_peek = impl::net::os::msg_peek;
    static constexpr int message_out_of_band = impl::net::os::msg_oob;
    static constexpr int message_do_not_route = impl::net::os::msg_dontroute;
    static constexpr int message_end_of_record = impl::net::os::msg_eor;

    static constexpr int max_listen_connections = impl::net::os::somaxconn;

    using broadcast = impl::net::socket_option::boolean<impl::net::os::sol_socket, impl::net::os::so_broadcast>;
    using debug = impl::net::socket_option::boolean<impl::net::os::sol_socket, impl::net::os::so_debug>;
    using do_not_route = impl::net::socket_option::boolean<impl::net::os::sol_socket, impl::net::os::so_dontroute>;
    using keep_alive = impl::net::socket_option::boolean<impl::net::os::sol_socket, impl::net::os::so_keepalive>;
    using out_of_band_inline =
        impl::net::socket_option::boolean<impl::net::os::sol_socket, impl::net::os::so_oobinline>;
    using reuse_address = impl::net::socket_option::boolean<impl::net::os::sol_socket, impl::net::os::so_reuseaddr>;
    /// Not in Asio: several sockets bound to one port share what arrives.
    using reuse_port = impl::net::socket_option::boolean<impl::net::os::sol_socket, impl::net::os::so_reuseport>;

    using linger = impl::net::socket_option::linger<impl::net::os::sol_socket, impl::net::os::so_linger>;
    using receive_buffer_size =
        impl::net::socket_option::buffer_size<impl::net::os::sol_socket, impl::net::os::so_rcvbuf>;
    using receive_low_watermark =
        impl::net::socket_option::integer<impl::net::os::sol_socket, impl::net::os::so_rcvlowat>;
    using send_buffer_size = impl::net::socket_option::buffer_size<impl::net::os::sol_socket, impl::net::os::so_sndbuf>;
    using send_low_watermark = impl::net::socket_option::integer<impl::net::os::sol_socket, impl::net::os::so_sndlowat>;

    /// Whether accepting reports connection_aborted (a peer that gave up while queued) or goes on with the next peer.
    using enable_connection_aborted =
        impl::net::socket_option::boolean<impl::net::custom_option_level, impl::net::enable_connection_aborted_name>;

    /// For io_control(): how many bytes a read would find.
    class bytes_readable {
    public:
        constexpr bytes_readable() noexcept = default;
        constexpr explicit bytes_readable(std::size_t value) noexcept : value_(static_cast<int>(value)) {}
        static constexpr int name() noexcept { return impl::net::os::fionread; }
        constexpr void set(std::size_t value) noexcept { value_ = static_cast<int>(value); }
        constexpr std::size_t get() const noexcept { return static_cast<std::size_t>(value_); }
        void* data() noexcept { return &value_; }

    private:
        int value_ = 0;
    };

protected:
    socket_base() = default;
    ~socket_base() = default;
};

namespace ip {

/// Whether an IPv6 socket refuses IPv4 peers (as v4-mapped addresses).
using v6_only = impl::net::socket_option::boolean<impl::net::os::ipproto_ipv6, impl::net::os::ipv6_v6only>;

namespace unicast {
/// How many routers may pass on what is sent to one host: TTL, or hop limit.
using hops =
    impl::net::integer_option<impl::net::ip_option_key<impl::net::os::ip_ttl, impl::net::os::ipv6_unicast_hops>>;
} // namespace unicast

namespace multicast {
/// As unicast::hops, for datagrams to a group.
using hops = impl::net::hops_option<
    impl::net::ip_option_key<impl::net::os::ip_multicast_ttl, impl::net::os::ipv6_multicast_hops>>;
/// Whether this computer gets what it sends to a group that it has joined.
using enable_loopback = impl::net::boolean_option<
    impl::net::ip_option_key<impl::net::os::ip_multicast_loop, impl::net::os::ipv6_multicast_loop>>;
} // namespace multicast

} // namespace ip
} // namespace fairlead
