// A stream that collects what is to be written.
#pragma once

#include <fairlead/stream/buffered_fwd.hpp>
#include <fairlead/stream/stream_layer.hpp>
#include <fairlead/stream/write.hpp>

#include <cstddef>
#include <utility>

namespace fairlead {
namespace detail {

struct flush_end {
    impl::stream::byte_store* store;

    std::size_t finish(error_code const&, std::size_t n) const noexcept {
        store->consume(n);
        return n;
    }
};

/// Writes all that is in the store.
template <class Layer> struct flush_step : flush_end {
    Layer* stream;

    bool at_once(op_result& r) const noexcept {
        r.error = 0;
        r.n = 0;
        return store->empty();
    }
    template <class Handler> void start(Handler handler) const {
        async_write(stream->next_layer(), store->data(),
                    impl::stream::buffered_op<flush_end, Handler>{*this, std::move(handler)});
    }
    std::size_t perform(error_code& ec) const
        requires sync_write_stream<typename Layer::next_layer_type>
    {
        return finish(ec, write(stream->next_layer(), store->data(), ec));
    }
};

template <class Buffers> struct buffered_write_end {
    impl::stream::byte_store* store;
    Buffers from;

    std::size_t finish(error_code const& ec, std::size_t n) const noexcept {
        store->consume(n);
        return ec ? 0 : store->put(from);
    }
};

/// Puts bytes into the store, which is written first when it is full.
template <class Layer, class Buffers> struct buffered_write_step : buffered_write_end<Buffers> {
    using end = buffered_write_end<Buffers>;
    using end::from, end::store;
    Layer* stream;

    bool at_once(op_result& r) const noexcept {
        if (store->is_full() && buffer_size(from) != 0)
            return false;
        r.error = 0;
        r.n = store->put(from);
        return true;
    }
    template <class Handler> void start(Handler handler) {
        auto const full = store->data();
        async_write(stream->next_layer(), full,
                    impl::stream::buffered_op<end, Handler>{static_cast<end&&>(*this), std::move(handler)});
    }
    std::size_t perform(error_code& ec) const
        requires sync_write_stream<typename Layer::next_layer_type>
    {
        return this->finish(ec, write(stream->next_layer(), store->data(), ec));
    }
};

} // namespace detail

/// Collects small writes in a buffer, which is written to `Stream` when it is full and when it is flushed. Reads are
/// the stream's own. Bytes that have not been flushed are lost when it is closed or destroyed.
/// Threads    one reader plus one writer at a time, if the stream allows that; otherwise unsynchronised
/// Source     Asio, buffered_write_stream
template <class Stream> class buffered_write_stream : public impl::stream::stream_layer<Stream> {
    using base = impl::stream::stream_layer<Stream>;
    using base::next_layer_;
    template <class Buffers> using write_step = detail::buffered_write_step<buffered_write_stream, Buffers>;
    using flush_step = detail::flush_step<buffered_write_stream>;

public:
    using typename base::executor_type;
    static constexpr std::size_t default_buffer_size = 1024;

    /// Around a stream that is made of `a`.
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    explicit buffered_write_stream(Arg&& a) : buffered_write_stream(std::forward<Arg>(a), default_buffer_size) {}
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    buffered_write_stream(Arg&& a, std::size_t buffer_size)
        : base(std::in_place, std::forward<Arg>(a)),
          store_(buffer_size) {}

    /// Puts bytes of `from` into the buffer. When it is full, what is in there is written first.
    /// Completes  (error_code ec, std::size_t n); none of `from` was taken when ec is set
    /// Errors     those of the stream's async_write_some; what was not written stays in the buffer
    /// Cancel     terminal, partial, while the buffer is being written
    /// Immediate  when there is space in the buffer; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited, of one buffer; otherwise, with no space, as async_write of a handler
    /// Source     Asio, buffered_write_stream::async_write_some
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_write_some(Buffers const& from, Token&& token = {}) noexcept(
        impl::stream::nothrow_buffered<Token, write_step<Buffers>> && std::is_nothrow_copy_constructible_v<Buffers>) {
        return impl::stream::start_buffered(write_step<Buffers>{{&store_, from}, this}, std::forward<Token>(token));
    }
    /// Writes all that is in the buffer.
    /// Completes  (error_code ec, std::size_t n); n counts what was written also when ec is set
    /// Errors     those of the stream's async_write_some; what was not written stays in the buffer
    /// Cancel     terminal, partial; n tells what was written
    /// Immediate  with 0 bytes when the buffer is empty; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited; otherwise as async_write of a handler
    /// Source     Asio, buffered_write_stream::async_flush
    template <class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_flush(Token&& token = {}) noexcept(impl::stream::nothrow_buffered<Token, flush_step>) {
        return impl::stream::start_buffered(flush_step{{&store_}, this}, std::forward<Token>(token));
    }

    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        return impl::stream::perform_buffered(write_step<Buffers>{{&store_, from}, this}, *this, "write_some", "to");
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return impl::stream::perform_buffered(write_step<Buffers>{{&store_, from}, this}, ec);
    }
    std::size_t flush() { return impl::stream::perform_buffered(flush_step{{&store_}, this}, *this, "flush", "to"); }
    std::size_t flush(error_code& ec) { return impl::stream::perform_buffered(flush_step{{&store_}, this}, ec); }

    /// As the stream's own.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     those of the stream
    /// Cancel     as the stream's
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  as the stream's
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_read_some(Buffers const& into, Token&& token = {}) noexcept(
        noexcept(next_layer_.async_read_some(into, std::forward<Token>(token)))) {
        return next_layer_.async_read_some(into, std::forward<Token>(token));
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        return next_layer_.read_some(into);
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return next_layer_.read_some(into, ec);
    }
    template <mutable_buffer_sequence Buffers> std::size_t peek(Buffers const& into) { return next_layer_.peek(into); }
    template <mutable_buffer_sequence Buffers> std::size_t peek(Buffers const& into, error_code& ec) {
        return next_layer_.peek(into, ec);
    }
    std::size_t in_avail() { return next_layer_.in_avail(); }
    std::size_t in_avail(error_code& ec) { return next_layer_.in_avail(ec); }

private:
    impl::stream::byte_store store_;
};

} // namespace fairlead
