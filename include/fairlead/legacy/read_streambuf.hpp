// Reading into a streambuf, which is taken by reference.
#pragma once

#include <fairlead/legacy/streambuf_fwd.hpp>
#include <fairlead/stream/read.hpp>

#include <utility>

namespace fairlead {

/// Appends to a streambuf as async_read does to any dynamic buffer; `rest` is a condition, a token, both or none.
/// Completes  (error_code ec, std::size_t n); n counts what was appended also when ec is set
/// Errors     those of the stream's async_read_some; error::eof is how a stream ends
/// Cancel     terminal, partial; n tells what was appended
/// Lifetime   the stream and the streambuf outlive the completion
/// Threads    no other read on the stream meanwhile
/// Allocates  a counted block, and what the streambuf needs to grow
/// Source     Asio, async_read
template <async_read_stream Stream, class Allocator, class... Rest>
decltype(auto) async_read(Stream& stream, basic_streambuf<Allocator>& into, Rest&&... rest) {
    return async_read(stream, basic_streambuf_ref<Allocator>(into), std::forward<Rest>(rest)...);
}
template <sync_read_stream Stream, class Allocator, class... Rest>
std::size_t read(Stream& stream, basic_streambuf<Allocator>& into, Rest&&... rest) {
    return read(stream, basic_streambuf_ref<Allocator>(into), std::forward<Rest>(rest)...);
}

} // namespace fairlead
