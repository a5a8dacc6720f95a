// How an operation waits: in the queue of its endpoint, until it is possible, cancelled or given up.
#pragma once

#include "part.hpp"

namespace fairlead::sim {

class connects;
class datagrams;
class packets;
class streams;

class operations : private part {
public:
    operations(shared_state& s, streams& t, packets& p, datagrams& d, connects& c) noexcept
        : part(s),
          streams_(t),
          packets_(p),
          datagrams_(d),
          connects_(c) {}

    // ---- for drivers
    bool ready(endpoint& e, io::kind k, std::size_t size) noexcept;
    void submit(host_state& m, io::io_op& o) noexcept;
    bool try_now(endpoint& e, io::io_op& o) noexcept;
    void perform(io::io_op& o, bool may_wait) noexcept;
    bool cancel(endpoint& e, io::io_op& o) noexcept;
    bool cancel(endpoint& e, void* ticket) noexcept;
    void cancel_marked(host_state const& m) noexcept;
    std::size_t cancel_all(endpoint& e) noexcept;
    void take_pending(host_state const& m, op_queue& into) noexcept;

    // ---- for the other parts
    /// Something has changed for those who wait.
    void serve(endpoint& e, op_queue& q) noexcept;
    /// The op is in no queue any more.
    void complete(endpoint& e, io::io_op& o) noexcept;
    std::size_t abort_all(endpoint& e) noexcept;
    /// The event of a cancellation that took its time.
    void abort_late(endpoint& e) noexcept;

private:
    bool possible(endpoint& e, io::kind k) noexcept;
    bool attempt(endpoint& e, io::io_op& o, bool whole) noexcept;
    void abort(endpoint& e, io::io_op& o) noexcept;

    streams& streams_;
    packets& packets_;
    datagrams& datagrams_;
    connects& connects_;
};

} // namespace fairlead::sim
