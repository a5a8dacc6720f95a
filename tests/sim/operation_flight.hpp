// One operation of core_operations_test.cpp: the place that its expression is evaluated in, and what becomes of it.
#pragma once

#include <papers/every_operation.hpp>
#include <sim/operation_objects.hpp>
#include <sim/operation_packets.hpp>
#include <sim/operation_pipes.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead::test::script {

namespace ops = fairlead::test::every_operation;

template <class Op, class... Of> inline constexpr bool is_one_of = (std::is_same_v<Op, Of> || ...);

/// The object of an operation, and what it takes from there or brings.
enum class kind : std::uint8_t {
    none, ///< not known
    reads,
    reads_text, ///< into a dynamic buffer
    fills,      ///< the buffer of a stream
    waits_to_read,
    writes,
    flushes,
    accepts,
    connects,
    connects_to_path,
    connects_range,
    receives,
    sends,
    sends_to_path,
    connects_datagrams,
    connects_datagrams_to_path,
    receives_packets,
    sends_packets,
    reads_pipe,
    waits_for_pipe,
    writes_pipe,
    waits,
    waits_for_a_signal,
    looks_up,
    calls, ///< hears no requests
    spawns,
};
template <class Op> constexpr kind kind_of() {
    if constexpr (is_one_of<Op, ops::read_some, ops::receive, ops::receive_flags, ops::read_all, ops::read_if,
                            ops::buffered_read_some, ops::both_read_some>)
        return kind::reads;
    else if constexpr (is_one_of<Op, ops::read_dynamic, ops::read_dynamic_if, ops::read_until_text,
                                 ops::read_until_char>)
        return kind::reads_text;
    else if constexpr (is_one_of<Op, ops::buffered_fill, ops::both_fill>)
        return kind::fills;
    else if constexpr (is_one_of<Op, ops::socket_wait>)
        return kind::waits_to_read;
    else if constexpr (is_one_of<Op, ops::write_some, ops::send, ops::send_flags, ops::write_all, ops::write_if,
                                 ops::write_dynamic, ops::buffered_write_some, ops::both_write_some>)
        return kind::writes;
    else if constexpr (is_one_of<Op, ops::buffered_flush, ops::both_flush>)
        return kind::flushes;
    else if constexpr (is_one_of<Op, ops::accept, ops::accept_on, ops::accept_new_from, ops::accept_on_from,
                                 ops::accept_into, ops::accept_from>)
        return kind::accepts;
    else if constexpr (is_one_of<Op, ops::connect>)
        return kind::connects;
    else if constexpr (is_one_of<Op, ops::local_connect>)
        return kind::connects_to_path;
    else if constexpr (is_one_of<Op, ops::range_connect, ops::range_connect_if, ops::iterator_connect,
                                 ops::iterator_connect_if>)
        return kind::connects_range;
    else if constexpr (is_one_of<Op, ops::datagram_receive_from, ops::datagram_receive_from_flags,
                                 ops::datagram_receive, ops::datagram_receive_flags>)
        return kind::receives;
    else if constexpr (is_one_of<Op, ops::datagram_send_to, ops::datagram_send_to_flags, ops::datagram_send,
                                 ops::datagram_send_flags>)
        return kind::sends;
    else if constexpr (is_one_of<Op, ops::datagram_send_to_path>)
        return kind::sends_to_path;
    else if constexpr (is_one_of<Op, ops::datagram_connect>)
        return kind::connects_datagrams;
    else if constexpr (is_one_of<Op, ops::datagram_connect_path>)
        return kind::connects_datagrams_to_path;
    else if constexpr (is_one_of<Op, ops::timer_wait>)
        return kind::waits;
    else if constexpr (is_one_of<Op, ops::packet_receive, ops::packet_receive_flags>)
        return kind::receives_packets;
    else if constexpr (is_one_of<Op, ops::packet_send>)
        return kind::sends_packets;
    else if constexpr (is_one_of<Op, ops::pipe_read, ops::descriptor_read>)
        return kind::reads_pipe;
    else if constexpr (is_one_of<Op, ops::descriptor_wait>)
        return kind::waits_for_pipe;
    else if constexpr (is_one_of<Op, ops::pipe_write, ops::descriptor_write>)
        return kind::writes_pipe;
    else if constexpr (is_one_of<Op, ops::signal_wait>)
        return kind::waits_for_a_signal;
    else if constexpr (is_one_of<Op, ops::resolve, ops::resolve_flags, ops::resolve_version, ops::resolve_version_flags,
                                 ops::resolve_endpoint>)
        return kind::looks_up;
    else if constexpr (is_one_of<Op, ops::post_op, ops::defer_op, ops::dispatch_op, ops::immediate_op>)
        return kind::calls;
    else if constexpr (is_one_of<Op, ops::spawn_op, ops::spawn_function>)
        return kind::spawns;
    else
        return kind::none;
}
template <class Operations> inline constexpr bool each_is_run = false;
template <class... Op> inline constexpr bool each_is_run<std::tuple<Op...>> = ((kind_of<Op>() != kind::none) && ...);
static_assert(each_is_run<ops::operations>, "an operation that no script runs");

/// Which buffer of the stream an operation has for itself.
template <class Op> constexpr bool stream_pair::* own_buffer() {
    if constexpr (is_one_of<Op, ops::buffered_read_some, ops::buffered_fill>)
        return &stream_pair::is_reading_ahead;
    else if constexpr (is_one_of<Op, ops::both_read_some, ops::both_fill>)
        return &stream_pair::is_reading_both;
    else if constexpr (is_one_of<Op, ops::buffered_write_some, ops::buffered_flush>)
        return &stream_pair::is_collecting;
    else if constexpr (is_one_of<Op, ops::both_write_some, ops::both_flush>)
        return &stream_pair::is_writing_both;
    else
        return nullptr;
}
/// An operation on the pipe whose end for reading is a descriptor; otherwise its end for writing is one.
template <class Op> inline constexpr bool is_to_descriptor =
    is_one_of<Op, ops::pipe_write, ops::descriptor_read, ops::descriptor_wait>;
/// Operations of several steps use their object again after each.
template <class Op> inline constexpr bool has_steps =
    own_buffer<Op>() != nullptr || kind_of<Op>() == kind::reads_text || kind_of<Op>() == kind::connects_range ||
    is_one_of<Op, ops::read_if, ops::write_if, ops::write_dynamic>;
/// Those that end in the middle leave traces, so that a request of type total is none for them.
template <class Op> inline constexpr bool ignores_total =
    kind_of<Op>() == kind::reads_text || kind_of<Op>() == kind::flushes || kind_of<Op>() == kind::connects_range ||
    is_one_of<Op, ops::read_all, ops::read_if, ops::write_all, ops::write_if, ops::write_dynamic,
              ops::buffered_write_some, ops::both_write_some>;

/// The objects that operations are started on at present.
struct objects {
    std::shared_ptr<stream_pair> pair;
    std::shared_ptr<door<tcp>> tcp_door;
    std::shared_ptr<script::path_door> path_door;
    std::shared_ptr<box<udp>> udp_box;
    std::shared_ptr<script::path_box> path_box;
    std::shared_ptr<alarm> timer;
    std::shared_ptr<packet_pair> packet_peers;
    std::shared_ptr<tube_to_descriptor> to_descriptor;
    std::shared_ptr<tube_from_descriptor> from_descriptor;
    std::shared_ptr<horn> signals;
    std::shared_ptr<questions> names;
};

/// An operation. Its members have the names of every_operation::world, and are its own where they are values.
struct flight {
    flight(io_context& c, objects const& o) : of(o), context(c) {}

    // ---- the members of its expression
    objects const of;
    io_context& context;
    local_socket& a = of.pair->near.here();
    buffered_read_stream<local_socket&>& reads_ahead = of.pair->reads_ahead;
    buffered_write_stream<local_socket&>& collects = of.pair->collects;
    buffered_stream<local_socket&>& buffers_both = of.pair->buffers_both;
    tcp::acceptor& acceptor = of.tcp_door->listens.here();
    tcp::endpoint where = of.tcp_door->where;
    std::array<tcp::endpoint, 1> range{where};
    tcp::endpoint from;
    home<tcp::socket> client_home{context};
    tcp::socket& client = client_home.here();
    tcp::socket peer{context};
    local::stream_protocol::endpoint path = of.path_door->where;
    home<local_socket> local_client_home{context};
    local_socket& local_client = local_client_home.here();
    udp::socket& datagrams = of.udp_box->of.here();
    udp::endpoint self = of.udp_box->self, sender;
    udp::socket unconnected{context};
    local::datagram_protocol::endpoint local_self = of.path_box->self;
    local_datagram_socket& local_datagrams = of.path_box->of.here();
    local_datagram_socket local_unconnected{context};
    steady_timer& timer = of.timer->timer.here();
    packet_socket& packets = of.packet_peers->near.here();
    socket_base::message_flags flags = -1;
    writable_pipe& writes = of.to_descriptor->out.here();
    posix::stream_descriptor& descriptor = of.to_descriptor->in.here();
    posix::stream_descriptor& other_descriptor = of.from_descriptor->out.here();
    readable_pipe& reads = of.from_descriptor->in.here();
    signal_set& signals = of.signals->set.here();
    tcp::resolver& resolver = of.names->resolver.here();
    std::optional<awaitable<int>> coroutine;
    std::string text;
    char bytes[4] = {};
    mutable_buffer into() noexcept { return buffer(bytes); }
    const_buffer out() noexcept { return buffer(output); }

    // ---- what it is
    char const* name = "";
    script::kind kind = kind::none;
    bool has_steps = false, ignores_total = false, may_complete_inside = false;
    bool stream_pair::* buffer_of_its_own = nullptr;
    pipe_account* pipe = nullptr;
    std::string output; ///< that it sends
    void const* object = nullptr;
    int received_before = -1;      ///< the last byte of its stream that any read had got when it was made
    std::size_t writes_before = 0; ///< steps of writes

    // ---- what has been done to it
    std::optional<cancellation_signal> signal{std::in_place};
    bool is_deaf = false;      ///< its signal has gone
    bool is_coroutine = false; ///< which hears terminal requests only
    bool is_started = false, is_starting = false, has_begun = false, is_over = false;
    bool is_asked = false;     ///< to end, or its object was cancelled
    bool must_end = false;     ///< soon, for it has a limit, or was asked after it had begun
    bool is_disturbed = false; ///< its object or its peer has gone, so that it may fail in any way
    std::optional<steady_clock::time_point> limit;
    steady_clock::time_point deadline{};

    // ---- how it has ended
    error_code ec{};
    std::size_t n = 0;
    std::size_t connections = 0, found = 0;
    int value = 0;
    std::uint16_t port = 0; ///< of an accepted connection

    void take(error_code e) { ec = e; }
    void take(std::exception_ptr const& e) {
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (system_error const& x) {
            ec = x.code();
        }
    }
    void take(std::size_t bytes_of_it) { n = bytes_of_it; }
    void take(int v) { value = v; }
    void take(tcp::resolver::results_type const& r) { found = r.size(); }
    void take(tcp::endpoint const& e) { connections += e == where; }
    void take(tcp::endpoint* e) { connections += e == range.data(); }
    template <class Socket>
        requires requires(Socket& s) { s.is_open(); }
    void take(Socket& s) {
        error_code no_matter; // The client may have gone already.
        connections += s.is_open();
        if (s.is_open())
            port = s.remote_endpoint(no_matter).port();
    }
};

} // namespace fairlead::test::script
