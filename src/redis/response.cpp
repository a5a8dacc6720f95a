#include <fairlead/redis/response.hpp>

#include <fairlead/base/copy_text.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace fairlead::redis {

using resp3::type;

void reply_reader::skip() noexcept {
    auto const depth = at_->depth;
    do
        ++at_;
    while (at_ != end_ && at_->depth > depth);
}

template <class T> void generic_response::block<T>::reserve(std::size_t more, std::size_t least) {
    auto const wanted = size + more;
    if (wanted <= capacity) [[likely]]
        return;
    auto const larger = std::max({wanted, 2 * capacity, least});
    auto moved = std::make_unique_for_overwrite<T[]>(larger);
    std::copy_n(data.get(), size, moved.get());
    data = std::move(moved);
    capacity = larger;
}

template <class T> void generic_response::block<T>::drop(std::size_t n) noexcept {
    std::copy(data.get() + n, data.get() + size, data.get());
    size -= n;
}

void generic_response::append(std::span<resp3::node const> message) {
    constexpr std::size_t least_bytes = 256;
    std::size_t bytes = 0;
    for (auto const& n : message)
        bytes += n.value.size();
    entries_.reserve(message.size());
    text_.reserve(bytes, least_bytes); // Nothing below can throw.
    auto* to = entries_.data.get() + entries_.size;
    char* const text = text_.data.get();
    auto at = text_.size;
    for (auto const& n : message) {
        auto const size = n.value.size();
        fairlead::impl::base::copy_text(text + at, n.value.data(), size);
        auto const byte = [](auto c) { return std::uint64_t{static_cast<unsigned char>(c)}; };
        *to++ = {at, resp3::is_aggregate(n.kind) ? n.size : size,
                 byte(n.kind) | byte(n.format[0]) << 8 | byte(n.format[1]) << 16 | byte(n.format[2]) << 24 |
                     byte(n.last) << 32 | std::uint64_t{n.depth} << 33};
        at += size;
    }
    entries_.size += message.size();
    text_.size = at;
    ++messages_;
}

std::size_t generic_response::drop_older_half() noexcept {
    std::size_t const wanted = messages_ - messages_ / 2;
    std::size_t dropped = 0;
    std::size_t first = 0;
    while (dropped != wanted)
        dropped += entries_.data[first++].is_last();
    if (first == entries_.size) {
        clear();
        return dropped;
    }
    std::size_t const bytes = entries_.data[first].offset;
    entries_.drop(first);
    text_.drop(bytes);
    for (auto& e : std::span(entries_.data.get(), entries_.size))
        e.offset -= bytes;
    messages_ -= dropped;
    return dropped;
}

namespace impl {

void throw_no_value(error_code const& why, std::string_view server_text) {
    constexpr std::size_t shown_bytes_max = 256;
    auto const what = why == condition::refused_by_server ? resp3::printable(server_text, shown_bytes_max)
                                                          : std::string("redis::result::value");
    throw system_error(why, what);
}

error_code not_a_value(reply_reader& in) noexcept {
    auto const& n = in.peek();
    return resp3::is_error(n.kind) ? refusal_of(n.value) : error::incompatible_type;
}

error_code read_bytes(reply_reader& in, std::byte* into, std::size_t size) {
    if (!holds_text(in.peek().kind))
        return not_a_value(in);
    auto const text = in.peek().value;
    if (text.size() != size)
        return error::incompatible_type;
    if (size != 0)
        std::memcpy(into, text.data(), size);
    in.advance();
    return {};
}

error_code read_bytes(reply_reader& in, std::vector<std::byte>& into) {
    if (!holds_text(in.peek().kind))
        return not_a_value(in);
    auto const* const bytes = reinterpret_cast<std::byte const*>(in.peek().value.data());
    into.assign(bytes, bytes + in.peek().value.size());
    in.advance();
    return {};
}

std::string_view read_number_text(reply_reader& in, error_code& ec) noexcept {
    if (!holds_text(in.peek().kind)) {
        ec = not_a_value(in);
        return {};
    }
    auto const text = in.peek().value;
    in.advance();
    return text;
}

error_code read_boolean(reply_reader& in, bool& value) {
    error_code ec;
    if (in.peek().kind == type::boolean) {
        value = in.peek().value == "t";
        in.advance();
        return ec;
    }
    auto const text = read_number_text(in, ec);
    if (!ec)
        value = resp3::to_boolean(text, ec);
    return ec;
}

error_code read_real(reply_reader& in, double& value) {
    error_code ec;
    auto const text = read_number_text(in, ec);
    if (!ec)
        value = resp3::to_real(text, ec);
    return ec;
}

std::size_t enter_sequence(reply_reader& in, error_code& ec) noexcept {
    auto const& n = in.peek();
    bool const is_sequence = n.kind == type::array || n.kind == type::set || n.kind == type::push;
    if (!is_sequence || n.size == resp3::unknown_size) {
        ec = not_a_value(in);
        return 0;
    }
    in.advance();
    return static_cast<std::size_t>(n.size);
}

std::size_t enter_map(reply_reader& in, error_code& ec) noexcept {
    auto const& n = in.peek();
    bool const is_flat = n.kind == type::array && n.size % 2 == 0;
    if ((n.kind != type::map && !is_flat) || n.size == resp3::unknown_size) {
        ec = not_a_value(in);
        return 0;
    }
    in.advance();
    return static_cast<std::size_t>(n.size / 2);
}

bool is_flat_array(reply_reader in) noexcept {
    if (in.peek().kind != type::array || in.peek().size == 0)
        return false;
    in.advance();
    return !in.at_end() && !resp3::is_aggregate(in.peek().kind);
}

error_code deliver_nothing(void*, std::size_t, reply_view const& reply) {
    return resp3::is_error(reply.nodes[0].kind) ? make_error_code(refusal_of(reply.nodes[0].value)) : error_code();
}

error_code deliver_generic(void* object, std::size_t, reply_view const& reply) {
    static_cast<generic_response*>(object)->append(reply.nodes);
    return {};
}

} // namespace impl
} // namespace fairlead::redis
