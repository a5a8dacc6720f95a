// Datagrams: UDP, which loses, doubles and reorders between hosts, and UNIX datagrams, which do not.
#pragma once

#include "part.hpp"

#include <vector>

namespace fairlead::sim {

class operations;

class datagrams : private part {
public:
    datagrams(shared_state& s, operations& o) noexcept : part(s), operations_(o) {}

    bool possible(endpoint& e, io::kind k) noexcept;
    /// True: done, the result is in the op.
    bool attempt(endpoint& e, io::io_op& o) noexcept;
    /// The op's bytes arrive within the host as one datagram or packet. True: done.
    bool put(endpoint& e, endpoint& to, io::io_op& o, std::size_t size) noexcept;
    /// The event of a datagram on its way.
    void land(std::uint32_t index) noexcept;

private:
    struct flying_datagram {
        io::handle from; ///< who is told when nobody is there
        host_state* sender = nullptr;
        host_state* receiver = nullptr;
        sim::name address;
        datagram content;
        std::uint32_t next_free = 0;
    };
    static constexpr std::uint32_t none_free = 0xffffffffU;

    bool receive(endpoint& e, io::io_op& o) noexcept;
    bool send(endpoint& e, io::io_op& o) noexcept;
    bool hand_over(endpoint& e, io::io_op& o, name const& to, std::size_t size) noexcept;
    int launch(endpoint& e, name const& to, host_state& far, io::io_op const& o, std::size_t size) noexcept;
    void unreachable(flying_datagram& d) noexcept;

    operations& operations_;
    std::vector<flying_datagram> flying_;
    std::uint32_t free_flying_ = none_free;
};

} // namespace fairlead::sim
