// Reading into a streambuf until something is in it, which is taken by reference.
#pragma once

#include <fairlead/legacy/streambuf_fwd.hpp>
#include <fairlead/stream/read_until.hpp>

#include <utility>

namespace fairlead {

/// Appends to a streambuf until what `rest` begins with, a delimiter or a match condition; a token may follow.
/// Completes  (error_code ec, std::size_t n); n counts up to and including the match; more may follow in the streambuf
/// Errors     error::not_found  the streambuf has max_size() bytes and no match
///            otherwise those of the stream's async_read_some (error::eof before a match); what was read stays
/// Cancel     terminal, partial; what was read stays
/// Lifetime   the stream and the streambuf outlive the completion
/// Threads    no other read on the stream meanwhile
/// Allocates  a counted block, and what the streambuf needs to grow
/// Source     Asio, async_read_until
template <async_read_stream Stream, class Allocator, class... Rest>
decltype(auto) async_read_until(Stream& stream, basic_streambuf<Allocator>& into, Rest&&... rest) {
    return async_read_until(stream, basic_streambuf_ref<Allocator>(into), std::forward<Rest>(rest)...);
}
template <sync_read_stream Stream, class Allocator, class... Rest>
std::size_t read_until(Stream& stream, basic_streambuf<Allocator>& into, Rest&&... rest) {
    return read_until(stream, basic_streambuf_ref<Allocator>(into), std::forward<Rest>(rest)...);
}

} // namespace fairlead
