// Reading all of it.
#pragma once

#include <fairlead/base/dynamic_buffer.hpp>
#include <fairlead/stream/transfer.hpp>
#include <fairlead/stream/write.hpp> // impl::stream::dynamic_buffer_type

namespace fairlead {
namespace impl::stream {

template <class Condition, class Stream, class Buffers> inline constexpr bool nothrow_read_all = true;
template <class Stream, class Buffers>
    requires requires(Stream& s, Buffers const& b) { s.read_all_initiation(b); }
inline constexpr bool nothrow_read_all<transfer_all_t, Stream, Buffers> =
    base::is_single_buffer<Buffers> ||
    noexcept(std::declval<Stream&>().read_all_initiation(std::declval<Buffers const&>()));
template <class Condition, class Stream, class Buffers> auto
read_initiation(Stream& s, Buffers const& into, Condition c) noexcept(std::is_nothrow_move_constructible_v<Condition> &&
                                                                      nothrow_read_all<Condition, Stream, Buffers>) {
    if constexpr (std::is_same_v<Condition, transfer_all_t> && requires { s.read_all_initiation(into); })
        return s.read_all_initiation(into);
    else
        return transfer_initiation<read_direction, Stream, rest_of<mutable_buffer, Buffers>, Condition>{
            &s, make_rest<mutable_buffer>(into), std::move(c)};
}
template <class Stream, class Buffers, class Condition = transfer_all_t> using read_all_type =
    decltype(read_initiation(std::declval<Stream&>(), std::declval<Buffers const&>(), std::declval<Condition>()));

/// Where the next read into a dynamic buffer goes: both versions of the concept behind two functions.
template <class Buffer> mutable_buffer dynamic_prepare(Buffer& b, std::size_t n) {
    if constexpr (dynamic_buffer_v2<Buffer>) {
        auto const at = b.size();
        b.grow(n);
        return b.data(at, n);
    } else {
        return b.prepare(n);
    }
}
template <class Buffer> void dynamic_commit(Buffer& b, std::size_t prepared, std::size_t n) {
    if constexpr (dynamic_buffer_v2<Buffer>)
        b.shrink(prepared - n);
    else
        b.commit(n);
}
template <class Buffer> FAIRLEAD_ALWAYS_INLINE const_buffer dynamic_data(Buffer const& b) {
    if constexpr (dynamic_buffer_v1<Buffer>)
        return b.data();
    else
        return b.data(0, b.size());
}
/// How much to read next: what the buffer has space for without allocating, at least 512 bytes, at most a step.
template <class Buffer> std::size_t dynamic_step(Buffer const& b, std::size_t most) noexcept {
    std::size_t const size = b.size();
    std::size_t const left = b.max_size() - size;
    std::size_t step = b.capacity() > size ? b.capacity() - size : 0;
    if (step < 512)
        step = 512;
    if (step > most)
        step = most;
    return step < left ? step : left;
}

template <class Stream, class Buffer, class Condition, class Handler> struct read_dynamic_op
    : operation::composed_cancellation<Handler> {
    Stream* stream;
    Buffer data;
    std::size_t total;
    std::size_t prepared;
    [[no_unique_address]] Condition condition;
    Handler handler;

    template <class H> read_dynamic_op(Stream* s, Buffer b, Condition c, H&& h)
        : operation::composed_cancellation<Handler>(h, enable_partial_cancellation()),
          stream(s),
          data(std::move(b)),
          total(0),
          prepared(0),
          condition(std::move(c)),
          handler(std::forward<H>(h)) {}
    void operator()(error_code ec, std::size_t n) {
        dynamic_commit(data, prepared, n);
        total += n;
        bool const stuck = !ec && n == 0;
        std::size_t const most = stuck ? 0 : bytes_wanted(condition, ec, total);
        if (most == 0 || dynamic_step(data, most) == 0)
            complete(ec);
        else if (this->is_cancelled())
            complete(error::operation_aborted);
        else
            next(most);
    }
    void complete(error_code ec) {
        this->end_cancellation(handler);
        std::move(handler)(ec, total);
    }
    void next(std::size_t most) {
        prepared = dynamic_step(data, most);
        auto const b = dynamic_prepare(data, prepared);
        auto* const s = stream;
        this->begin_step([&] { s->async_read_some(b, std::move(*this)); });
    }
};
template <class Stream, class Buffer, class Condition> struct read_dynamic {
    Stream* stream;
    Buffer data;
    [[no_unique_address]] Condition condition;

    auto get_executor() const noexcept { return stream->get_executor(); }
    template <class Handler> void operator()(Handler&& handler) {
        error_code const ec;
        std::size_t const most = bytes_wanted(condition, ec, std::size_t{0});
        if (most == 0 || dynamic_step(data, most) == 0) {
            operation::complete_immediately(stream->get_executor(), std::forward<Handler>(handler),
                                            std::tuple<error_code, std::size_t>(ec, 0));
            return;
        }
        read_dynamic_op<Stream, Buffer, Condition, std::decay_t<Handler>> o{
            stream, std::move(data), std::move(condition), std::forward<Handler>(handler)};
        o.next(most);
    }
    void block(std::tuple<error_code, std::size_t>& v)
        requires sync_read_stream<Stream>
    {
        auto& [ec, total] = v;
        ec = {};
        total = 0;
        for (;;) {
            std::size_t const most = bytes_wanted(condition, ec, total);
            std::size_t const step = most == 0 ? 0 : dynamic_step(data, most);
            if (step == 0)
                return;
            std::size_t const n = stream->read_some(dynamic_prepare(data, step), ec);
            dynamic_commit(data, step, n);
            total += n;
            if (!ec && n == 0)
                return;
        }
    }
};

} // namespace impl::stream

template <template <class, class> class A, class S, class B, class C, class H, class D>
struct associator<A, impl::stream::read_dynamic_op<S, B, C, H>, D>
    : impl::operation::pass_on<A, impl::stream::read_dynamic_op<S, B, C, H>, H, D> {};

/// Fills `into`, with as many reads as it takes.
/// Completes  (error_code ec, std::size_t n); n counts what was read also when ec is set
/// Errors     error::eof  the stream ended before the buffers were full
///            otherwise those of the stream's async_read_some
/// Cancel     terminal, partial; n tells what was read
/// Immediate  may be ready without waiting; the handler still never runs before this returns
/// Lifetime   the stream and the memory behind `into` outlive the completion
/// Threads    no other read on the stream meanwhile
/// Allocates  awaited on our sockets nothing with one buffer, a counted block with more; on others the steps' records
/// Source     Networking TS [buffer.async.read]
template <async_read_stream Stream, mutable_buffer_sequence Buffers,
          class Token = impl::operation::default_token_of<Stream>>
    requires(!impl::stream::completion_condition<std::decay_t<Token>>)
decltype(auto) async_read(Stream& stream, Buffers const& into, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, impl::stream::read_all_type<Stream, Buffers>> &&
    impl::stream::nothrow_read_all<impl::stream::transfer_all_t, Stream, Buffers>) {
    return impl::stream::start_settled<void(error_code, std::size_t)>(
        std::forward<Token>(token), impl::stream::read_initiation(stream, into, impl::stream::transfer_all_t()));
}
/// The same operation, until `condition(ec, bytes_so_far)` says 0, or true.
template <async_read_stream Stream, mutable_buffer_sequence Buffers, impl::stream::completion_condition Condition,
          class Token = impl::operation::default_token_of<Stream>>
decltype(auto) async_read(Stream& stream, Buffers const& into, Condition condition, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, impl::stream::read_all_type<Stream, Buffers, Condition>>) {
    return impl::stream::start_settled<void(error_code, std::size_t)>(
        std::forward<Token>(token), impl::stream::read_initiation(stream, into, std::move(condition)));
}
/// Appends to a dynamic buffer until it has max_size() bytes (which is no error), or an error.
/// Completes  (error_code ec, std::size_t n); n counts what was appended also when ec is set
/// Errors     those of the stream's async_read_some; error::eof is how a stream ends
/// Cancel     terminal, partial; n tells what was appended
/// Immediate  when the buffer is full already; the handler still never runs before this returns
/// Lifetime   the stream and the bytes behind the buffer outlive the completion
/// Threads    no other read on the stream meanwhile
/// Allocates  a counted block, and what the buffer needs to grow
/// Source     Networking TS [buffer.async.read]
template <async_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          class Token = impl::operation::default_token_of<Stream>>
    requires(!impl::stream::completion_condition<std::decay_t<Token>>)
decltype(auto) async_read(Stream& stream, Buffer into, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>,
                                   impl::stream::read_dynamic<Stream, Buffer, impl::stream::transfer_all_t>>) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token),
        impl::stream::read_dynamic<Stream, Buffer, impl::stream::transfer_all_t>{&stream, std::move(into), {}});
}
template <async_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::completion_condition Condition, class Token = impl::operation::default_token_of<Stream>>
decltype(auto) async_read(Stream& stream, Buffer into, Condition condition, Token&& token = {}) noexcept(
    impl::operation::nothrow_token<std::decay_t<Token>, impl::stream::read_dynamic<Stream, Buffer, Condition>>) {
    return completion_token_transform<void(error_code, std::size_t)>(
        std::forward<Token>(token),
        impl::stream::read_dynamic<Stream, Buffer, Condition>{&stream, std::move(into), std::move(condition)});
}
/// Into nothing else.
template <class Stream, class Into, class... More>
    requires(!mutable_buffer_sequence<std::remove_cvref_t<Into>> &&
             !impl::stream::dynamic_buffer_type<std::remove_cvref_t<Into>>)
FAIRLEAD_REFUSED(FAIRLEAD_NO_MUTABLE_BUFFERS)
impl::operation::refused_transfer async_read(Stream&&, Into&&, More&&...) {
    return {};
}

/// As async_read, in the calling thread. Returns how many bytes were read, also when `ec` is set.
/// Throws     system_error, from the overloads without `ec`
template <sync_read_stream Stream, mutable_buffer_sequence Buffers, impl::stream::completion_condition Condition>
std::size_t read(Stream& stream, Buffers const& into, Condition condition, error_code& ec) {
    std::tuple<error_code, std::size_t> v;
    impl::stream::transfer_initiation<impl::stream::read_direction, Stream,
                                      impl::stream::rest_of<mutable_buffer, Buffers>, Condition>{
        &stream, impl::stream::make_rest<mutable_buffer>(into), std::move(condition)}
        .block(v);
    ec = std::get<0>(v);
    return std::get<1>(v);
}
template <sync_read_stream Stream, mutable_buffer_sequence Buffers>
std::size_t read(Stream& stream, Buffers const& into, error_code& ec) {
    return read(stream, into, transfer_all(), ec);
}
template <sync_read_stream Stream, mutable_buffer_sequence Buffers, impl::stream::completion_condition Condition>
std::size_t read(Stream& stream, Buffers const& into, Condition condition) {
    error_code ec;
    auto const n = read(stream, into, std::move(condition), ec);
    if (ec) [[unlikely]]
        impl::stream::throw_stream_error(ec, stream, "read", "from");
    return n;
}
template <sync_read_stream Stream, mutable_buffer_sequence Buffers>
std::size_t read(Stream& stream, Buffers const& into) {
    return read(stream, into, transfer_all());
}
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::completion_condition Condition>
std::size_t read(Stream& stream, Buffer into, Condition condition, error_code& ec) {
    std::tuple<error_code, std::size_t> v;
    impl::stream::read_dynamic<Stream, Buffer, Condition>{&stream, std::move(into), std::move(condition)}.block(v);
    ec = std::get<0>(v);
    return std::get<1>(v);
}
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer>
std::size_t read(Stream& stream, Buffer into, error_code& ec) {
    return read(stream, std::move(into), transfer_all(), ec);
}
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer,
          impl::stream::completion_condition Condition>
std::size_t read(Stream& stream, Buffer into, Condition condition) {
    error_code ec;
    auto const n = read(stream, std::move(into), std::move(condition), ec);
    if (ec) [[unlikely]]
        impl::stream::throw_stream_error(ec, stream, "read", "from");
    return n;
}
template <sync_read_stream Stream, impl::stream::dynamic_buffer_type Buffer>
std::size_t read(Stream& stream, Buffer into) {
    return read(stream, std::move(into), transfer_all());
}

} // namespace fairlead
