// The algorithms on streams for a streambuf, which they take by reference.
#pragma once

#include <fairlead/base/streambuf.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>

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
/// As async_read, until what `rest` begins with: a delimiter or a match condition.
/// Completes  (error_code ec, std::size_t n); n counts up to and including the match; more may follow in the streambuf
/// Errors     error::not_found  the streambuf has max_size() bytes and no match
///            otherwise those of the stream's async_read_some (error::eof before a match); what was read stays
template <async_read_stream Stream, class Allocator, class... Rest>
decltype(auto) async_read_until(Stream& stream, basic_streambuf<Allocator>& into, Rest&&... rest) {
    return async_read_until(stream, basic_streambuf_ref<Allocator>(into), std::forward<Rest>(rest)...);
}
/// As async_read, but writes all of the streambuf, and consumes what was written.
/// Completes  (error_code ec, std::size_t n); n counts what was written also when ec is set
/// Errors     those of the stream's async_write_some
/// Threads    no other write on the stream meanwhile
/// Allocates  a counted block
template <async_write_stream Stream, class Allocator, class... Rest>
decltype(auto) async_write(Stream& stream, basic_streambuf<Allocator>& from, Rest&&... rest) {
    return async_write(stream, basic_streambuf_ref<Allocator>(from), std::forward<Rest>(rest)...);
}

template <sync_read_stream Stream, class Allocator, class... Rest>
std::size_t read(Stream& stream, basic_streambuf<Allocator>& into, Rest&&... rest) {
    return read(stream, basic_streambuf_ref<Allocator>(into), std::forward<Rest>(rest)...);
}
template <sync_read_stream Stream, class Allocator, class... Rest>
std::size_t read_until(Stream& stream, basic_streambuf<Allocator>& into, Rest&&... rest) {
    return read_until(stream, basic_streambuf_ref<Allocator>(into), std::forward<Rest>(rest)...);
}
template <sync_write_stream Stream, class Allocator, class... Rest>
std::size_t write(Stream& stream, basic_streambuf<Allocator>& from, Rest&&... rest) {
    return write(stream, basic_streambuf_ref<Allocator>(from), std::forward<Rest>(rest)...);
}

} // namespace fairlead
