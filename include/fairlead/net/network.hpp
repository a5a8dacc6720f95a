// Ranges of IP addresses, and networks: an address and how many of its bits name the network.
#pragma once

#include <fairlead/net/address.hpp>

#include <cstddef>
#include <iterator>
#include <stdexcept>

namespace fairlead::ip {

/// Counts through addresses, from the last one on to the first.
template <class Address> class basic_address_iterator {
public:
    using value_type = Address;
    using difference_type = std::ptrdiff_t;
    using pointer = Address const*;
    using reference = Address const&;
    using iterator_category = std::input_iterator_tag;

    constexpr basic_address_iterator(Address const& a) noexcept : address_(a) {}

    constexpr reference operator*() const noexcept { return address_; }
    constexpr pointer operator->() const noexcept { return &address_; }
    constexpr basic_address_iterator& operator++() noexcept {
        auto b = address_.to_bytes();
        for (auto i = b.size(); i != 0; --i)
            if (++b[i - 1] != 0)
                break;
        return replace(b);
    }
    constexpr basic_address_iterator operator++(int) noexcept {
        auto const before = *this;
        ++*this;
        return before;
    }
    constexpr basic_address_iterator& operator--() noexcept {
        auto b = address_.to_bytes();
        for (auto i = b.size(); i != 0; --i)
            if (b[i - 1]-- != 0)
                break;
        return replace(b);
    }
    constexpr basic_address_iterator operator--(int) noexcept {
        auto const before = *this;
        --*this;
        return before;
    }
    friend constexpr bool operator==(basic_address_iterator const&, basic_address_iterator const&) noexcept = default;

private:
    constexpr basic_address_iterator& replace(typename Address::bytes_type const& b) noexcept {
        if constexpr (requires { address_.scope_id(); })
            address_ = Address(b, address_.scope_id());
        else
            address_ = Address(b);
        return *this;
    }
    Address address_;
};
/// Over IPv4 addresses, in ascending order.
using address_v4_iterator = basic_address_iterator<address_v4>;
/// Over IPv6 addresses.
using address_v6_iterator = basic_address_iterator<address_v6>;

/// The addresses from one on, up to another one that is not in the range.
template <class Address> class basic_address_range {
public:
    using iterator = basic_address_iterator<Address>;

    constexpr basic_address_range() noexcept : first_(Address()), last_(Address()) {}
    constexpr basic_address_range(iterator const& first, iterator const& last) noexcept : first_(first), last_(last) {}

    constexpr iterator begin() const noexcept { return first_; }
    constexpr iterator end() const noexcept { return last_; }
    constexpr bool empty() const noexcept { return first_ == last_; }

    constexpr std::size_t size() const noexcept
        requires(sizeof(typename Address::bytes_type) == 4)
    {
        return last_->to_uint() - first_->to_uint();
    }
    /// end() when the range does not have it.
    constexpr iterator find(Address const& a) const noexcept {
        return a >= *first_ && a < *last_ ? iterator(a) : last_;
    }

private:
    iterator first_;
    iterator last_;
};
/// Of IPv4 addresses: what network_v4::hosts() returns.
using address_v4_range = basic_address_range<address_v4>;
/// Of IPv6 addresses: what network_v6::hosts() returns.
using address_v6_range = basic_address_range<address_v6>;

namespace network_detail { // ip::detail would hide fairlead::detail from everything in ip.

/// A prefix of `length` bits that are set.
template <class Bytes> constexpr Bytes mask_of(unsigned length) noexcept {
    Bytes mask{};
    for (auto& b : mask) {
        unsigned const bits = length < 8 ? length : 8;
        b = static_cast<unsigned char>(0xFF00U >> bits);
        length -= bits;
    }
    return mask;
}
[[noreturn]] FAIRLEAD_EXPORT void throw_prefix_length();
[[noreturn]] FAIRLEAD_EXPORT void throw_netmask();

} // namespace network_detail

/// A network of IPv4, with the address that it was made from: 192.168.1.7/24.
class network_v4 {
public:
    constexpr network_v4() noexcept = default;
    /// Errors     out_of_range        more than 32 bits
    constexpr network_v4(address_v4 const& a, unsigned short prefix_length) : address_(a), length_(prefix_length) {
        if (prefix_length > 32)
            network_detail::throw_prefix_length();
    }
    /// Errors     invalid_argument    the mask has a bit set behind one that is not
    constexpr network_v4(address_v4 const& a, address_v4 const& mask) : address_(a) {
        auto const bits = mask.to_uint();
        while (length_ != 32 && (bits >> (31 - length_) & 1) != 0)
            ++length_;
        if (netmask() != mask)
            network_detail::throw_netmask();
    }

    constexpr address_v4 address() const noexcept { return address_; }
    constexpr unsigned short prefix_length() const noexcept { return length_; }
    constexpr address_v4 netmask() const noexcept {
        return address_v4(network_detail::mask_of<address_v4::bytes_type>(length_));
    }
    constexpr address_v4 network() const noexcept { return address_v4(address_.to_uint() & netmask().to_uint()); }
    constexpr address_v4 broadcast() const noexcept { return address_v4(network().to_uint() | ~netmask().to_uint()); }
    /// The addresses between network() and broadcast().
    constexpr address_v4_range hosts() const noexcept {
        return is_host() ? address_v4_range(address_, address_v4(address_.to_uint() + 1))
                         : address_v4_range(address_v4(network().to_uint() + 1), broadcast());
    }
    /// The same network without a host.
    constexpr network_v4 canonical() const noexcept { return {network(), length_, 0}; }
    constexpr bool is_host() const noexcept { return length_ == 32; }
    /// True only of a part, not of the same.
    constexpr bool is_subnet_of(network_v4 const& other) const noexcept {
        return other.length_ < length_ && network_v4(address_, other.length_, 0).network() == other.network();
    }
    FAIRLEAD_EXPORT std::string to_string() const;
    std::string to_string(error_code& ec) const {
        ec = {};
        return to_string();
    }
    friend constexpr bool operator==(network_v4 const&, network_v4 const&) noexcept = default;

private:
    constexpr network_v4(address_v4 const& a, unsigned short length, int) noexcept : address_(a), length_(length) {}
    address_v4 address_;
    unsigned short length_ = 0;
};

/// A network of IPv6, with the address that it was made from: 2001:db8::7/32.
class network_v6 {
public:
    constexpr network_v6() noexcept = default;
    /// Errors     out_of_range    more than 128 bits
    constexpr network_v6(address_v6 const& a, unsigned short prefix_length) : address_(a), length_(prefix_length) {
        if (prefix_length > 128)
            network_detail::throw_prefix_length();
    }

    constexpr address_v6 address() const noexcept { return address_; }
    constexpr unsigned short prefix_length() const noexcept { return length_; }
    constexpr address_v6 network() const noexcept {
        auto bytes = address_.to_bytes();
        auto const mask = network_detail::mask_of<address_v6::bytes_type>(length_);
        for (std::size_t i = 0; i != bytes.size(); ++i)
            bytes[i] = static_cast<unsigned char>(bytes[i] & mask[i]);
        return address_v6(bytes, address_.scope_id());
    }
    /// All of its addresses: there is no broadcast.
    constexpr address_v6_range hosts() const noexcept {
        auto last = network().to_bytes();
        auto const mask = network_detail::mask_of<address_v6::bytes_type>(length_);
        for (std::size_t i = 0; i != last.size(); ++i)
            last[i] = static_cast<unsigned char>(last[i] | ~mask[i]);
        address_v6_iterator end(address_v6(last, address_.scope_id()));
        ++end;
        return {network(), end};
    }
    constexpr network_v6 canonical() const noexcept { return {network(), length_, 0}; }
    constexpr bool is_host() const noexcept { return length_ == 128; }
    /// True only of a part, not of the same.
    constexpr bool is_subnet_of(network_v6 const& other) const noexcept {
        return other.length_ < length_ && network_v6(address_, other.length_, 0).network() == other.network();
    }
    FAIRLEAD_EXPORT std::string to_string() const;
    std::string to_string(error_code& ec) const {
        ec = {};
        return to_string();
    }
    friend constexpr bool operator==(network_v6 const&, network_v6 const&) noexcept = default;

private:
    constexpr network_v6(address_v6 const& a, unsigned short length, int) noexcept : address_(a), length_(length) {}
    address_v6 address_;
    unsigned short length_ = 0;
};

[[nodiscard]] inline network_v4 make_network_v4(address_v4 const& a, unsigned short prefix_length) {
    return {a, prefix_length};
}
[[nodiscard]] inline network_v4 make_network_v4(address_v4 const& a, address_v4 const& mask) { return {a, mask}; }
/// An address and how many of its bits name the network.
/// Errors     error::invalid_argument    more than 128
[[nodiscard]] inline network_v6 make_network_v6(address_v6 const& a, unsigned short prefix_length) {
    return {a, prefix_length};
}
/// From text: an address, a slash, and the number of bits in decimal.
/// Errors     error::invalid_argument    the text is no such network
[[nodiscard]] FAIRLEAD_EXPORT network_v4 make_network_v4(std::string_view text);
FAIRLEAD_EXPORT network_v4 make_network_v4(std::string_view text, error_code& ec) noexcept;
[[nodiscard]] FAIRLEAD_EXPORT network_v6 make_network_v6(std::string_view text);
FAIRLEAD_EXPORT network_v6 make_network_v6(std::string_view text, error_code& ec) noexcept;

/// The text of to_string(). Needs <ostream> only where it is called.
template <typename Elem, typename Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os, network_v4 const& n) {
    return os << n.to_string().c_str();
}
template <typename Elem, typename Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os, network_v6 const& n) {
    return os << n.to_string().c_str();
}

} // namespace fairlead::ip
