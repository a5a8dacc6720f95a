// A stream that reads ahead.
#pragma once

#include <fairlead/stream/buffered_fwd.hpp>
#include <fairlead/stream/stream_layer.hpp>

#include <cstddef>
#include <utility>

namespace fairlead {
namespace detail {

struct fill_end {
    impl::stream::byte_store* store;

    std::size_t finish(error_code const&, std::size_t n) const noexcept {
        store->commit(n);
        return n;
    }
};

/// Reads more into the store, as much as there is space for.
template <class Layer> struct fill_step : fill_end {
    Layer* stream;

    bool at_once(op_result& r) const noexcept {
        r.error = 0;
        r.n = 0;
        return store->is_full();
    }
    template <class Handler> void start(Handler handler) const {
        auto const space = store->prepare();
        stream->next_layer().async_read_some(space,
                                             impl::stream::buffered_op<fill_end, Handler>{*this, std::move(handler)});
    }
    std::size_t perform(error_code& ec) const
        requires sync_read_stream<typename Layer::next_layer_type>
    {
        return finish(ec, stream->next_layer().read_some(store->prepare(), ec));
    }
};

template <class Buffers> struct buffered_read_end {
    impl::stream::byte_store* store;
    Buffers into;

    std::size_t finish(error_code const&, std::size_t n) const noexcept {
        store->commit(n);
        return store->take(into);
    }
};

/// Takes bytes from the store, or if it is empty, what the stream below has.
template <class Layer, class Buffers> struct buffered_read_step : buffered_read_end<Buffers> {
    using end = buffered_read_end<Buffers>;
    using end::into, end::store;
    Layer* stream;

    bool at_once(op_result& r) const noexcept {
        if (store->empty() && buffer_size(into) != 0)
            return false;
        r.error = 0;
        r.n = store->take(into);
        return true;
    }
    template <class Handler> void start(Handler handler) {
        auto const space = store->prepare();
        stream->next_layer().async_read_some(
            space, impl::stream::buffered_op<end, Handler>{static_cast<end&&>(*this), std::move(handler)});
    }
    std::size_t perform(error_code& ec) const
        requires sync_read_stream<typename Layer::next_layer_type>
    {
        return this->finish(ec, stream->next_layer().read_some(store->prepare(), ec));
    }
};

} // namespace detail

/// Reads from `Stream` as much as its buffer holds, and serves small reads from there. Writes are the stream's own.
/// Threads    one reader plus one writer at a time, if the stream allows that; otherwise unsynchronised
/// Source     Asio, buffered_read_stream
template <class Stream> class buffered_read_stream : public impl::stream::stream_layer<Stream> {
    using base = impl::stream::stream_layer<Stream>;
    using base::next_layer_;
    template <class Buffers> using read_step = detail::buffered_read_step<buffered_read_stream, Buffers>;
    using fill_step = detail::fill_step<buffered_read_stream>;

public:
    using typename base::executor_type;
    static constexpr std::size_t default_buffer_size = 1024;

    /// Around a stream that is made of `a`.
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    explicit buffered_read_stream(Arg&& a) : buffered_read_stream(std::forward<Arg>(a), default_buffer_size) {}
    template <class Arg>
        requires std::constructible_from<Stream, Arg>
    buffered_read_stream(Arg&& a, std::size_t buffer_size)
        : base(std::in_place, std::forward<Arg>(a)),
          store_(buffer_size) {}

    /// Bytes from the buffer, or if it is empty, from what the stream yields next.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     those of the stream's async_read_some
    /// Cancel     as the stream's async_read_some; what was read ahead stays
    /// Immediate  when there are bytes in the buffer; the handler still never runs before this returns
    /// Lifetime   *this and the memory behind `into` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited, into one buffer; otherwise, with no bytes there, one counted block
    /// Source     Asio, buffered_read_stream::async_read_some
    template <mutable_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_read_some(Buffers const& into, Token&& token = {}) noexcept(
        impl::stream::nothrow_buffered<Token, read_step<Buffers>> && std::is_nothrow_copy_constructible_v<Buffers>) {
        return impl::stream::start_buffered(read_step<Buffers>{{&store_, into}, this}, std::forward<Token>(token));
    }
    /// Reads ahead, into the space that is left in the buffer.
    /// Completes  (error_code ec, std::size_t n); n counts what came in
    /// Errors     those of the stream's async_read_some
    /// Cancel     as the stream's async_read_some
    /// Immediate  with 0 bytes when the buffer is full; the handler still never runs before this returns
    /// Lifetime   *this outlives the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  on our sockets nothing awaited; otherwise one counted block
    /// Source     Asio, buffered_read_stream::async_fill
    template <class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_fill(Token&& token = {}) noexcept(impl::stream::nothrow_buffered<Token, fill_step>) {
        return impl::stream::start_buffered(fill_step{{&store_}, this}, std::forward<Token>(token));
    }

    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into) {
        return impl::stream::perform_buffered(read_step<Buffers>{{&store_, into}, this}, *this, "read_some", "from");
    }
    template <mutable_buffer_sequence Buffers> std::size_t read_some(Buffers const& into, error_code& ec) {
        return impl::stream::perform_buffered(read_step<Buffers>{{&store_, into}, this}, ec);
    }
    std::size_t fill() { return impl::stream::perform_buffered(fill_step{{&store_}, this}, *this, "fill", "from"); }
    std::size_t fill(error_code& ec) { return impl::stream::perform_buffered(fill_step{{&store_}, this}, ec); }

    /// As read_some; the bytes stay in the buffer.
    template <mutable_buffer_sequence Buffers> std::size_t peek(Buffers const& into) {
        error_code ec;
        auto const n = peek(into, ec);
        if (ec) [[unlikely]]
            impl::stream::throw_stream_error(ec, *this, "peek", "at");
        return n;
    }
    template <mutable_buffer_sequence Buffers> std::size_t peek(Buffers const& into, error_code& ec) {
        ec = {};
        if (store_.empty() && buffer_size(into) != 0)
            fill(ec);
        return buffer_copy(into, store_.data());
    }
    /// How many bytes can be read without waiting.
    std::size_t in_avail() const noexcept { return store_.size(); }
    std::size_t in_avail(error_code& ec) const noexcept {
        ec = {};
        return store_.size();
    }

    /// As the stream's own.
    /// Completes  (error_code ec, std::size_t n)
    /// Errors     those of the stream
    /// Cancel     as the stream's
    /// Lifetime   *this and the memory behind `from` outlive the completion
    /// Threads    one reader plus one writer; otherwise unsynchronised
    /// Allocates  as the stream's
    template <const_buffer_sequence Buffers, class Token = default_completion_token_t<executor_type>>
    decltype(auto) async_write_some(Buffers const& from, Token&& token = {}) noexcept(
        noexcept(next_layer_.async_write_some(from, std::forward<Token>(token)))) {
        return next_layer_.async_write_some(from, std::forward<Token>(token));
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from) {
        return next_layer_.write_some(from);
    }
    template <const_buffer_sequence Buffers> std::size_t write_some(Buffers const& from, error_code& ec) {
        return next_layer_.write_some(from, ec);
    }

private:
    impl::stream::byte_store store_;
};

} // namespace fairlead
