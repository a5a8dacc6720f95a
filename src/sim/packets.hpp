// Packets over UNIX sockets: connections as those of streams, which keep the limits of what was sent.
#pragma once

#include "part.hpp"

namespace fairlead::sim {

class datagrams;
class streams;

/// Both ends are on one host, so packets, ends and resets arrive at once. Programs learn of them a little later.
class packets : private part {
public:
    packets(shared_state& s, streams& t, datagrams& d) noexcept : part(s), streams_(t), datagrams_(d) {}

    bool possible(endpoint& e, io::kind k) noexcept;
    /// True: done, the result is in the op.
    bool attempt(endpoint& e, io::io_op& o) noexcept;
    /// The peer sends no more.
    void finish(endpoint& to) noexcept;
    /// The peer has gone without having read everything.
    void reset(endpoint& to) noexcept;
    /// The bytes that its unread packets count for.
    std::size_t unacknowledged(endpoint& e) noexcept;

private:
    bool receive(endpoint& e, io::io_op& o) noexcept;
    bool send(endpoint& e, io::io_op& o) noexcept;
    /// The endpoint that hears what `e` sends; null: none does any more.
    endpoint* receiver_of(endpoint& e) noexcept;

    streams& streams_; ///< which knows listeners
    datagrams& datagrams_;
};

} // namespace fairlead::sim
