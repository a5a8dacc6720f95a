// The simulated network: its parts, the events that they hand to each other, and the doors for drivers.
//
//     timeline      time, events             links       hosts, ways between them
//     endpoints     sockets, their names     operations  ops that wait at a socket
//     streams       TCP and UNIX streams     datagrams   UDP and UNIX datagrams
//     packets       over UNIX sockets
//     connects      connections come about   descriptors sockets are opened and closed
//     zone          names are looked up      actions     what a test does
//     faults        what goes wrong          trace       what has happened
//
// It belongs to the world and is shared by the drivers of its hosts. An operation lies in the queue of its endpoint and
// direction until an event lets the queue be served. Completed operations are pushed onto the loop of the host that
// owns the endpoint. Nothing here throws, actions aside. Memory is needed only to make a descriptor, a datagram or a
// look-up, which fails without it.
#pragma once

#include "actions.hpp"
#include "connects.hpp"
#include "datagrams.hpp"
#include "descriptors.hpp"
#include "operations.hpp"
#include "packets.hpp"
#include "part.hpp"
#include "streams.hpp"
#include "zone.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::sim {

enum class verdict : std::uint8_t { none, stuck, too_many_steps };

class network : public shared_state {
public:
    static constexpr std::int64_t beginning_ns = timeline::beginning_ns;
    static constexpr std::int64_t never_ns = timeline::never_ns;

    network(std::uint64_t seed, std::string_view settings);

    sim::actions actions;
    sim::zone zone;

    // ---- for the world
    void join(host_state& m);
    void jump(std::int64_t to_ns) noexcept;
    /// Due events happen. False: none was due.
    bool deliver();
    /// All descriptors of a host go. Silently: the power fails, nobody is told.
    void shut(host_state& m, bool silently) noexcept;
    std::size_t waiting_for_clients(host_state const& m) const noexcept;
    std::string waiting() const;
    sim::verdict verdict = verdict::none;

    // ---- for drivers. An int is 0 or an errno value.
    std::int64_t now_ns() const noexcept { return time.now_ns(); }
    void arrange(host_state& m, op_queue& q) noexcept;
    /// For a context that is run by itself, not by the world.
    void poll(host_state& m, std::int64_t until_ns) noexcept;

    endpoint* find(io::handle h) noexcept { return endpoints.find(h); }
    int open(host_state& m, int family, int type, io::handle& made) noexcept {
        return descriptors_.open(m, family, type, made);
    }
    int pair(host_state& m, int family, int type, io::handle& a, io::handle& b) noexcept {
        return descriptors_.pair(m, family, type, a, b);
    }
    int pipe(host_state& m, io::handle& reads, io::handle& writes) noexcept {
        return descriptors_.pipe(m, reads, writes);
    }
    int release(endpoint& e) noexcept { return descriptors_.release(e); }
    int adopt(host_state& m, int number, io::handle& h) noexcept { return descriptors_.adopt(m, number, h); }
    void discard(host_state const& m, int number) noexcept {
        if (endpoint* const e = descriptors_.released(m, number))
            close(*e);
    }
    void close(endpoint& e) noexcept { descriptors_.close(e); }
    int shutdown(endpoint& e, int how) noexcept { return descriptors_.shutdown(e, how); }
    int bind(endpoint& e, void const* address, std::size_t size) noexcept { return endpoints.bind(e, address, size); }
    int listen(endpoint& e, int backlog) noexcept { return endpoints.listen(e, backlog); }
    int set_option(endpoint& e, int level, int key, void const* data, std::size_t size) noexcept;
    std::size_t get_option(endpoint& e, int level, int key, void* data, std::size_t size) noexcept {
        return e.get_option(level, key, data, size);
    }
    std::size_t available(endpoint& e) noexcept { return e.available(); }
    std::size_t unacknowledged(endpoint& e) noexcept {
        return e.is_packets() ? packets_.unacknowledged(e) : streams_.unacknowledged(e);
    }

    bool ready(endpoint& e, io::kind k, std::size_t size) noexcept { return operations_.ready(e, k, size); }
    void submit(host_state& m, io::io_op& o) noexcept { operations_.submit(m, o); }
    bool try_now(endpoint& e, io::io_op& o) noexcept { return operations_.try_now(e, o); }
    void perform(io::io_op& o, bool may_wait) noexcept { operations_.perform(o, may_wait); }
    bool cancel(endpoint& e, io::io_op& o) noexcept { return operations_.cancel(e, o); }
    bool cancel(endpoint& e, void* ticket) noexcept { return operations_.cancel(e, ticket); }
    void cancel_marked(host_state const& m) noexcept { operations_.cancel_marked(m); }
    std::size_t cancel_all(endpoint& e) noexcept { return operations_.cancel_all(e); }
    void take_pending(host_state& m, op_queue& into) noexcept;

    void resolve(host_state& m, io::resolve_op& o) noexcept { zone.resolve(m, o); }
    void cancel_resolve(io::resolve_op& o) noexcept { zone.cancel(o); }
    void look_up(host_state& m, io::resolve_op& o) noexcept { zone.look_up(m, o); }

private:
    void happen(event const& due);
    void stop(host_state& m, sim::verdict v) noexcept;

    sim::streams streams_;
    sim::packets packets_;
    sim::datagrams datagrams_;
    sim::connects connects_;
    sim::operations operations_;
    sim::descriptors descriptors_;
    bool at_limit_ = false; ///< the last poll ended because its time had come
};

} // namespace fairlead::sim
