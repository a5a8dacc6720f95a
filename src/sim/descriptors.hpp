// The life of a descriptor: how it is opened, shut and closed, and what its peer hears of that.
#pragma once

#include "part.hpp"

namespace fairlead::sim {

class connects;
class operations;
class packets;
class streams;

/// Functions that return an int return 0 or an errno value.
class descriptors : private part {
public:
    descriptors(shared_state& s, operations& o, streams& t, packets& p, connects& c) noexcept
        : part(s),
          operations_(o),
          streams_(t),
          packets_(p),
          connects_(c) {}

    int open(host_state& m, int family, int type, io::handle& made) noexcept;
    int pair(host_state& m, int family, int type, io::handle& a, io::handle& b) noexcept;
    int pipe(host_state& m, io::handle& reads, io::handle& writes) noexcept;
    void close(endpoint& e) noexcept;
    /// A number for it, far outside those of the system. Nobody has it until it is adopted.
    int release(endpoint& e) noexcept;
    int adopt(host_state& m, int number, io::handle& h) noexcept;
    /// Null: nothing of the host has been released by this number.
    endpoint* released(host_state const& m, int number) noexcept;
    int shutdown(endpoint& e, int how) noexcept;
    /// A connection that nobody has accepted ends.
    void turn_away(endpoint& e) noexcept;
    /// All descriptors of a host go. Silently: the power fails, nobody is told.
    void close_all(host_state& m, bool silently) noexcept;

private:
    void vanish(endpoint& e) noexcept;
    void drop_backlog(endpoint& e) noexcept;
    void part_from_peer(endpoint& e) noexcept;

    operations& operations_;
    streams& streams_;
    packets& packets_;
    connects& connects_;
};

} // namespace fairlead::sim
