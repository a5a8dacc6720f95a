// One socket of the simulated network.
#pragma once

#include "name.hpp"
#include "pipe.hpp"

#include <fairlead/exec/op.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/net/address.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace fairlead::sim {

struct host_state;

struct option {
    int level;
    int key;
    std::uint32_t size;
    unsigned char bytes[32];
};

struct datagram {
    static constexpr std::size_t overhead = 768; ///< that the kernel counts for each besides its bytes

    name from;
    std::vector<std::byte> bytes;

    std::size_t cost() const noexcept { return bytes.size() + overhead; }
};

enum class stage : std::uint8_t { fresh, listening, connecting, connected };
/// A pipe carries bytes as a UNIX stream does, in one direction.
enum class sort : std::uint8_t { socket, read_end, write_end };

struct endpoint {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    host_state* owner = nullptr; ///< null: the place is free
    host_state* far = nullptr;   ///< where the peer of a connection lives, or lived
    int family = 0;
    int type = 0;
    sim::stage stage = stage::fresh;
    sim::sort sort = sort::socket;
    bool is_released = false;    ///< a number, which nobody has taken over yet
    std::uint16_t scheduled = 0; ///< bit for each kind of event
    bool bound = false;
    bool named_port = false;           ///< bound to a port that the program chose
    bool end_sent = false;             ///< the peer's end of stream is behind the bytes on the way
    bool end_arrived = false;          ///< … and is here
    bool finished = false;             ///< this side has shut down sending
    bool deaf = false;                 ///< this side has shut down receiving
    bool broken = false;               ///< reset
    int error = 0;                     ///< reported once, by whoever comes first
    std::uint32_t lost = 0;            ///< bytes sent to a peer that is gone
    unsigned tries = 0;                ///< connection attempts that got no answer, retransmissions of a segment to here
    unsigned probes = 0;               ///< of SO_KEEPALIVE that were not answered, in a row
    std::int64_t stalled_since_ns = 0; ///< what this side sent has not been acknowledged since; 0: all is well
    std::size_t backlog_most = 0;
    name local, remote;
    io::handle peer;
    pipe in;
    std::deque<datagram> datagrams;
    std::size_t datagram_bytes = 0;
    std::vector<io::handle> backlog;
    std::vector<option> options;
    op_queue reads, writes;

    io::handle handle() const noexcept { return {index, generation}; }
    bool is_unix() const noexcept;
    bool is_pipe() const noexcept { return sort != sort::socket; }
    /// 0, or the error of an operation that this end of a pipe does not have.
    int refusal(io::kind k) const noexcept;
    bool is_stream() const noexcept;
    bool is_packets() const noexcept; ///< a connection of UNIX sockets that keeps the limits of what was sent
    bool is_connection() const noexcept { return is_stream() || is_packets(); }
    /// Both sides have finished: TCP forgets whom it was connected to.
    bool is_over() const noexcept { return finished && end_arrived && is_stream() && !is_unix(); }
    op_queue& queue(io::kind k) noexcept { return io::is_write(k) ? writes : reads; }
    int number_option(int level, int key) const noexcept; ///< 0: not set
    /// 0 or an errno value.
    int set_option(int level, int key, void const* data, std::size_t size) noexcept;
    std::size_t get_option(int level, int key, void* data, std::size_t size) noexcept;
    std::size_t available() const noexcept; ///< bytes that a read could have
};

} // namespace fairlead::sim
