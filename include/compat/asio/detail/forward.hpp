// The names of Asio's forward declarations.
#pragma once

#include <fairlead/net/fwd.hpp>

#include <asio/detail/chrono.hpp>
#include <asio/fairlead.hpp>

namespace fairlead {

class execution_context;
class executor;
class io_context;
class any_completion_executor;
template <class... Signatures> class any_completion_handler;
template <class InlineExceptionHandling> class basic_inline_executor;
template <class T, class Executor> class executor_binder;
template <class Executor> class executor_work_guard;
template <class Executor> class strand;

namespace execution {
template <class... Properties> class any_executor;
template <class T> struct context_as_t;
template <class Property> struct prefer_only;
} // namespace execution

using readable_pipe = basic_readable_pipe<>;
using writable_pipe = basic_writable_pipe<>;
using signal_set = basic_signal_set<>;

namespace io {
struct steady_clock;
}
using steady_timer = basic_waitable_timer<io::steady_clock>;
using system_timer = basic_waitable_timer<std::chrono::system_clock>;
using high_resolution_timer = basic_waitable_timer<std::chrono::high_resolution_clock>;

class mutable_buffer;
class const_buffer;

class cancellation_signal;
class cancellation_slot;
class cancellation_state;
class coroutine;
template <class T> class recycling_allocator;

namespace ip {

class address;
class address_v4;
class address_v6;
template <class Address> class basic_address_iterator;
using address_v4_iterator = basic_address_iterator<address_v4>;
using address_v6_iterator = basic_address_iterator<address_v6>;
template <class Address> class basic_address_range;
using address_v4_range = basic_address_range<address_v4>;
using address_v6_range = basic_address_range<address_v6>;
class network_v4;
class network_v6;
template <class Protocol> class basic_endpoint;
template <class Protocol> class basic_resolver_entry;
template <class Protocol> class basic_resolver_iterator;
template <class Protocol> class basic_resolver_results;
class tcp;
class udp;
class icmp;

} // namespace ip
namespace local {

template <class Protocol> class basic_endpoint;
class stream_protocol;
class datagram_protocol;
class seq_packet_protocol;

} // namespace local
namespace generic {

template <class Protocol> class basic_endpoint;
class stream_protocol;
class datagram_protocol;
class raw_protocol;
class seq_packet_protocol;

} // namespace generic
namespace posix {

using descriptor = basic_descriptor<>;
using stream_descriptor = basic_stream_descriptor<>;

} // namespace posix
} // namespace fairlead
