// Operations on stream sockets, and the bytes that they move: what the kernel's TCP does, as far as a program can tell.
#pragma once

#include "part.hpp"

#include <fairlead/sim/rule.hpp>

namespace fairlead::sim {

class operations;
class descriptors;

class streams : private part {
public:
    streams(shared_state& s, operations& o, descriptors& d) noexcept : part(s), operations_(o), descriptors_(d) {}

    // ---- attempts
    bool possible(endpoint& e, io::kind k) noexcept;
    /// True: done, the result is in the op. `whole`: an …_all op is either done or left as it was.
    bool attempt(endpoint& e, io::io_op& o, bool whole) noexcept;

    // ---- what arrives
    void arrive(endpoint& e) noexcept;
    /// The segment of this side has arrived, but the answer was lost.
    void acknowledge(endpoint& e) noexcept;
    /// A connection on which nothing is said is asked after from time to time.
    void probe(endpoint& e) noexcept;
    /// Bytes were sent to a connection that the other side knows nothing of.
    void learn_that_nobody_is_there(endpoint& e) noexcept;
    /// The peer's reset.
    void reset_arrives(endpoint& e) noexcept;

    // ---- what others tell
    /// SO_KEEPALIVE was set, or the connection has come about.
    void keep_alive(endpoint& e) noexcept;
    /// The peer sends no more.
    void finish(endpoint& to) noexcept;
    void reset_later(endpoint& e) noexcept;

    /// Bytes that were sent and have not reached the other side's system (UNIX: its program).
    std::size_t unacknowledged(endpoint& e) noexcept;

private:
    bool receive(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool receive_lent(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool send(endpoint& e, io::io_op& o, bool whole) noexcept;
    bool accept(endpoint& e, io::io_op& o) noexcept;
    bool break_down(endpoint& e, io::io_op& o) noexcept;
    std::uint32_t cut(std::uint32_t n, rule r) noexcept;
    std::uint32_t space(endpoint& e) noexcept;
    endpoint* living_peer(endpoint& e) noexcept;
    bool gives_up(endpoint& sender) noexcept;
    void reset(endpoint& e, int error) noexcept;
    void break_connection(endpoint& e) noexcept;

    operations& operations_;
    descriptors& descriptors_;
};

} // namespace fairlead::sim
