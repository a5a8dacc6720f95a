// The class templates of this room, so that protocols can name their socket types without their definitions.
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

namespace ip {

template <class Protocol, class Executor = any_io_executor> class basic_resolver;

} // namespace ip
} // namespace fairlead
