// Writing all of it.
#pragma once

#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/stream/transfer.hpp>

namespace fairlead {
namespace impl::stream {

template <class Condition, class Stream, class Buffers> inline constexpr bool nothrow_write_all = true;
template <class Stream, class Buffers>
    requires requires(Stream& s, Buffers const& b) { s.write_all_initiation(b); }
inline constexpr bool nothrow_write_all<transfer_all_t, Stream, Buffers> =
    base::is_single_buffer<Buffers> ||
    noexcept(std::declval<Stream&>().write_all_initiation(std::declval<Buffers const&>()));
template <class Condition, class Stream, class Buffers>
auto write_initiation(Stream& s, Buffers const& from,
                      Condition c) noexcept(std::is_nothrow_move_constructible_v<Condition> &&
                                            nothrow_write_all<Condition, Stream, Buffers>) {
    // A stream may carry out the whole write as one operation of its own.
    if constexpr (std::is_same_v<Condition, transfer_all_t> && requires { s.write_all_initiation(from); })
        return s.write_all_initiation(from);
    else
        return transfer_initiation<write_direction, Stream, rest_of<const_buffer, Buffers>, Condition>{
            &s, make_rest<const_buffer>(from), std::move(c)};
}
template <class Stream, class Buffers, class Condition = transfer_all_t> using write_all_type =
    decltype(write_initiation(std::declval<Stream&>(), std::declval<Buffers const&>(), std::declval<Condition>()));

} // namespace impl::stream

/// Writes all of `from`, with as many writes as it takes.
/// Completes  (error_code ec, std::size_t n); n counts what was written also when ec is set
/// Errors     those of the stream's async_write_some
/// Cancel     terminal, partial; n tells what was written
/// Immediate  may be ready without waiting; the handler still never runs before this returns
/// Lifetime   the stream and the memory behind `from` outlive the completion
/// Threads    no other write on the stream meanwhile
/// Allocates  awaited on our sockets nothing with one buffer, a counted block with more; on others the steps' records
/// Source     Networking TS [buffer.async.write]
template <async_write_stream Stream, const_buffer_sequence Buffers,
          class Token = impl::operation::default_token_of<Stream>>
    requires(!impl::stream::completion_condition<std::decay_t<Token>>)
decltype(auto) async_write(Stream& stream, Buffers const& from, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, impl::stream::write_all_type<Stream, Buffers>> &&
    impl::stream::nothrow_write_all<impl::stream::transfer_all_t, Stream, Buffers>) {
    return impl::stream::start_settled<void(error_code, std::size_t)>(
        std::forward<Token>(token), impl::stream::write_initiation(stream, from, impl::stream::transfer_all_t()));
}
/// The same operation, until `condition(ec, bytes_so_far)` says 0, or true.
template <async_write_stream Stream, const_buffer_sequence Buffers, impl::stream::completion_condition Condition,
          class Token = impl::operation::default_token_of<Stream>>
decltype(auto) async_write(Stream& stream, Buffers const& from, Condition condition, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, impl::stream::write_all_type<Stream, Buffers, Condition>>) {
    return impl::stream::start_settled<void(error_code, std::size_t)>(
        std::forward<Token>(token), impl::stream::write_initiation(stream, from, std::move(condition)));
}

/// As async_write, in the calling thread. Returns how many bytes were written, also when `ec` is set.
/// Throws     system_error, from the overloads without `ec`
template <sync_write_stream Stream, const_buffer_sequence Buffers, impl::stream::completion_condition Condition>
std::size_t write(Stream& stream, Buffers const& from, Condition condition, error_code& ec) {
    std::tuple<error_code, std::size_t> v;
    impl::stream::transfer_initiation<impl::stream::write_direction, Stream,
                                      impl::stream::rest_of<const_buffer, Buffers>, Condition>{
        &stream, impl::stream::make_rest<const_buffer>(from), std::move(condition)}
        .block(v);
    ec = std::get<0>(v);
    return std::get<1>(v);
}
template <sync_write_stream Stream, const_buffer_sequence Buffers>
std::size_t write(Stream& stream, Buffers const& from, error_code& ec) {
    return write(stream, from, transfer_all(), ec);
}
template <sync_write_stream Stream, const_buffer_sequence Buffers, impl::stream::completion_condition Condition>
std::size_t write(Stream& stream, Buffers const& from, Condition condition) {
    error_code ec;
    auto const n = write(stream, from, std::move(condition), ec);
    if (ec) [[unlikely]]
        impl::stream::throw_stream_error(ec, stream, "write", "to");
    return n;
}
template <sync_write_stream Stream, const_buffer_sequence Buffers>
std::size_t write(Stream& stream, Buffers const& from) {
    return write(stream, from, transfer_all());
}

namespace impl::stream {

/// Writes a dynamic buffer and consumes what was written.
template <class Stream, class Buffer, class Handler> struct write_dynamic_op {
    Buffer data;
    Handler handler;
    void operator()(error_code ec, std::size_t n) {
        data.consume(n);
        std::move(handler)(ec, n);
    }
};
template <class Stream, class Buffer, class Condition> struct write_dynamic {
    Stream* stream;
    Buffer data;
    [[no_unique_address]] Condition condition;
    auto get_executor() const noexcept { return stream->get_executor(); }
    const_buffer all() {
        if constexpr (dynamic_buffer_v2<Buffer>)
            return std::as_const(data).data(0, data.size());
        else
            return data.data();
    }
    template <class Handler> void operator()(Handler&& handler) {
        auto const b = all();
        async_write(
            *stream, b, std::move(condition),
            write_dynamic_op<Stream, Buffer, std::decay_t<Handler>>{std::move(data), std::forward<Handler>(handler)});
    }
    void block(std::tuple<error_code, std::size_t>& v)
        requires sync_write_stream<Stream>
    {
        std::get<1>(v) = fairlead::write(*stream, all(), std::move(condition), std::get<0>(v));
        data.consume(std::get<1>(v));
    }
};

template <class B>
concept dynamic_buffer_type = dynamic_buffer_v1<B> || dynamic_buffer_v2<B>;
/// An argument to be written as buffer(x).
template <class T>
concept needs_buffer =
    !const_buffer_sequence<T> && !dynamic_buffer_type<std::decay_t<T>> && requires(T const& x) { buffer(x); };

} // namespace impl::stream

template <template <class, class> class A, class S, class B, class H, class D>
struct associator<A, impl::stream::write_dynamic_op<S, B, H>, D>
    : impl::operation::pass_on<A, impl::stream::write_dynamic_op<S, B, H>, H, D> {};

/// As async_write of its bytes: writes all of a dynamic buffer, and consumes what was written.
/// Lifetime   the stream and the bytes behind the buffer outlive the completion
/// Allocates  a counted block
template <async_write_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          class Token = impl::operation::default_token_of<Stream>>
    requires(!impl::stream::completion_condition<std::decay_t<Token>>)
decltype(auto) async_write(Stream& stream, Buffer from, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>,
                                   impl::stream::write_dynamic<Stream, Buffer, impl::stream::transfer_all_t>>) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token),
        impl::stream::write_dynamic<Stream, Buffer, impl::stream::transfer_all_t>{&stream, std::move(from), {}});
}
/// The same operation, until `condition(ec, bytes_so_far)` says 0, or true.
template <async_write_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::completion_condition Condition, class Token = impl::operation::default_token_of<Stream>>
decltype(auto) async_write(Stream& stream, Buffer from, Condition condition, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, impl::stream::write_dynamic<Stream, Buffer, Condition>>) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token),
        impl::stream::write_dynamic<Stream, Buffer, Condition>{&stream, std::move(from), std::move(condition)});
}
/// Of text and containers their buffer is written.
template <async_write_stream Stream, impl::stream::needs_buffer From, class... More>
FAIRLEAD_REFUSED(FAIRLEAD_NO_BUFFERS)
impl::operation::refused_transfer async_write(Stream&, From const&, More&&...) {
    return {};
}
template <sync_write_stream Stream, impl::stream::needs_buffer From, class... More>
FAIRLEAD_REFUSED(FAIRLEAD_NO_BUFFERS)
std::size_t write(Stream&, From const&, More&&...) {
    return {};
}

template <sync_write_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::completion_condition Condition>
std::size_t write(Stream& stream, Buffer from, Condition condition, error_code& ec) {
    std::tuple<error_code, std::size_t> v;
    impl::stream::write_dynamic<Stream, Buffer, Condition>{&stream, std::move(from), std::move(condition)}.block(v);
    ec = std::get<0>(v);
    return std::get<1>(v);
}
template <sync_write_stream Stream, impl::stream::dynamic_buffer_type Buffer>
std::size_t write(Stream& stream, Buffer from, error_code& ec) {
    return write(stream, std::move(from), transfer_all(), ec);
}
template <sync_write_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::completion_condition Condition>
std::size_t write(Stream& stream, Buffer from, Condition condition) {
    error_code ec;
    auto const n = write(stream, std::move(from), std::move(condition), ec);
    if (ec) [[unlikely]]
        impl::stream::throw_stream_error(ec, stream, "write", "to");
    return n;
}
template <sync_write_stream Stream, impl::stream::dynamic_buffer_type Buffer>
std::size_t write(Stream& stream, Buffer from) {
    return write(stream, std::move(from), transfer_all());
}

} // namespace fairlead
