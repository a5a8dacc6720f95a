// Addresses to characters without allocating; shared by addresses and endpoints.
#pragma once

#include <fairlead/net/address.hpp>

#include <cstddef>
#include <string_view>

namespace fairlead::impl::net {

// "255.255.255.255", and "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255%4294967295".
constexpr std::size_t text_max_v4 = 15;
constexpr std::size_t text_max_v6 = 45 + 1 + 10;

/// Writes the text without a NUL; `to` has space for text_max_v4 or text_max_v6 characters. Returns its end.
char* print_address(ip::address_v4 const& a, char* to) noexcept;
char* print_address(ip::address_v6 const& a, char* to) noexcept;
char* print_address(ip::address const& a, char* to) noexcept;
char* print_number(unsigned n, char* to) noexcept;

/// Throws `ec`, if it is set, with what was to be done with which text. Of a long one the beginning is enough.
void throw_error_of(error_code const& ec, std::string_view what, std::string_view text);

} // namespace fairlead::impl::net
