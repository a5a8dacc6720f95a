// The requirements of algorithms on streams.
#pragma once

#include <fairlead/base/buffer.hpp>
#include <fairlead/operation/async_op.hpp>

namespace fairlead {
namespace detail {

struct stream_handler_archetype {
    void operator()(error_code, std::size_t) const {}
};

} // namespace detail

/// Starts nothing. Otherwise asking a stream of ours would instantiate an operation.
template <class Signature> class async_result<detail::stream_handler_archetype, Signature> {
public:
    template <class Initiation> static void initiate(Initiation&&, detail::stream_handler_archetype const&) {}
};

/// async_read_some(buffers, token) with void(error_code, size_t), and an executor.
template <class S>
concept async_read_stream = requires(S& s, mutable_buffer b, detail::stream_handler_archetype h) {
    s.get_executor();
    s.async_read_some(b, h);
};
/// async_write_some(buffers, token) with void(error_code, size_t), and an executor.
template <class S>
concept async_write_stream = requires(S& s, const_buffer b, detail::stream_handler_archetype h) {
    s.get_executor();
    s.async_write_some(b, h);
};
/// read_some(buffers, ec) in the calling thread.
template <class S>
concept sync_read_stream = requires(S& s, mutable_buffer b, error_code ec) {
    { s.read_some(b, ec) } -> std::convertible_to<std::size_t>;
};
/// write_some(buffers, ec) in the calling thread.
template <class S>
concept sync_write_stream = requires(S& s, const_buffer b, error_code ec) {
    { s.write_some(b, ec) } -> std::convertible_to<std::size_t>;
};

} // namespace fairlead
