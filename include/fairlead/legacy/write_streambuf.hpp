// Writing a streambuf, which is taken by reference.
#pragma once

#include <fairlead/legacy/streambuf_fwd.hpp>
#include <fairlead/stream/write.hpp>

#include <utility>

namespace fairlead {

/// Writes all of a streambuf, and consumes what was written; `rest` is a condition, a token, both or none.
/// Completes  (error_code ec, std::size_t n); n counts what was written also when ec is set
/// Errors     those of the stream's async_write_some
/// Cancel     terminal, partial; n tells what was written
/// Lifetime   the stream and the streambuf outlive the completion
/// Threads    no other write on the stream meanwhile
/// Allocates  a counted block
/// Source     Asio, async_write
template <async_write_stream Stream, class Allocator, class... Rest>
decltype(auto) async_write(Stream& stream, basic_streambuf<Allocator>& from, Rest&&... rest) {
    return async_write(stream, basic_streambuf_ref<Allocator>(from), std::forward<Rest>(rest)...);
}
template <sync_write_stream Stream, class Allocator, class... Rest>
std::size_t write(Stream& stream, basic_streambuf<Allocator>& from, Rest&&... rest) {
    return write(stream, basic_streambuf_ref<Allocator>(from), std::forward<Rest>(rest)...);
}

} // namespace fairlead
