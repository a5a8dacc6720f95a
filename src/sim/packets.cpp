#include "packets.hpp"

#include "datagrams.hpp"
#include "streams.hpp"
#include "transfer.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::size_t send_buffer = 212'992;      // net.core.wmem_default
constexpr std::size_t largest = send_buffer - 32; // Linux keeps so much back.

} // namespace

endpoint* packets::receiver_of(endpoint& e) noexcept {
    endpoint* const p = find(e.peer);
    return p && !p->deaf && !e.finished ? p : nullptr;
}

bool packets::possible(endpoint& e, io::kind k) noexcept {
    if (e.stage != stage::connected || k == io::kind::accept)
        return streams_.possible(e, k);
    if (e.error || moves_all(k))
        return true; // fails at once
    endpoint* const p = receiver_of(e);
    bool const is_at_end = e.deaf || e.end_arrived;
    if (k == io::kind::wait_error) // poll(2) counts a connection that is shut both ways as hung up
        return !p && is_at_end;
    if (!io::is_write(k))
        return is_at_end || !e.datagrams.empty();
    return !p || p->datagram_bytes < send_buffer;
}

bool packets::attempt(endpoint& e, io::io_op& o) noexcept {
    switch (o.kind) {
    case io::kind::receive:
    case io::kind::receive_from: return receive(e, o);
    case io::kind::send:
    case io::kind::send_to: return send(e, o); // The name is ignored, as Linux does.
    case io::kind::accept: return streams_.attempt(e, o, false);
    case io::kind::receive_all:
    case io::kind::receive_lent:
    case io::kind::send_all: return done(o, EOPNOTSUPP);
    case io::kind::connect: return false; // takes its time
    case io::kind::wait_read:
    case io::kind::wait_write:
    case io::kind::wait_error: break;
    }
    return possible(e, o.kind) && done(o, 0);
}

bool packets::receive(endpoint& e, io::io_op& o) noexcept {
    if (faults_.happens(rule::no_buffers))
        return done(o, ENOBUFS);
    if (e.stage == stage::connecting)
        return false;
    if (e.stage != stage::connected)
        return done(o, ENOTCONN);
    if (o.message_flags & MSG_OOB)
        return done(o, EOPNOTSUPP);
    if (e.error) // before the packets that have come
        return done(o, std::exchange(e.error, 0));
    if (e.datagrams.empty())
        return (e.deaf || e.end_arrived) && done(o, 0);
    auto& first = e.datagrams.front();
    auto const n = scatter(first.bytes, o);
    bool const is_cut = n < first.bytes.size();
    done(o, is_cut ? EMSGSIZE : 0);
    o.result.n = n;
    o.result.flags = is_cut ? MSG_TRUNC : 0; // Linux reports no end of record.
    tell_sender(first.from, o);
    note(e, what::received, n);
    counts_.received += n;
    if (!(o.message_flags & MSG_PEEK)) {
        e.datagram_bytes -= first.cost();
        e.datagrams.pop_front();
        if (endpoint* const p = find(e.peer); p && !p->writes.empty())
            serve_soon(*p, true);
    }
    return true;
}

bool packets::send(endpoint& e, io::io_op& o) noexcept {
    if (faults_.happens(rule::no_buffers))
        return done(o, ENOBUFS);
    if (e.stage == stage::connecting)
        return false;
    if (e.error)
        return done(o, std::exchange(e.error, 0));
    if (e.stage != stage::connected)
        return done(o, ENOTCONN);
    if (o.message_flags & MSG_OOB)
        return done(o, EOPNOTSUPP);
    auto const size = total_of(o);
    if (size > largest)
        return done(o, EMSGSIZE);
    endpoint* const p = receiver_of(e);
    if (!p)
        return done(o, EPIPE);
    if (p->datagram_bytes >= send_buffer)
        return false;
    return datagrams_.put(e, *p, o, size);
}

void packets::finish(endpoint& to) noexcept {
    if (to.end_arrived)
        return;
    to.end_arrived = true;
    note(to, what::finished);
    serve_soon(to, false);
}

void packets::reset(endpoint& to) noexcept {
    to.error = ECONNRESET;
    ++counts_.resets;
    note(to, what::reset, ECONNRESET);
    finish(to);
    serve_soon(to, false); // Its end may have been there before.
    serve_soon(to, true);
}

std::size_t packets::unacknowledged(endpoint& e) noexcept {
    endpoint* const p = find(e.peer);
    return p ? p->datagram_bytes : 0;
}

} // namespace fairlead::sim
