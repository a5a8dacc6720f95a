// IP addresses from and to text. Text comes from strangers: every length and number is checked before it is used.
#include <fairlead/net/address.hpp>

#include <net/address_text.hpp>

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace fairlead {

namespace impl::net {
namespace {

using words_type = std::array<unsigned, 8>;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr int hex_value(char c) noexcept {
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/// Takes a decimal number off the front: no sign, no leading zero, at most max.
std::optional<std::uint32_t> take_decimal(std::string_view& text, std::uint32_t max) noexcept {
    std::uint64_t value = 0;
    std::size_t length = 0;
    for (; length < text.size() && is_digit(text[length]); ++length) {
        value = value * 10 + static_cast<unsigned>(text[length] - '0');
        if (value > max || (length == 1 && text[0] == '0'))
            return {};
    }
    if (length == 0)
        return {};
    text.remove_prefix(length);
    return static_cast<std::uint32_t>(value);
}

std::optional<ip::address_v4> parse_v4(std::string_view text) noexcept {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        if (i != 0) {
            if (text.empty() || text[0] != '.')
                return {};
            text.remove_prefix(1);
        }
        auto const octet = take_decimal(text, 255);
        if (!octet)
            return {};
        value = value << 8 | *octet;
    }
    if (!text.empty())
        return {};
    return ip::address_v4(value);
}

/// Takes one to four hexadecimal digits off the front.
std::optional<unsigned> take_word(std::string_view& text) noexcept {
    unsigned value = 0;
    std::size_t length = 0;
    for (; length < text.size() && hex_value(text[length]) >= 0; ++length) {
        if (length == 4)
            return {};
        value = value << 4 | static_cast<unsigned>(hex_value(text[length]));
    }
    if (length == 0)
        return {};
    text.remove_prefix(length);
    return value;
}

/// Moves the words behind the gap to the end; a gap stands for at least one word of zeros.
bool close_gap(words_type& words, std::size_t count, std::size_t gap) noexcept {
    if (count == words.size())
        return false;
    for (std::size_t moved = 0; moved < count - gap; ++moved)
        words[7 - moved] = std::exchange(words[count - 1 - moved], 0u);
    return true;
}

std::optional<words_type> parse_words(std::string_view text) noexcept {
    constexpr std::size_t none = 9; // A gap may stand behind eight words, which is too many but not none.
    words_type words{};
    std::size_t count = 0;
    std::size_t gap = none;
    if (text.starts_with("::")) {
        gap = 0;
        text.remove_prefix(2);
    }
    while (!text.empty()) {
        if (count == 8)
            return {};
        std::string_view const rest = text;
        auto const word = take_word(text);
        if (!word)
            return {};
        if (text.starts_with('.')) { // The last word begins an IPv4 address, which ends the text.
            auto const tail = parse_v4(rest);
            if (!tail || count > 6)
                return {};
            words[count++] = tail->to_uint() >> 16;
            words[count++] = tail->to_uint() & 0xFFFF;
            break;
        }
        words[count++] = *word;
        if (text.empty())
            break;
        if (text == ":" || text[0] != ':')
            return {};
        text.remove_prefix(1);
        if (text[0] == ':') {
            if (gap != none)
                return {};
            gap = count;
            text.remove_prefix(1);
        }
    }
    bool const whole = gap == none ? count == 8 : close_gap(words, count, gap);
    return whole ? std::optional(words) : std::nullopt;
}

std::optional<ip::address_v6> parse_v6(std::string_view text) noexcept {
    if (text.size() > text_max_v6)
        return {};
    std::uint32_t scope_id = 0;
    if (auto const percent = text.find('%'); percent != text.npos) {
        std::string_view scope_text = text.substr(percent + 1);
        auto const scope = take_decimal(scope_text, std::numeric_limits<std::uint32_t>::max());
        if (!scope || !scope_text.empty())
            return {};
        scope_id = *scope;
        text = text.substr(0, percent);
    }
    auto const words = parse_words(text);
    if (!words)
        return {};
    ip::address_v6::bytes_type bytes{};
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[2 * i] = static_cast<unsigned char>((*words)[i] >> 8);
        bytes[2 * i + 1] = static_cast<unsigned char>((*words)[i]);
    }
    return ip::address_v6(bytes, scope_id);
}

struct zero_run {
    std::size_t first = 8;
    std::size_t length = 0;
};

/// The first of the longest runs of zero words; a single zero is none.
zero_run longest_zero_run(words_type const& words) noexcept {
    zero_run best, current;
    for (std::size_t i = 0; i < 8; ++i) {
        if (words[i] != 0) {
            current = {};
            continue;
        }
        if (current.length++ == 0)
            current.first = i;
        if (current.length > best.length)
            best = current;
    }
    return best.length >= 2 ? best : zero_run{};
}

template <typename Address> Address or_invalid(std::optional<Address> const& parsed, error_code& ec) noexcept {
    if (parsed) {
        ec.clear();
        return *parsed;
    }
    ec = error::invalid_argument;
    return {};
}

} // namespace

char* print_number(unsigned n, char* to) noexcept { return std::to_chars(to, to + 10, n).ptr; }

char* print_address(ip::address_v4 const& a, char* to) noexcept {
    auto const bytes = a.to_bytes();
    for (std::size_t i = 0; i < 4; ++i) {
        if (i != 0)
            *to++ = '.';
        to = print_number(bytes[i], to);
    }
    return to;
}

char* print_address(ip::address_v6 const& a, char* to) noexcept {
    auto const bytes = a.to_bytes();
    words_type words{};
    for (std::size_t i = 0; i < 8; ++i)
        words[i] = static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
    zero_run const gap = longest_zero_run(words);
    // ::a.b.c.d and ::ffff:a.b.c.d, as inet_ntop() writes them.
    bool const has_v4 = gap.first == 0 && (gap.length == 6 || (gap.length == 5 && words[5] == 0xFFFF));
    for (std::size_t i = 0; i < (has_v4 ? 6u : 8u);) {
        if (i == gap.first) {
            *to++ = ':';
            i += gap.length;
            if (i == 8)
                *to++ = ':';
            continue;
        }
        if (i != 0)
            *to++ = ':';
        to = std::to_chars(to, to + 4, words[i++], 16).ptr;
    }
    if (has_v4) {
        *to++ = ':';
        to = print_address(ip::address_v4(words[6] << 16 | words[7]), to);
    }
    if (a.scope_id() != 0) {
        *to++ = '%';
        to = print_number(a.scope_id(), to);
    }
    return to;
}

char* print_address(ip::address const& a, char* to) noexcept {
    return a.is_v4() ? print_address(a.to_v4(), to) : print_address(a.to_v6(), to);
}

} // namespace impl::net

void impl::net::throw_error_of(error_code const& ec, std::string_view what, std::string_view text) {
    constexpr std::size_t shown_most = 64;
    if (ec)
        impl::base::throw_error_now(ec, std::string(what).append(1, ' ').append(text.substr(0, shown_most)).c_str());
}

namespace ip {

char const* bad_address_cast::what() const noexcept { return "bad address cast"; }

address_v4 address::to_v4() const {
    if (is_v6_)
        throw bad_address_cast();
    return v4_;
}

address_v6 address::to_v6() const {
    if (!is_v6_)
        throw bad_address_cast();
    return v6_;
}

std::string address_v4::to_string() const {
    char text[impl::net::text_max_v4];
    return {text, impl::net::print_address(*this, text)};
}

std::string address_v6::to_string() const {
    char text[impl::net::text_max_v6];
    return {text, impl::net::print_address(*this, text)};
}

std::string address::to_string() const { return is_v6_ ? v6_.to_string() : v4_.to_string(); }

address_v4 make_address_v4(std::string_view text, error_code& ec) noexcept {
    return impl::net::or_invalid(impl::net::parse_v4(text), ec);
}

address_v6 make_address_v6(std::string_view text, error_code& ec) noexcept {
    return impl::net::or_invalid(impl::net::parse_v6(text), ec);
}

address make_address(std::string_view text, error_code& ec) noexcept {
    address_v6 const v6 = make_address_v6(text, ec);
    if (!ec)
        return v6;
    return make_address_v4(text, ec);
}

address_v4 make_address_v4(std::string_view text) {
    error_code ec;
    address_v4 const a = make_address_v4(text, ec);
    impl::net::throw_error_of(ec, "make_address_v4", text);
    return a;
}

address_v6 make_address_v6(std::string_view text) {
    error_code ec;
    address_v6 const a = make_address_v6(text, ec);
    impl::net::throw_error_of(ec, "make_address_v6", text);
    return a;
}

address make_address(std::string_view text) {
    error_code ec;
    address const a = make_address(text, ec);
    impl::net::throw_error_of(ec, "make_address", text);
    return a;
}

address_v4 make_address_v4(v4_mapped_t, address_v6 const& mapped) {
    if (!mapped.is_v4_mapped())
        throw bad_address_cast();
    auto const b = mapped.to_bytes();
    return address_v4(address_v4::bytes_type{b[12], b[13], b[14], b[15]});
}

address_v6 make_address_v6(v4_mapped_t, address_v4 const& a) noexcept {
    auto const b = a.to_bytes();
    return address_v6(address_v6::bytes_type{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, b[0], b[1], b[2], b[3]});
}

} // namespace ip
} // namespace fairlead

std::size_t std::hash<fairlead::ip::address_v6>::operator()(fairlead::ip::address_v6 const& a) const noexcept {
    auto const bytes = a.to_bytes();
    auto const of_bytes = std::hash<std::string_view>()({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
    return of_bytes ^ std::size_t{a.scope_id()} * 0x9E3779B97F4A7C15u;
}

std::size_t std::hash<fairlead::ip::address>::operator()(fairlead::ip::address const& a) const noexcept {
    return a.is_v4() ? std::hash<fairlead::ip::address_v4>()(a.to_v4())
                     : std::hash<fairlead::ip::address_v6>()(a.to_v6());
}
