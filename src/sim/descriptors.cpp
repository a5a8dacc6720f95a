#include "descriptors.hpp"

#include "connects.hpp"
#include "operations.hpp"
#include "packets.hpp"
#include "streams.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr int first_number = 1 << 24; // more than Linux ever gives a process

} // namespace

int descriptors::open(host_state& m, int family, int type, io::handle& made) noexcept {
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
        return EAFNOSUPPORT;
    if (type == SOCK_SEQPACKET && family != AF_UNIX)
        return ESOCKTNOSUPPORT;
    if (type != SOCK_STREAM && type != SOCK_DGRAM && type != SOCK_SEQPACKET)
        return EPROTONOSUPPORT;
    if (m.descriptors >= m.descriptors_most || faults_.happens(rule::no_descriptor))
        return EMFILE;
    if (!m.is_up)
        return ENETDOWN; // somebody outside still holds on to what the host was
    endpoint* const e = endpoints_.make(m, family, type);
    if (!e)
        return ENOMEM;
    made = e->handle();
    return 0;
}

int descriptors::pair(host_state& m, int family, int type, io::handle& a, io::handle& b) noexcept {
    if (family != AF_UNIX)
        return EOPNOTSUPP;
    if (int const error = open(m, family, type, a))
        return error;
    if (int const error = open(m, family, type, b)) {
        close(*find(a));
        a = {};
        return error;
    }
    connects_.join(*find(a), *find(b));
    return 0;
}

int descriptors::pipe(host_state& m, io::handle& reads, io::handle& writes) noexcept {
    if (int const error = pair(m, AF_UNIX, SOCK_STREAM, reads, writes))
        return error;
    find(reads)->sort = sort::read_end;
    find(writes)->sort = sort::write_end;
    return 0;
}

int descriptors::release(endpoint& e) noexcept {
    operations_.abort_all(e);
    e.is_released = true; // Its place stays: bytes are on their way there.
    return first_number + static_cast<int>(e.index);
}

endpoint* descriptors::released(host_state const& m, int number) noexcept {
    auto const index = static_cast<std::size_t>(number - first_number);
    if (number < first_number || index >= endpoints_.all().size())
        return nullptr;
    endpoint& e = *endpoints_.all()[index];
    return e.owner == &m && e.is_released ? &e : nullptr;
}

int descriptors::adopt(host_state& m, int number, io::handle& h) noexcept {
    endpoint* const e = released(m, number);
    if (!e)
        return number >= 0 && number < first_number ? EOPNOTSUPP : EBADF; // Those of the system are of no use here.
    e->is_released = false;
    h = e->handle();
    return 0;
}

void descriptors::close(endpoint& e) noexcept {
    operations_.abort_all(e);
    drop_backlog(e);
    part_from_peer(e);
    endpoints_.release(e);
}

/// As when the power fails: the peer knows nothing.
void descriptors::vanish(endpoint& e) noexcept {
    operations_.abort_all(e);
    for (auto const h : e.backlog)
        if (endpoint* const waiting_one = find(h))
            vanish(*waiting_one);
    e.backlog.clear();
    // Bytes that it sent arrive, also those on their way. Bytes that were on their way to it will never be
    // acknowledged.
    if (endpoint* const p = find(e.peer); p && !p->broken && e.in.flying() != 0 && e.far != e.owner)
        schedule(*p, event_kind::unanswered, now() + retransmission_ns);
    endpoints_.release(e);
}

void descriptors::close_all(host_state& m, bool silently) noexcept {
    for (std::size_t i = 0; i != endpoints_.all().size(); ++i)
        if (endpoint& e = *endpoints_.all()[i]; e.owner == &m)
            silently ? vanish(e) : close(e);
}

/// Tells the peer of a connection that this end is closing.
void descriptors::part_from_peer(endpoint& e) noexcept {
    endpoint* const p = find(e.peer);
    if (!p || e.broken || e.stage != stage::connected || !e.is_connection())
        return;
    if (e.is_packets()) {
        e.datagrams.empty() ? packets_.finish(*p) : packets_.reset(*p);
        return serve_soon(*p, true);
    }
    if (e.is_pipe()) { // A write to a pipe without a reader fails, whatever was in it.
        if (e.sort == sort::write_end)
            streams_.finish(*p);
        serve_soon(*p, false);
        return serve_soon(*p, true);
    }
    ::linger l{};
    e.get_option(SOL_SOCKET, SO_LINGER, &l, sizeof l);
    // Bytes that nobody will read any more break the connection: the peer must not believe that they were.
    if (e.in.readable() != 0 || e.in.flying() != 0 || (!e.is_unix() && l.l_onoff && l.l_linger == 0))
        streams_.reset_later(*p);
    else
        streams_.finish(*p);
    serve_soon(*p, true);
}

void descriptors::drop_backlog(endpoint& e) noexcept {
    for (auto const h : e.backlog)
        if (endpoint* const waiting_one = find(h))
            turn_away(*waiting_one);
    e.backlog.clear();
}

void descriptors::turn_away(endpoint& e) noexcept {
    if (endpoint* const p = find(e.peer))
        e.is_packets() ? packets_.reset(*p) : streams_.reset_later(*p);
    e.peer = {};
    close(e);
}

int descriptors::shutdown(endpoint& e, int how) noexcept {
    if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
        return EINVAL;
    if (e.stage == stage::listening && how != SHUT_WR) {
        e.stage = stage::fresh;
        drop_backlog(e);
        serve_soon(e, false);
        return 0;
    }
    bool const is_early = e.is_unix() && e.stage == stage::fresh; // A UNIX socket may be shut before it is connected.
    if (!is_early && (e.stage != stage::connected || e.broken || e.is_over()))
        return ENOTCONN;
    endpoint* const p = e.is_connection() ? find(e.peer) : nullptr;
    if (how != SHUT_RD && !e.finished) {
        e.finished = true;
        if (p)
            e.is_packets() ? packets_.finish(*p) : streams_.finish(*p);
        serve_soon(e, true);
    }
    if (how != SHUT_WR && !e.deaf) {
        e.deaf = true;
        serve_soon(e, false);
        if (p)
            serve_soon(*p, true);
    }
    return 0;
}

} // namespace fairlead::sim
