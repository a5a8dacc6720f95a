#include <fairlead/net/network.hpp>

#include <net/address_text.hpp>

#include <charconv>

namespace fairlead::ip {

void network_detail::throw_prefix_length() { throw std::out_of_range("prefix length too large"); }
void network_detail::throw_netmask() { throw std::invalid_argument("non-contiguous netmask"); }

namespace {

/// The text behind the slash; false when it is no number up to `most`.
bool parse_length(std::string_view text, unsigned most, unsigned short& length) noexcept {
    unsigned n = 0;
    auto const r = std::from_chars(text.data(), text.data() + text.size(), n);
    if (r.ec != std::errc() || r.ptr != text.data() + text.size() || n > most)
        return false;
    length = static_cast<unsigned short>(n);
    return true;
}

template <class Network, class Parse>
Network parse(std::string_view text, error_code& ec, unsigned most, Parse parse_address) noexcept {
    auto const slash = text.find('/');
    unsigned short length = 0;
    if (slash == text.npos || !parse_length(text.substr(slash + 1), most, length)) {
        ec = error::invalid_argument;
        return {};
    }
    auto const address = parse_address(text.substr(0, slash), ec);
    return ec ? Network() : Network(address, length);
}

} // namespace

std::string network_v4::to_string() const { return address_.to_string() + "/" + std::to_string(length_); }
std::string network_v6::to_string() const { return address_.to_string() + "/" + std::to_string(length_); }

network_v4 make_network_v4(std::string_view text, error_code& ec) noexcept {
    return parse<network_v4>(text, ec, 32, [](std::string_view t, error_code& e) { return make_address_v4(t, e); });
}
network_v6 make_network_v6(std::string_view text, error_code& ec) noexcept {
    return parse<network_v6>(text, ec, 128, [](std::string_view t, error_code& e) { return make_address_v6(t, e); });
}
network_v4 make_network_v4(std::string_view text) {
    error_code ec;
    auto const n = make_network_v4(text, ec);
    impl::net::throw_error_of(ec, "make_network_v4", text);
    return n;
}
network_v6 make_network_v6(std::string_view text) {
    error_code ec;
    auto const n = make_network_v6(text, ec);
    impl::net::throw_error_of(ec, "make_network_v6", text);
    return n;
}

} // namespace fairlead::ip
