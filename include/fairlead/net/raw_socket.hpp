// Raw sockets: packets with the headers that the protocol leaves to the program.
#pragma once

#include <fairlead/net/datagram_socket.hpp>

namespace fairlead {

/// Sends and receives raw packets, with the operations of a datagram socket. Opening one takes a privilege
/// (no_permission). A packet that arrives by IPv4 begins with the header of the internet protocol.
/// Threads: as a datagram socket.
template <class Protocol, class Executor> class basic_raw_socket : public basic_datagram_socket<Protocol, Executor> {
    using base = basic_datagram_socket<Protocol, Executor>;

public:
    template <class E> struct rebind_executor {
        using other = basic_raw_socket<Protocol, E>;
    };

    using base::base;
    basic_raw_socket(basic_raw_socket&&) noexcept = default;
    basic_raw_socket& operator=(basic_raw_socket&&) noexcept = default;
    ~basic_raw_socket() = default;
};

} // namespace fairlead
