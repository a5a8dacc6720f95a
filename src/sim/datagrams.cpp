#include "datagrams.hpp"

#include "operations.hpp"
#include "transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::size_t largest_udp_v4 = 65507;   // what IPv4 leaves of 64 KiB
constexpr std::size_t largest_udp_v6 = 65527;   // its header is not counted there
constexpr std::size_t largest_unix = 212'992;   // net.core.wmem_default
constexpr std::size_t receive_buffer = 212'992; // net.core.rmem_default
constexpr std::size_t unix_queue_most = 11;     // one more than net.unix.max_dgram_qlen
constexpr std::uint32_t overtaken_by_most = 16; // times the way's latency

} // namespace

bool datagrams::possible(endpoint& e, io::kind k) noexcept {
    if (k == io::kind::accept || k == io::kind::receive_all || k == io::kind::send_all)
        return true; // fails at once
    if (k == io::kind::wait_error)
        return e.error != 0;
    if (!io::is_write(k))
        return !e.datagrams.empty() || e.error != 0 || e.deaf;
    if (!e.is_unix() || e.stage != stage::connected)
        return true;
    endpoint* const p = find(e.peer) ? find(e.peer) : endpoints_.bound_at(*e.owner, e.remote, SOCK_DGRAM, false);
    return !p || p->datagrams.size() < unix_queue_most;
}

bool datagrams::attempt(endpoint& e, io::io_op& o) noexcept {
    switch (o.kind) {
    case io::kind::receive:
    case io::kind::receive_from: return receive(e, o);
    case io::kind::send:
    case io::kind::send_to: return send(e, o);
    case io::kind::accept:
    case io::kind::receive_all:
    case io::kind::receive_lent:
    case io::kind::send_all: return done(o, EOPNOTSUPP);
    case io::kind::connect:
    case io::kind::wait_read:
    case io::kind::wait_write:
    case io::kind::wait_error: break;
    }
    return possible(e, o.kind) && done(o, 0);
}

bool datagrams::receive(endpoint& e, io::io_op& o) noexcept {
    if (faults_.happens(rule::no_buffers))
        return done(o, ENOBUFS);
    if (e.error)
        return done(o, std::exchange(e.error, 0));
    if (e.datagrams.empty())
        return e.deaf && done(o, 0);
    auto& first = e.datagrams.front();
    auto const n = scatter(first.bytes, o);
    tell_sender(first.from, o);
    done(o, n < first.bytes.size() ? EMSGSIZE : 0);
    o.result.n = n;
    note(e, what::received, n);
    counts_.received += n;
    if (!(o.message_flags & MSG_PEEK)) {
        e.datagram_bytes -= first.cost();
        e.datagrams.pop_front();
        if (e.is_unix()) // There is space again, for whoever waits for it.
            for (auto const& other : endpoints_.all())
                if (other->owner == e.owner && !other->is_connection() && !other->writes.empty())
                    serve_soon(*other, true);
    }
    return true;
}

bool datagrams::send(endpoint& e, io::io_op& o) noexcept {
    if (faults_.happens(rule::no_buffers))
        return done(o, ENOBUFS);
    if (e.finished)
        return done(o, EPIPE);
    if (e.error)
        return done(o, std::exchange(e.error, 0));
    name to;
    if (o.kind == io::kind::send_to) {
        auto& with_address = static_cast<io::datagram_op&>(o);
        if (int const error = to.read(e.family, with_address.address, with_address.address_size))
            return done(o, error);
        if (e.is_unix() && e.stage == stage::connected)
            return done(o, EISCONN);
    } else if (e.stage != stage::connected) {
        return done(o, e.is_unix() ? ENOTCONN : EDESTADDRREQ);
    } else {
        to = e.remote;
    }
    auto const size = total_of(o);
    if (size > (e.is_unix() ? largest_unix : e.family == AF_INET6 ? largest_udp_v6 : largest_udp_v4))
        return done(o, EMSGSIZE);
    if (e.is_unix())
        return hand_over(e, o, to, size);
    int error = 0;
    host_state* const far = links_.route(*e.owner, to, error);
    if (error == ENETUNREACH)
        return done(o, error);
    if (!e.bound)
        if (int const no_port = endpoints_.assign_port(e))
            return done(o, no_port);
    if (far)
        error = launch(e, to, *far, o, size);
    else
        error = 0; // Nobody has the address; nobody says so.
    done(o, error);
    if (!error) {
        o.result.n = size;
        counts_.sent += size;
        note(e, what::sent, size);
    }
    return true;
}

/// A UNIX datagram arrives at once, or its sender waits.
bool datagrams::hand_over(endpoint& e, io::io_op& o, name const& to, std::size_t size) noexcept {
    endpoint* p = o.kind == io::kind::send ? find(e.peer) : nullptr;
    if (!p && to.size > sizeof(sa_family_t))
        p = endpoints_.bound_at(*e.owner, to, SOCK_DGRAM, false);
    if (!p || p->deaf)
        return done(o, p ? EPIPE
                       : to.size > sizeof(sa_family_t) && to.bytes[2] != 0 && o.kind == io::kind::send_to
                           ? ENOENT
                           : ECONNREFUSED);
    if (p->stage == stage::connected && p->peer != e.handle() && !(p->remote == e.local))
        return done(o, EPERM);
    if (p->datagrams.size() >= unix_queue_most) {
        if (o.kind == io::kind::send_to)
            serve_soon(e, true);
        return false;
    }
    return put(e, *p, o, size);
}

bool datagrams::put(endpoint& e, endpoint& to, io::io_op& o, std::size_t size) noexcept {
    datagram d{e.local, {}};
    if (e.local.size <= sizeof(sa_family_t))
        d.from.size = 0;
    bool fits = gather(o, size, d.bytes);
    if (fits) {
        try {
            to.datagrams.push_back(std::move(d));
        } catch (...) {
            fits = false;
        }
    }
    if (!fits)
        return done(o, ENOBUFS);
    to.datagram_bytes += to.datagrams.back().cost();
    done(o, 0);
    o.result.n = size;
    counts_.sent += size;
    note(e, what::sent, size);
    serve_soon(to, false);
    return true;
}

/// Sends copies of a datagram on their way: none, one or two. 0 or an errno value.
int datagrams::launch(endpoint& e, name const& to, host_state& far, io::io_op const& o, std::size_t size) noexcept {
    bool const between_hosts = &far != e.owner;
    if (between_hosts && faults_.happens(rule::loss)) {
        note(e, what::dropped);
        return 0;
    }
    unsigned const copies = between_hosts && faults_.happens(rule::copy) ? 2 : 1;
    for (unsigned i = 0; i != copies; ++i) {
        flying_datagram d;
        if (!gather(o, size, d.content.bytes))
            return ENOBUFS;
        d.from = e.handle();
        d.sender = e.owner;
        d.receiver = &far;
        d.address = to;
        d.content.from = e.local;
        if (e.local.is_any())
            d.content.from.address(to.is_loopback()      ? to.address()
                                   : e.family == AF_INET ? ip::address(e.owner->v4)
                                                         : ip::address(e.owner->v6));
        auto delay = links_.travel(*e.owner, far, size);
        if (between_hosts && faults_.happens(rule::overtaken))
            delay *= 2 + faults_.stream(rule::overtaken).below(overtaken_by_most);
        auto index = free_flying_;
        if (index == none_free) {
            try {
                index = static_cast<std::uint32_t>(flying_.size());
                flying_.emplace_back();
            } catch (...) {
                return ENOBUFS;
            }
        } else {
            free_flying_ = flying_[index].next_free;
        }
        time_.promise(1);
        flying_[index] = std::move(d);
        if (!time_.make_space()) {
            flying_[index].next_free = std::exchange(free_flying_, index);
            time_.take_back(1);
            return ENOBUFS;
        }
        time_.push(now() + delay, event_kind::datagram, {index, 0});
    }
    return 0;
}

void datagrams::land(std::uint32_t index) noexcept {
    flying_datagram d = std::move(flying_[index]);
    flying_[index].next_free = std::exchange(free_flying_, index);
    time_.take_back(1);
    bool const between_hosts = d.sender != d.receiver;
    if (between_hosts && !(d.receiver->is_up && !links_.is_cut(*d.sender, *d.receiver))) {
        note(d.sender, what::dropped, d.from.index);
        return;
    }
    endpoint* const e = endpoints_.receiver_at(*d.receiver, d.address, d.content.from);
    if (!e)
        return unreachable(d);
    auto const cost = d.content.cost();
    if (e->deaf || e->datagram_bytes + cost > receive_buffer) {
        note(d.sender, what::dropped, d.from.index);
        return;
    }
    if (e->family != d.content.from.family())
        d.content.from = d.content.from.mapped();
    auto const size = d.content.bytes.size();
    try {
        e->datagrams.push_back(std::move(d.content));
    } catch (...) {
        return;
    }
    e->datagram_bytes += cost;
    note(*e, what::arrived, size);
    operations_.serve(*e, e->reads);
}

/// ICMP says that nobody listens there; only a connected socket is told (RFC 1122, 4.1.3.3).
void datagrams::unreachable(flying_datagram& d) noexcept {
    endpoint* const e = find(d.from);
    note(d.sender, what::dropped, d.from.index);
    if (!e || e->stage != stage::connected || (d.sender != d.receiver && !passes(*d.receiver, *d.sender)))
        return;
    e->error = ECONNREFUSED;
    serve_soon(*e, false);
    serve_soon(*e, true);
}

} // namespace fairlead::sim
