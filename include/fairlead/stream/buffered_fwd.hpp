// The names of the buffered streams, and which of them buffer what.
#pragma once

namespace fairlead {

template <class Stream> class buffered_read_stream;
template <class Stream> class buffered_write_stream;
template <class Stream> class buffered_stream;

namespace detail {

template <class S> void takes_read_buffered(buffered_read_stream<S>*);
template <class S> void takes_read_buffered(buffered_stream<S>*);
template <class S> void takes_write_buffered(buffered_write_stream<S>*);
template <class S> void takes_write_buffered(buffered_stream<S>*);

} // namespace detail

/// Whether a stream, or what it derives from, keeps bytes that were read ahead.
template <class Stream> struct is_read_buffered {
    static constexpr bool value = requires(Stream* s) { detail::takes_read_buffered(s); };
};
/// Whether a stream, or what it derives from, keeps bytes that are still to be written.
template <class Stream> struct is_write_buffered {
    static constexpr bool value = requires(Stream* s) { detail::takes_write_buffered(s); };
};

} // namespace fairlead
