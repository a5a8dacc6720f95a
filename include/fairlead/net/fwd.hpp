// The class templates of this room with their default arguments, so that protocols can name their socket types, and
// programs their timers, without the definitions.
#pragma once

namespace fairlead {

class any_io_executor;
template <class Protocol, class Executor = any_io_executor> class basic_socket;
template <class Protocol, class Executor = any_io_executor> class basic_stream_socket;
template <class Protocol, class Executor = any_io_executor> class basic_datagram_socket;
template <class Protocol, class Executor = any_io_executor> class basic_raw_socket;
template <class Protocol, class Executor = any_io_executor> class basic_seq_packet_socket;
template <class Protocol, class Executor = any_io_executor> class basic_socket_acceptor;
template <class Protocol> class basic_socket_streambuf;
template <class Protocol> class basic_socket_iostream;
template <class Executor = any_io_executor> class basic_readable_pipe;
template <class Executor = any_io_executor> class basic_writable_pipe;
template <class Executor = any_io_executor> class basic_signal_set;

template <class Clock> struct wait_traits;
template <class Clock, class WaitTraits = wait_traits<Clock>, class Executor = any_io_executor>
class basic_waitable_timer;

namespace ip {

template <class Protocol, class Executor = any_io_executor> class basic_resolver;

} // namespace ip
namespace posix {

template <class Executor = any_io_executor> class basic_descriptor;
template <class Executor = any_io_executor> class basic_stream_descriptor;

} // namespace posix
} // namespace fairlead
