// The socket options that name a multicast group or an interface.
#pragma once

#include <fairlead/net/address.hpp>
#include <fairlead/net/socket_options.hpp>

#include <cstddef>
#include <cstdint>

namespace fairlead {

namespace detail {

/// A multicast group, and the interface on which one is in it. Only for set_option().
template <typename Key> class membership_option : public Key {
public:
    /// None: the system refuses it.
    constexpr membership_option() noexcept = default;
    constexpr explicit membership_option(ip::address_v4 const& group,
                                         ip::address_v4 const& interface = ip::address_v4::any()) noexcept
        : v4_{group.to_bytes(), interface.to_bytes()} {}
    /// The interface is named by its index; 0 takes the scope id of the address, and if that is 0 too, the system
    /// chooses.
    constexpr explicit membership_option(ip::address_v6 const& group, ip::scope_id_type interface = 0) noexcept
        : v6_{group.to_bytes(), interface != 0 ? interface : group.scope_id()} {}
    explicit membership_option(ip::address const& group)
        : membership_option(group.is_v4() ? membership_option(group.to_v4()) : membership_option(group.to_v6())) {}

    template <typename Protocol> void const* data(Protocol const& p) const noexcept {
        return p.family() == impl::net::os::af_inet6 ? static_cast<void const*>(&v6_) : &v4_;
    }
    template <typename Protocol> constexpr std::size_t size(Protocol const& p) const noexcept {
        return p.family() == impl::net::os::af_inet6 ? sizeof(v6_) : sizeof(v4_);
    }

private:
    struct {
        ip::address_v4::bytes_type group{};
        ip::address_v4::bytes_type interface{};
    } v4_; // struct ip_mreq
    struct {
        ip::address_v6::bytes_type group{};
        std::uint32_t interface = 0;
    } v6_; // struct ipv6_mreq
};

/// The interface through which multicast packets leave: by its address in version 4, by its index in version 6.
template <typename Key> class interface_option : public Key {
public:
    constexpr interface_option() noexcept = default;
    constexpr explicit interface_option(ip::address_v4 const& interface) noexcept : v4_(interface.to_bytes()) {}
    constexpr explicit interface_option(unsigned interface) noexcept : v6_(interface) {}

    template <typename Protocol> void const* data(Protocol const& p) const noexcept {
        return p.family() == impl::net::os::af_inet6 ? static_cast<void const*>(&v6_) : &v4_;
    }
    template <typename Protocol> constexpr std::size_t size(Protocol const&) const noexcept { return sizeof(v4_); }

private:
    ip::address_v4::bytes_type v4_{};
    std::uint32_t v6_ = 0;
    static_assert(sizeof(v4_) == sizeof(v6_));
};

} // namespace detail

namespace ip::multicast {

/// Receives what is sent to this group from now on: `join_group(address)`.
using join_group = detail::membership_option<
    impl::net::ip_option_key<impl::net::os::ip_add_membership, impl::net::os::ipv6_join_group>>;
/// Undoes a join_group with the same arguments.
using leave_group = detail::membership_option<
    impl::net::ip_option_key<impl::net::os::ip_drop_membership, impl::net::os::ipv6_leave_group>>;
/// From which interface what is sent to groups leaves.
using outbound_interface = detail::interface_option<
    impl::net::ip_option_key<impl::net::os::ip_multicast_if, impl::net::os::ipv6_multicast_if>>;

} // namespace ip::multicast
} // namespace fairlead
