// Commands on the bits of a string.
#include <redis_server/call.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl::bitmaps {
namespace {

// The first bit is the highest one of the first byte.
bool bit_at(std::string_view text, std::size_t bit) noexcept {
    std::size_t const byte = bit / 8;
    return byte < text.size() && (static_cast<unsigned char>(text[byte]) >> (7 - bit % 8) & 1);
}

bool read_offset(call& c, std::string_view text, std::size_t& bit) {
    std::int64_t n = 0;
    bool const is_good =
        parse_integer(text, n) && n >= 0 && static_cast<std::uint64_t>(n) / 8 < c.server.options.bulk_bytes_max;
    if (!is_good)
        c.error("ERR bit offset is not an integer or out of range");
    bit = static_cast<std::size_t>(n);
    return is_good;
}

void setbit(call& c) {
    std::size_t bit = 0;
    std::string* text = nullptr;
    if (!read_offset(c, c.args[2], bit))
        return;
    if (c.args[3] != "0" && c.args[3] != "1")
        return c.error("ERR bit is not an integer or out of range");
    if (!c.get_or_make(c.args[1], text))
        return;
    if (text->size() <= bit / 8)
        text->resize(bit / 8 + 1);
    bool const before = bit_at(*text, bit);
    auto const mask = static_cast<unsigned char>(0x80U >> bit % 8);
    auto const byte = static_cast<unsigned char>((*text)[bit / 8]);
    (*text)[bit / 8] = static_cast<char>(c.args[3] == "1" ? byte | mask : byte & ~mask);
    c.changed(c.args[1]);
    c.number(before);
}

void getbit(call& c) {
    std::size_t bit = 0;
    std::string* text = nullptr;
    if (read_offset(c, c.args[2], bit) && c.get(c.args[1], text))
        c.number(text && bit_at(*text, bit));
}

// The bits that START, END and BYTE or BIT choose, from args[at] on. False: answered.
bool read_bits(call& c, std::size_t at, std::size_t bytes, bounds& bits) {
    std::int64_t first = 0, last = -1;
    bool const by_bits = c.count() > at + 2 && c.is(at + 2, "bit");
    if (c.count() > at + 3 || (c.count() == at + 3 && !by_bits && !c.is(at + 2, "byte"))) {
        c.syntax_error();
        return false;
    }
    if ((c.count() > at && !c.integer(c.args[at], first)) || (c.count() > at + 1 && !c.integer(c.args[at + 1], last)))
        return false;
    bits = clamp(first, last, by_bits ? bytes * 8 : bytes);
    if (!by_bits)
        bits = {bits.begin * 8, bits.end * 8};
    return true;
}

void bitcount(call& c) {
    if (c.count() == 3)
        return c.syntax_error();
    std::string* text = nullptr;
    bounds bits{};
    if (!c.get(c.args[1], text) || !read_bits(c, 2, text ? text->size() : 0, bits))
        return;
    std::size_t n = 0;
    for (std::size_t bit = bits.begin; bit != bits.end; ++bit)
        n += bit_at(*text, bit);
    c.size(n);
}

void bitpos(call& c) {
    std::int64_t wanted = 0;
    if (!c.integer(c.args[2], wanted))
        return;
    if (wanted != 0 && wanted != 1)
        return c.error("ERR The bit argument must be 1 or 0.");
    std::string* text = nullptr;
    bounds bits{};
    if (!c.get(c.args[1], text) || !read_bits(c, 3, text ? text->size() : 0, bits))
        return;
    for (std::size_t bit = bits.begin; bit != bits.end; ++bit)
        if (bit_at(*text, bit) == (wanted == 1))
            return c.size(bit);
    // Behind a text without an end that was asked for all bits are 0.
    bool const has_end = c.count() > 4;
    if (wanted == 0 && !has_end && (!text || bits.begin != bits.end))
        return c.size(text ? bits.end : 0);
    c.number(-1);
}

void bitop(call& c) {
    enum class operation : unsigned char { and_, or_, xor_, not_ } op{};
    if (c.is(1, "and"))
        op = operation::and_;
    else if (c.is(1, "or"))
        op = operation::or_;
    else if (c.is(1, "xor"))
        op = operation::xor_;
    else if (c.is(1, "not"))
        op = operation::not_;
    else
        return c.syntax_error();
    if (op == operation::not_ && c.count() != 4)
        return c.error("ERR BITOP NOT must be called with a single source key.");
    std::vector<std::string> sources;
    std::size_t bytes = 0;
    for (std::string_view const key : c.args.subspan(3)) {
        std::string* text = nullptr;
        if (!c.get(key, text))
            return;
        sources.push_back(text ? *text : std::string());
        bytes = std::max(bytes, sources.back().size());
    }
    for (auto& source : sources)
        source.resize(bytes); // A shorter one goes on with zeros.
    std::string result = sources.front();
    for (std::size_t i = 0; i != bytes; ++i) {
        auto byte = static_cast<unsigned char>(result[i]);
        if (op == operation::not_)
            byte = static_cast<unsigned char>(~byte);
        for (std::size_t s = 1; s != sources.size(); ++s) {
            auto const other = static_cast<unsigned char>(sources[s][i]);
            byte = static_cast<unsigned char>(op == operation::and_  ? byte & other
                                              : op == operation::or_ ? byte | other
                                                                     : byte ^ other);
        }
        result[i] = static_cast<char>(byte);
    }
    if (bytes == 0)
        c.remove(c.args[2]);
    else
        c.replace(c.args[2], std::move(result));
    c.size(bytes);
}

constexpr command table[] = {
    {"bitcount", at_least(2), 0, one_key, of_read | of_bitmap | of_slow, bitcount},
    {"bitop", at_least(4), 0, {2, -1, 1}, of_write | of_bitmap | of_slow, bitop},
    {"bitpos", at_least(3), 0, one_key, of_read | of_bitmap | of_slow, bitpos},
    {"getbit", 3, 0, one_key, of_read | of_bitmap | of_fast, getbit},
    {"setbit", 4, 0, one_key, of_write | of_bitmap | of_slow, setbit},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::bitmaps
