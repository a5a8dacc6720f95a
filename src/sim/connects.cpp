#include "connects.hpp"

#include "operations.hpp"
#include "packets.hpp"
#include "streams.hpp"

#include <algorithm>
#include <cerrno>

#include <netinet/in.h>
#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr unsigned connect_tries_most = 7; // tcp_syn_retries is 6: ETIMEDOUT after 127 s

} // namespace

/// Gives an unbound or any-bound socket the address from which it reaches `to`. 0 or an errno value.
int connects::go_local(endpoint& e, name const& to, host_state const* far) noexcept {
    if (e.local.is_any()) {
        if (!far || far != e.owner)
            e.local.address(e.family == AF_INET ? ip::address(e.owner->v4) : ip::address(e.owner->v6));
        else
            e.local.address(to.address());
    }
    if (e.local.port() == 0)
        if (int const error = endpoints_.assign_port(e))
            return error == EADDRINUSE ? EADDRNOTAVAIL : error;
    return 0;
}

void connects::join(endpoint& a, endpoint& b) noexcept {
    a.stage = b.stage = stage::connected;
    a.peer = b.handle();
    b.peer = a.handle();
    a.far = b.owner;
    b.far = a.owner;
    if (a.remote.size == 0)
        a.remote = b.local;
    if (b.remote.size == 0)
        b.remote = a.local;
    ++counts_.connected;
    note(a, what::connected, b.index);
    if (a.finished) // A UNIX socket that was shut before.
        b.is_packets() ? packets_.finish(b) : streams_.finish(b);
    streams_.keep_alive(a);
}

int connects::start(endpoint& e, io::io_op const& o) noexcept {
    if (int const error = e.refusal(o.kind))
        return error;
    if (e.stage == stage::connecting)
        return EALREADY;
    if (e.is_connection() && e.stage != stage::fresh)
        return e.is_unix() && e.stage == stage::listening ? EINVAL : EISCONN;
    name n;
    if (int const error = n.read(e.family, o.data, o.size))
        return error;
    if (e.is_unix()) {
        e.far = e.owner;
    } else {
        int error = 0;
        e.far = links_.route(*e.owner, n, error);
        if (error == ENETUNREACH)
            return error;
        if (int const no_port = go_local(e, n, e.far))
            return no_port;
    }
    e.remote = n;
    if (!e.is_connection()) {
        // A datagram socket only remembers whom it talks to.
        if (e.is_unix() && !endpoints_.bound_at(*e.owner, n, SOCK_DGRAM, false)) {
            bool const is_connection = endpoints_.bound_at(*e.owner, n, SOCK_STREAM, false) ||
                                       endpoints_.bound_at(*e.owner, n, SOCK_SEQPACKET, false);
            e.remote = {};
            return is_connection ? EPROTOTYPE : n.bytes[2] != 0 ? ENOENT : ECONNREFUSED;
        }
        e.stage = stage::connected;
        return 0;
    }
    e.tries = 0;
    e.stage = stage::connecting;
    return 0;
}

int connects::establish(endpoint& e) noexcept {
    if (!e.far)
        return EHOSTUNREACH;
    if (!e.is_unix()) {
        if (faults_.happens(rule::refuse))
            return ECONNREFUSED;
        if (faults_.happens(rule::unreachable))
            return EHOSTUNREACH;
        if (e.far != e.owner && !passes_both_ways(e))
            return EAGAIN;
        if (faults_.happens(rule::unanswered))
            return EAGAIN;
    }
    endpoint* const listener = endpoints_.bound_at(*e.far, e.remote, e.type, true);
    if (!listener) {
        auto const same = [&](auto const& other) {
            return other->owner == e.owner && other->bound && other->local.overlaps(e.remote);
        };
        bool const is_path = e.is_unix() && e.remote.bytes[2] != 0;
        bool const exists = !is_path || std::any_of(endpoints_.all().begin(), endpoints_.all().end(), same);
        return exists ? ECONNREFUSED : ENOENT;
    }
    if (listener->backlog.size() > listener->backlog_most)
        return EAGAIN;
    if (e.far->descriptors >= e.far->descriptors_most)
        return EAGAIN; // The kernel would let it wait for a descriptor; here an endpoint has one from the start.
    endpoint* const other_end = endpoints_.make(*e.far, listener->family, e.type);
    if (!other_end)
        return EAGAIN;
    bool const dual = listener->family != e.family;
    other_end->local = dual ? e.remote.mapped() : e.remote;
    other_end->remote = dual ? e.local.mapped() : e.local;
    join(e, *other_end);
    listener->backlog.push_back(other_end->handle());
    serve_soon(*listener, false);
    return 0;
}

void connects::attempt(endpoint& e) noexcept {
    io::io_op* waiting_op = nullptr;
    e.writes.for_each([&](op& o) {
        if (auto& each = static_cast<io::io_op&>(o); each.kind == io::kind::connect)
            waiting_op = &each;
    });
    int error = ECANCELED;
    if (waiting_op) {
        error = establish(e);
        if (error == EAGAIN && !e.is_unix()) { // a lost SYN: again after 1, 2, 4 … seconds
            if (++e.tries < connect_tries_most) {
                note(e, what::lost);
                return schedule(e, event_kind::connect, now() + (std::int64_t{1'000'000'000} << (e.tries - 1)));
            }
            error = ETIMEDOUT;
        }
        if (error) {
            ++counts_.refused;
            note(e, what::refused, static_cast<std::uint64_t>(error));
        }
        waiting_op->result = {error, 0, 0};
        op_queue::unlink(*waiting_op);
        operations_.complete(e, *waiting_op);
    }
    if (error) {
        e.stage = stage::fresh;
        e.remote = {};
        e.far = nullptr;
    }
    e.tries = 0;
    serve_soon(e, false);
    serve_soon(e, true);
}

} // namespace fairlead::sim
