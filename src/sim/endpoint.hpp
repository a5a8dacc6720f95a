// One socket of the simulated network.
#pragma once

#include "pipe.hpp"

#include <fairlead/exec/op.hpp>
#include <fairlead/io/driver.hpp>
#include <fairlead/net/address.hpp>

#include <cstdint>
#include <deque>
#include <vector>

namespace fairlead::sim {

struct host_state;

/// A socket address as the system lays it out.
struct name {
    alignas(4) unsigned char bytes[110] = {};
    std::uint32_t size = 0;

    /// 0 or an errno value.
    int read(int family_wanted, void const* address, std::size_t address_size) noexcept;
    int family() const noexcept;
    std::uint16_t port() const noexcept { return static_cast<std::uint16_t>(bytes[2] << 8 | bytes[3]); }
    void port(std::uint16_t p) noexcept {
        bytes[2] = static_cast<unsigned char>(p >> 8);
        bytes[3] = static_cast<unsigned char>(p);
    }
    bool is_any() const noexcept;
    bool is_loopback() const noexcept;
    void become_loopback() noexcept;
    bool is_v4_mapped() const noexcept;
    ip::address address() const noexcept;
    void address(ip::address const& a) noexcept; ///< of the same family
    /// ::ffff:a.b.c.d for an IPv4 name.
    name mapped() const noexcept;
    /// One socket bound to this name and one bound to the other would get in each other's way.
    bool overlaps(name const& other) const noexcept;
    bool operator==(name const& other) const noexcept;
};

struct option {
    int level;
    int key;
    std::uint32_t size;
    unsigned char bytes[32];
};

struct datagram {
    name from;
    std::vector<std::byte> bytes;
};

enum class stage : std::uint8_t { fresh, listening, connecting, connected };

/// The events of an endpoint, each scheduled at most once at a time; and other events.
enum class event_kind : std::uint8_t {
    arrive,      ///< the next segment, or the end of the stream
    serve_read,  ///< the queue of readers is looked at
    serve_write, ///< … of writers
    connect,     ///< an attempt reaches the other side
    reset,       ///< the peer's reset arrives
    unanswered,  ///< what was sent to nobody is answered, or not
    acknowledge, ///< an acknowledgement got lost, it is asked for again
    abort,       ///< a late cancellation takes effect
    probe,       ///< SO_KEEPALIVE: is the other side still there?
    look_up,
    datagram,
    action,
};
inline constexpr std::size_t event_kinds_of_endpoint = 9;

struct endpoint {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    host_state* owner = nullptr; ///< null: the place is free
    host_state* far = nullptr;   ///< where the peer of a connection lives, or lived
    int family = 0;
    int type = 0;
    sim::stage stage = stage::fresh;
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
    bool is_stream() const noexcept;
    /// Both sides have finished: TCP forgets whom it was connected to.
    bool is_over() const noexcept { return finished && end_arrived && is_stream() && !is_unix(); }
    op_queue& queue(io::kind k) noexcept { return io::is_write(k) ? writes : reads; }
    int number_option(int level, int key) const noexcept; ///< 0: not set
};

} // namespace fairlead::sim
