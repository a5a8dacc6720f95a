// A stream that reads ahead and collects what is to be written.
#pragma once

#include <fairlead/stream/buffered_read_stream.hpp>
#include <fairlead/stream/buffered_write_stream.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace fairlead {

/// A buffered_read_stream and a buffered_write_stream around the same `Stream`. Bytes that have not been flushed are
/// lost when it is closed or destroyed.
/// Threads    one reader plus one writer at a time, if the stream allows that; otherwise unsynchronised
/// Source     Asio, buffered_stream
template <class Stream> class buffered_stream : public impl::stream::lowest_layer_of<std::remove_reference_t<Stream>> {
    using reader = buffered_read_stream<Stream>;
    using writer = buffered_write_stream<reader&>;

public:
    using next_layer_type = typename reader::next_layer_type;
    using executor_type = typename reader::executor_type;

    static constexpr std::size_t default_read_buffer_size = reader::default_buffer_size;
    static constexpr std::size_t default_write_buffer_size = writer::default_buffer_size;

    /// Around a stream that is made of `a`.
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    explicit buffered_stream(Arg&& a)
        : buffered_stream(std::forward<Arg>(a), default_read_buffer_size, default_write_buffer_size) {}
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    buffered_stream(Arg&& a, std::size_t read_buffer_size, std::size_t write_buffer_size)
        : reader_(std::forward<Arg>(a), read_buffer_size),
          writer_(reader_, write_buffer_size) {}
    buffered_stream(buffered_stream const&) = delete;
    buffered_stream& operator=(buffered_stream const&) = delete;
    ~buffered_stream() = default;

    next_layer_type& next_layer() noexcept { return reader_.next_layer(); }
    next_layer_type const& next_layer() const noexcept { return reader_.next_layer(); }
    auto& lowest_layer() noexcept
        requires requires(reader& r) { r.lowest_layer(); }
    {
        return reader_.lowest_layer();
    }
    auto const& lowest_layer() const noexcept
        requires requires(reader const& r) { r.lowest_layer(); }
    {
        return reader_.lowest_layer();
    }
    executor_type get_executor() const noexcept { return reader_.get_executor(); }

    void close() { reader_.close(); }
    error_code close(error_code& ec) { return reader_.close(ec); }

    /// Bytes that were read ahead, or if there are none, what the stream yields next.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     those of the stream's async_read_some
    /// Cancel     as the stream's async_read_some; what was read ahead stays
    /// Immediate  when there are bytes in the buffer; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited, into one buffer; otherwise, with no bytes there, one counted block
    /// Source     Asio, buffered_stream::async_read_some
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_read_some(Buffers const& into, Token&& token = {}) noexcept(noexcept(
        std::declval<decltype(buffered_stream::reader_)&>().async_read_some(into, std::forward<Token>(token)))) {
        return reader_.async_read_some(into, std::forward<Token>(token));
    }
    /// Reads ahead, into the space that is left in the buffer.
    /// Completes  (error_code ec, std::size_t n); n counts what came in
    /// Errors     those of the stream's async_read_some
    /// Cancel     as the stream's async_read_some
    /// Immediate  with 0 bytes when the buffer is full; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited; otherwise one counted block
    /// Source     Asio, buffered_stream::async_fill
    template <class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_fill(Token&& token = {}) noexcept(
        noexcept(std::declval<decltype(buffered_stream::reader_)&>().async_fill(std::forward<Token>(token)))) {
        return reader_.async_fill(std::forward<Token>(token));
    }
    /// Puts bytes of `from` into the buffer. When it is full, what is in there is written first.
    /// Completes  (error_code ec, std::size_t n); none of `from` was taken when ec is set
    /// Errors     those of the stream's async_write_some; what was not written stays in the buffer
    /// Cancel     terminal, partial, while the buffer is being written
    /// Immediate  when there is space in the buffer; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited, of one buffer; otherwise, with no space, as async_write of a handler
    /// Source     Asio, buffered_stream::async_write_some
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_write_some(Buffers const& from, Token&& token = {}) noexcept(noexcept(
        std::declval<decltype(buffered_stream::writer_)&>().async_write_some(from, std::forward<Token>(token)))) {
        return writer_.async_write_some(from, std::forward<Token>(token));
    }
    /// Writes all that is in the buffer.
    /// Completes  (error_code ec, std::size_t n); n counts what was written also when ec is set
    /// Errors     those of the stream's async_write_some; what was not written stays in the buffer
    /// Cancel     terminal, partial; n tells what was written
    /// Immediate  with 0 bytes when the buffer is empty; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited; otherwise as async_write of a handler
    /// Source     Asio, buffered_stream::async_flush
    template <class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_flush(Token&& token = {}) noexcept(
        noexcept(std::declval<decltype(buffered_stream::writer_)&>().async_flush(std::forward<Token>(token)))) {
        return writer_.async_flush(std::forward<Token>(token));
    }

    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        return reader_.read_some(into);
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return reader_.read_some(into, ec);
    }
    std::size_t fill() { return reader_.fill(); }
    std::size_t fill(error_code& ec) { return reader_.fill(ec); }
    template <mutable_buffer_sequence Buffers> std::size_t peek(Buffers const& into) { return reader_.peek(into); }
    template <mutable_buffer_sequence Buffers> std::size_t peek(Buffers const& into, error_code& ec) {
        return reader_.peek(into, ec);
    }
    std::size_t in_avail() const noexcept { return reader_.in_avail(); }
    std::size_t in_avail(error_code& ec) const noexcept { return reader_.in_avail(ec); }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        return writer_.write_some(from);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return writer_.write_some(from, ec);
    }
    std::size_t flush() { return writer_.flush(); }
    std::size_t flush(error_code& ec) { return writer_.flush(ec); }

private:
    reader reader_;
    writer writer_;
};

} // namespace fairlead
