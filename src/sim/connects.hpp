// How a connection comes about: listeners, attempts that nobody answers.
#pragma once

#include "part.hpp"

namespace fairlead::sim {

class operations;
class packets;
class streams;

class connects : private part {
public:
    connects(shared_state& s, operations& o, streams& t, packets& p) noexcept
        : part(s),
          operations_(o),
          streams_(t),
          packets_(p) {}

    /// Both ends are there.
    void join(endpoint& a, endpoint& b) noexcept;
    /// 0: a stream or a socket of packets connects, anything else is connected; or an errno value.
    int start(endpoint& e, io::io_op const& o) noexcept;
    /// 0 or an errno value. EAGAIN: the backlog is full, or no answer.
    int establish(endpoint& e) noexcept;
    /// The event of an attempt.
    void attempt(endpoint& e) noexcept;

private:
    int go_local(endpoint& e, name const& to, host_state const* far) noexcept;

    operations& operations_;
    streams& streams_;
    packets& packets_;
};

} // namespace fairlead::sim
