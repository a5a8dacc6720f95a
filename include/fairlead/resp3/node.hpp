// The nodes that a parser delivers: one for each value, each aggregate's header and each attribute's header.
#pragma once

#include <fairlead/base/config.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace fairlead::resp3 {

/// The versions of the wire format. A parser reads both; a writer of replies has to know which one to write.
enum class version : unsigned char { resp2 = 2, resp3 = 3 };

/// Each kind is its own first byte on the wire. The RESP2 nulls ("$-1", "*-1") are delivered as null.
enum class type : unsigned char {
    simple_string = '+',
    simple_error = '-',
    number = ':',
    blob_string = '$',
    blob_error = '!',
    verbatim_string = '=',
    null = '_',
    boolean = '#',
    real = ',', ///< A double.
    big_number = '(',
    array = '*',
    map = '%',
    set = '~',
    push = '>',
    attribute = '|',
    streamed_string = '?', ///< "$?": its children are chunks. Only with limits::streamed_types.
    chunk = ';',
    stream_end = '.', ///< The last child of an aggregate whose size is unknown_size.
};

/// node::size of an aggregate whose header did not say how many children follow: they end with a stream_end.
inline constexpr std::uint64_t unknown_size = UINT64_MAX;

/// One event of a message, in the order of the wire: an aggregate comes before its children. Views the buffer that
/// the parser was given, so it is as short-lived as those bytes.
struct node {
    std::string_view value; ///< The text of a scalar without framing: "t", "42", the body of a bulk. Else empty.
    std::uint64_t size;     ///< Of an aggregate: how many child nodes follow (2n for n pairs), or unknown_size. Else 0.
    std::uint32_t depth;    ///< 0 at the top; an attribute stands beside the value that it describes.
    type kind;
    bool in_attribute;          ///< An attribute's header or inside of one: skip these to see the bare message.
    bool last;                  ///< The message is complete with this node.
    std::array<char, 3> format; ///< Of a verbatim string, e.g. "txt" or "mkd". Else zeros.
};

/// True for kinds that have children. A streamed string counts: its chunks are its children.
constexpr bool is_aggregate(type kind) noexcept {
    switch (kind) {
    case type::array:
    case type::map:
    case type::set:
    case type::push:
    case type::attribute:
    case type::streamed_string: return true;
    default: return false;
    }
}

/// True for the two kinds by which a server refuses a command.
constexpr bool is_error(type kind) noexcept { return kind == type::simple_error || kind == type::blob_error; }

/// The name of the enumerator, or "unknown" for a byte that is no type.
FAIRLEAD_EXPORT std::string_view to_string(type kind) noexcept;

} // namespace fairlead::resp3
