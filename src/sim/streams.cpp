#include "streams.hpp"

#include "descriptors.hpp"
#include "operations.hpp"
#include "transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::uint32_t segment_least = 1448; // what a TCP segment carries on Ethernet
constexpr std::uint32_t segments_of_a_send = 8;
constexpr std::uint32_t whole_in_a_pipe = 4096; // PIPE_BUF: a write of so much is never split
constexpr std::int64_t retransmission_most_ns = 120'000'000'000;
constexpr std::int64_t gives_up_after_ns = 924'600'000'000; // tcp_retries2 is 15
constexpr unsigned orphan_tries_most = 8;                   // tcp_orphan_retries, when nobody holds the socket any more

/// When a segment that was lost for the n-th time is sent again.
std::int64_t backoff(unsigned n) noexcept {
    constexpr auto first = retransmission_ns;
    return n > 9 ? retransmission_most_ns : std::min(first << n, retransmission_most_ns);
}

/// An option of TCP in seconds, as nanoseconds.
std::int64_t seconds_option(endpoint const& e, int key, int usual) noexcept {
    int const set = e.number_option(IPPROTO_TCP, key);
    return std::int64_t{1'000'000'000} * (set > 0 ? set : usual);
}

} // namespace

// ---- attempts

/// The other end of the connection, unless it has no memory of the connection.
endpoint* streams::living_peer(endpoint& e) noexcept {
    endpoint* const p = find(e.peer);
    return p && !p->broken ? p : nullptr;
}

/// How many bytes a send could move now.
std::uint32_t streams::space(endpoint& e) noexcept {
    if (endpoint* const p = living_peer(e))
        return p->in.space();
    return e.is_unix() ? 0 : pipe::window - e.lost;
}

bool streams::possible(endpoint& e, io::kind k) noexcept {
    if (e.refusal(k))
        return true; // fails at once
    switch (e.stage) {
    case stage::fresh: return true; // fails at once; to poll(2) the socket is hung up
    case stage::connecting: return k == io::kind::accept;
    case stage::listening:
        return k == io::kind::accept || k == io::kind::wait_read
                   ? !e.backlog.empty()
                   : k != io::kind::wait_write && k != io::kind::wait_error;
    case stage::connected: break;
    }
    if (e.broken || e.error || k == io::kind::accept)
        return true;
    endpoint* const p = living_peer(e);
    if (e.is_pipe() && is_wait(k) && (k == io::kind::wait_error || is_write(k) != (e.sort == sort::write_end)))
        return !p; // To poll(2) it is hung up, or broken.
    bool const peer_is_deaf = e.is_unix() && (!p || p->deaf);
    if (k == io::kind::wait_error) // poll(2) counts a stream that is shut both ways as hung up
        return (e.finished || peer_is_deaf) && (e.deaf || e.end_arrived);
    if (!is_write(k))
        return e.in.readable() != 0 || e.end_arrived || e.deaf;
    return e.finished || peer_is_deaf || space(e) >= (e.is_pipe() ? whole_in_a_pipe : 1);
}

std::uint32_t streams::cut(std::uint32_t n, rule r) noexcept {
    if (n < 2 || !faults_.happens(r))
        return n;
    auto& stream = faults_.stream(r);
    bool const tiny = stream.chance(256);
    return 1 + stream.below(tiny ? std::min(n - 1, 16U) : n - 1);
}

/// A transfer that fails for no reason of the program. True: it did.
bool streams::break_down(endpoint& e, io::io_op& o) noexcept {
    if (e.is_pipe())
        return false;
    if (faults_.happens(rule::no_buffers))
        return done(o, ENOBUFS);
    if (!e.is_unix() && e.stage == stage::connected && !e.broken && faults_.happens(rule::reset)) {
        break_connection(e);
        return done(o, std::exchange(e.error, 0));
    }
    return false;
}

bool streams::attempt(endpoint& e, io::io_op& o, bool whole) noexcept {
    if (int const error = e.refusal(o.kind))
        return done(o, error);
    switch (o.kind) {
    case io::kind::receive:
    case io::kind::receive_all: return receive(e, o, whole);
    case io::kind::receive_lent: return receive_lent(e, o, whole);
    case io::kind::send:
    case io::kind::send_all: return send(e, o, whole);
    case io::kind::accept: return accept(e, o);
    case io::kind::connect: return false; // takes its time
    case io::kind::wait_read:
    case io::kind::wait_write:
    case io::kind::wait_error:
    case io::kind::receive_from:
    case io::kind::send_to: break;
    }
    if (!possible(e, o.kind))
        return false;
    return done(o, 0);
}

bool streams::receive_lent(endpoint& e, io::io_op& o, bool whole) noexcept {
    auto* const from = static_cast<io::lender*>(o.data);
    void* const into = from->lend();
    if (!into)
        return done(o, ENOMEM);
    o.data = into;
    bool const is_done = receive(e, o, whole);
    o.data = from;
    if (!is_done)
        from->take_back();
    return is_done;
}

bool streams::receive(endpoint& e, io::io_op& o, bool whole) noexcept {
    bool const all = o.kind == io::kind::receive_all;
    bool const peek = o.message_flags & MSG_PEEK;
    if (break_down(e, o))
        return true;
    for (;;) {
        auto const wanted = total_of(o);
        if (wanted == 0)
            return done(o, 0);
        if (e.stage == stage::connecting)
            return false;
        if (e.stage != stage::connected)
            return done(o, e.is_unix() ? EINVAL : ENOTCONN);
        if (o.message_flags & MSG_OOB)
            return done(o, e.is_unix() ? EOPNOTSUPP : EINVAL);
        auto const there = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, e.in.readable()));
        if (there == 0) {
            // To TCP the end is final: an error that comes after it is the writer's.
            if (e.error && (e.is_unix() || !e.end_arrived))
                return done(o, std::exchange(e.error, 0));
            return e.end_arrived || e.deaf || e.broken ? done(o, eof_value) : false;
        }
        if (all && whole && there != wanted && !e.end_arrived && !e.deaf && !e.broken)
            return false;
        auto const n = all && whole ? there : cut(there, rule::short_read);
        std::uint32_t copied = 0;
        for_each_piece(o, n, [&](void* to, std::size_t size) {
            e.in.copy(to, size, copied);
            copied += static_cast<std::uint32_t>(size);
        });
        if (!peek) {
            e.in.take(n);
            counts_.received += n;
            if (endpoint* const p = living_peer(e); p && !p->writes.empty())
                schedule(*p, event_kind::serve_write, now() + to_peer(e));
        }
        note(e, what::received, n);
        if (!all || peek) {
            done(o, 0);
            o.result.n = n;
            return true;
        }
        o.result.n += n;
        advance(o, n);
        if (n != there)
            return false;
    }
}

bool streams::send(endpoint& e, io::io_op& o, bool whole) noexcept {
    bool const all = o.kind == io::kind::send_all;
    if (break_down(e, o))
        return true;
    for (;;) {
        auto const wanted = total_of(o);
        if (wanted == 0)
            return done(o, 0);
        if (e.stage == stage::connecting)
            return false;
        if (e.stage != stage::connected)
            return done(o, e.is_unix() ? ENOTCONN : EPIPE);
        if (e.error && !e.is_unix()) // UNIX sockets keep it for the reader.
            return done(o, std::exchange(e.error, 0));
        endpoint* const p = living_peer(e);
        if (e.finished || e.broken || (e.is_unix() && (!p || p->deaf)))
            return done(o, EPIPE);
        if (o.message_flags & MSG_OOB)
            return done(o, EOPNOTSUPP);
        auto const taken = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, space(e)));
        bool const is_whole = (all && whole) || (e.is_pipe() && wanted <= whole_in_a_pipe);
        if (taken == 0 || (is_whole && taken != wanted))
            return false;
        auto const n = is_whole ? taken : cut(taken, rule::short_write);
        if (p) {
            for_each_piece(o, n, [&](void const* from, std::size_t size) { p->in.put(from, size); });
            // Within a host it arrives at once, over a network in segments.
            auto const most = e.far == e.owner ? n : std::max(segment_least, n / segments_of_a_send + 1);
            for (auto left = n; left != 0;) {
                auto const size = std::min(left, most);
                bool const again = e.far != e.owner && faults_.happens(rule::loss);
                p->in.send(size, now() + to_peer(e, size) + (again ? retransmission_ns : 0));
                left -= size;
            }
            schedule(*p, event_kind::arrive, p->in.next_arrival_ns());
        } else { // Nobody lives there any more; the answer is on its way.
            e.lost += n;
            auto const there = to_peer(e, n);
            schedule(e, event_kind::unanswered, now() + there + from_peer(e));
        }
        counts_.sent += n;
        note(e, what::sent, n);
        if (!all) {
            done(o, 0);
            o.result.n = n;
            return true;
        }
        o.result.n += n;
        advance(o, n);
        if (n != taken)
            return false;
    }
}

bool streams::accept(endpoint& e, io::io_op& o) noexcept {
    if (e.stage != stage::listening)
        return done(o, EINVAL);
    if (e.backlog.empty())
        return false;
    if (faults_.happens(rule::accept_error)) {
        if (faults_.stream(rule::accept_error).below(2))
            return done(o, EMFILE);
        endpoint& gone = *find(e.backlog.front());
        e.backlog.erase(e.backlog.begin());
        descriptors_.turn_away(gone);
        return done(o, ECONNABORTED);
    }
    auto const h = e.backlog.front();
    e.backlog.erase(e.backlog.begin());
    endpoint const& made = *find(h);
    if (o.data) {
        std::memcpy(o.data, made.remote.bytes, std::min<std::size_t>(o.size, made.remote.size));
        o.size = made.remote.size;
    }
    done(o, 0);
    o.result.n = h.packed();
    note(e, what::accepted, h.index);
    return true;
}

// ---- what arrives

void streams::arrive(endpoint& e) noexcept {
    if (e.broken || e.end_arrived)
        return;
    if (e.far != e.owner && !passes(*e.far, *e.owner)) {
        // It is sent again and again, by a system that is still there to do so. A process that has closed is not
        // needed.
        note(e, what::lost);
        endpoint* const sender = find(e.peer);
        if (!e.far->is_up || (sender ? gives_up(*sender) : e.tries >= orphan_tries_most)) {
            e.in.drop_flying();
            return;
        }
        auto const again = now() + backoff(e.tries++);
        if (e.in.flying() != 0)
            e.in.delay(again);
        return schedule(e, event_kind::arrive, again);
    }
    e.tries = 0;
    endpoint* const sender = living_peer(e);
    if (sender && e.far != e.owner && !passes(*e.owner, *e.far)) {
        if (sender->stalled_since_ns == 0)
            sender->stalled_since_ns = now();
        schedule(*sender, event_kind::acknowledge, now() + retransmission_ns);
    } else if (sender) {
        sender->stalled_since_ns = 0;
    }
    if (e.in.flying() != 0) {
        auto const n = e.in.arrive();
        note(e, what::arrived, n);
        if (e.in.flying() != 0)
            schedule(e, event_kind::arrive, std::max(now(), e.in.next_arrival_ns()));
        else if (e.end_sent)
            schedule(e, event_kind::arrive, now() + from_peer(e));
    } else if (e.end_sent) {
        e.end_arrived = true;
        note(e, what::finished);
    }
    operations_.serve(e, e.reads);
}

/// The sender has waited too long for an acknowledgement: its connection is over.
bool streams::gives_up(endpoint& sender) noexcept {
    if (sender.stalled_since_ns == 0)
        sender.stalled_since_ns = now();
    auto const user_ms = sender.number_option(IPPROTO_TCP, TCP_USER_TIMEOUT);
    auto const most = user_ms > 0 ? std::int64_t{1'000'000} * user_ms : gives_up_after_ns;
    if (now() - sender.stalled_since_ns < most)
        return false;
    reset(sender, ETIMEDOUT);
    return true;
}

void streams::acknowledge(endpoint& e) noexcept {
    if (e.broken || e.stalled_since_ns == 0)
        return;
    if (living_peer(e) && passes_both_ways(e)) {
        e.stalled_since_ns = 0;
        e.tries = 0;
        return;
    }
    if (!gives_up(e))
        schedule(e, event_kind::acknowledge, now() + backoff(e.tries++));
}

void streams::keep_alive(endpoint& e) noexcept {
    if (e.stage == stage::connected && !e.is_unix() && e.is_stream() && e.number_option(SOL_SOCKET, SO_KEEPALIVE))
        schedule(e, event_kind::probe, now() + seconds_option(e, TCP_KEEPIDLE, 7'200));
}

void streams::probe(endpoint& e) noexcept {
    if (e.broken || !e.number_option(SOL_SOCKET, SO_KEEPALIVE))
        return;
    bool const is_answered = passes_both_ways(e);
    if (is_answered && !living_peer(e))
        return reset(e, ECONNRESET);
    if (is_answered) {
        e.probes = 0;
        return schedule(e, event_kind::probe, now() + seconds_option(e, TCP_KEEPIDLE, 7'200));
    }
    note(e, what::lost);
    int const most = e.number_option(IPPROTO_TCP, TCP_KEEPCNT);
    if (e.probes++ == static_cast<unsigned>(most > 0 ? most : 9))
        return reset(e, ETIMEDOUT);
    schedule(e, event_kind::probe, now() + seconds_option(e, TCP_KEEPINTVL, 75));
}

void streams::learn_that_nobody_is_there(endpoint& e) noexcept {
    if (e.broken)
        return;
    if (e.far == e.owner || passes_both_ways(e))
        return reset(e, e.end_arrived && !e.is_unix() ? EPIPE : ECONNRESET);
    note(e, what::lost);
    if (!gives_up(e))
        schedule(e, event_kind::unanswered, now() + backoff(e.tries++));
}

void streams::finish(endpoint& to) noexcept {
    if (to.end_sent || to.broken)
        return;
    to.end_sent = true;
    if (to.in.flying() == 0)
        schedule(to, event_kind::arrive, now() + from_peer(to));
}

void streams::reset_later(endpoint& e) noexcept {
    if (e.broken)
        return;
    if (endpoint* const p = find(e.peer)) // Bytes that the peer did not take still fill its window for ever.
        e.lost = p->in.readable() + p->in.flying();
    auto at = now() + from_peer(e);
    // Within one host what was sent has arrived; on its way over a network it may be lost, but never overtaken.
    if (e.is_unix() && e.in.flying() != 0)
        at = std::max(at, e.in.last_arrival_ns() + 1);
    schedule(e, event_kind::reset, at);
}

void streams::reset_arrives(endpoint& e) noexcept {
    if (!e.far || passes(*e.far, *e.owner))
        reset(e, e.end_arrived && !e.is_unix() ? EPIPE : ECONNRESET);
}

void streams::reset(endpoint& e, int error) noexcept {
    if (e.broken)
        return;
    e.in.drop_flying();
    e.error = error;
    e.broken = true;
    e.peer = {};
    ++counts_.resets;
    note(e, what::reset, static_cast<std::uint64_t>(error));
    operations_.serve(e, e.reads);
    operations_.serve(e, e.writes);
}

/// The connection is gone for both sides, with all that was on its way.
void streams::break_connection(endpoint& e) noexcept {
    if (endpoint* const p = living_peer(e))
        reset_later(*p);
    // Not reset(): its caller serves the queues.
    e.in.drop_flying();
    e.error = ECONNRESET;
    e.broken = true;
    e.peer = {};
    ++counts_.resets;
    note(e, what::reset, ECONNRESET);
    serve_soon(e, false);
    serve_soon(e, true);
}

std::size_t streams::unacknowledged(endpoint& e) noexcept {
    if (!e.is_stream())
        return 0;
    if (endpoint* const p = living_peer(e))
        return p->in.flying() + (e.is_unix() ? p->in.readable() : 0);
    return e.lost;
}

} // namespace fairlead::sim
