// Operations on stream sockets, and the bytes that they move: what the kernel's TCP does, as far as a program can tell.
#include "network.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr int eof_value = -static_cast<int>(error::eof);

std::size_t total_of(io::io_op const& o) noexcept {
    if (!o.slices)
        return o.size;
    std::size_t total = 0;
    auto const* s = static_cast<io::slice const*>(o.data);
    for (std::size_t i = 0; i != o.size; ++i)
        total += s[i].size;
    return total;
}

/// Calls f(data, size) for the pieces of the op's first n bytes.
template <class F> void for_each_piece(io::io_op const& o, std::size_t n, F f) noexcept {
    if (!o.slices)
        return f(o.data, n);
    for (auto const* s = static_cast<io::slice const*>(o.data); n != 0; ++s) {
        auto const here = std::min(n, s->size);
        f(s->base, here);
        n -= here;
    }
}

/// Drops the first n bytes of what an …_all op still has to move.
void advance(io::io_op& o, std::size_t n) noexcept {
    if (!o.slices) {
        o.data = static_cast<std::byte*>(o.data) + n;
        o.size -= n;
        return;
    }
    auto* s = static_cast<io::slice*>(o.data);
    while (o.size && n >= s->size) {
        n -= s->size;
        ++s;
        --o.size;
    }
    if (n) {
        s->base = static_cast<std::byte*>(s->base) + n;
        s->size -= n;
    }
    o.data = s;
}

bool moves_all(io::kind k) noexcept { return k == io::kind::receive_all || k == io::kind::send_all; }

bool done(io::io_op& o, int error) noexcept {
    o.result.error = error;
    if (!moves_all(o.kind))
        o.result.n = 0;
    return true;
}

} // namespace

// ---- attempts

/// How many bytes a send could move now.
std::uint32_t network::room(endpoint& e) noexcept {
    if (endpoint* const p = find(e.peer))
        return p->in.space();
    return e.is_unix() ? 0 : pipe::window - e.lost;
}

bool network::possible(endpoint& e, io::kind k) noexcept {
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
    if (k == io::kind::wait_error)
        return false;
    if (!is_write(k))
        return e.in.readable() != 0 || e.end_arrived || e.deaf;
    if (e.finished || room(e) != 0)
        return true;
    endpoint* const p = find(e.peer);
    return e.is_unix() && (!p || p->deaf);
}

std::uint32_t network::cut(std::uint32_t n, std::uint32_t of_1024, std::uint64_t& counter) noexcept {
    if (n < 2 || !faults_.chance(of_1024))
        return n;
    ++counter;
    bool const tiny = faults_.chance(256);
    return 1 + faults_.below(tiny ? std::min(n - 1, 16U) : n - 1);
}

/// True: done, the result is in the op. `whole`: an …_all op is either done or left as it was.
bool network::attempt(endpoint& e, io::io_op& o, bool whole) noexcept {
    switch (o.kind) {
    case io::kind::receive:
    case io::kind::receive_all: return receive(e, o, whole);
    case io::kind::send:
    case io::kind::send_all: return send(e, o, whole);
    case io::kind::accept: return accept(e, o);
    case io::kind::connect: return false; // takes its time
    case io::kind::wait_read:
    case io::kind::wait_write:
    case io::kind::wait_error: break;
    }
    if (!possible(e, o.kind))
        return false;
    return done(o, 0);
}

bool network::receive(endpoint& e, io::io_op& o, bool whole) noexcept {
    bool const all = o.kind == io::kind::receive_all;
    bool const peek = o.message_flags & MSG_PEEK;
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
            if (e.error)
                return done(o, std::exchange(e.error, 0));
            return e.end_arrived || e.deaf || e.broken ? done(o, eof_value) : false;
        }
        if (all && whole && there != wanted && !e.end_arrived && !e.deaf && !e.broken)
            return false;
        auto const n = all && whole ? there : cut(there, habits_.short_read, counts.short_reads);
        std::uint32_t copied = 0;
        for_each_piece(o, n, [&](void* to, std::size_t size) {
            e.in.copy(to, size, copied);
            copied += static_cast<std::uint32_t>(size);
        });
        if (!peek) {
            e.in.take(n);
            counts.received += n;
            if (endpoint* const p = find(e.peer); p && !p->writes.empty())
                serve_soon(*p, true);
        }
        note(what::received, e.index, n);
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

bool network::send(endpoint& e, io::io_op& o, bool whole) noexcept {
    bool const all = o.kind == io::kind::send_all;
    for (;;) {
        auto const wanted = total_of(o);
        if (wanted == 0)
            return done(o, 0);
        if (e.stage == stage::connecting)
            return false;
        if (e.stage != stage::connected)
            return done(o, e.is_unix() ? ENOTCONN : EPIPE);
        if (e.error)
            return done(o, std::exchange(e.error, 0));
        endpoint* const p = find(e.peer);
        if (e.finished || e.broken || (e.is_unix() && (!p || p->deaf)))
            return done(o, EPIPE);
        if (o.message_flags & MSG_OOB)
            return done(o, EOPNOTSUPP);
        auto const taken = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, room(e)));
        if (taken == 0 || (all && whole && taken != wanted))
            return false;
        auto const n = all && whole ? taken : cut(taken, habits_.short_write, counts.short_writes);
        if (p) {
            for_each_piece(o, n, [&](void const* from, std::size_t size) { p->in.put(from, size); });
            p->in.send(n, now_ + latency());
            schedule(*p, slot::arrive, p->in.next_arrival_ns());
        } else { // nobody lives there any more; the answer is on its way
            e.lost += n;
            reset_later(e);
        }
        counts.sent += n;
        note(what::sent, e.index, n);
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

bool network::accept(endpoint& e, io::io_op& o) noexcept {
    if (e.stage != stage::listening)
        return done(o, EINVAL);
    if (e.backlog.empty())
        return false;
    auto const h = e.backlog.front();
    e.backlog.erase(e.backlog.begin());
    endpoint const& made = *find(h);
    if (o.data) {
        std::memcpy(o.data, made.remote.bytes, std::min<std::size_t>(o.size, made.remote.size));
        o.size = made.remote.size;
    }
    done(o, 0);
    o.result.n = std::size_t{h.generation} << 32 | h.index;
    note(what::accepted, e.index, h.index);
    return true;
}

// ---- queues

void network::complete(endpoint& e, io::io_op& o) noexcept {
    if (o.result.error)
        note(what::failed, e.index, static_cast<std::uint64_t>(static_cast<std::int64_t>(o.result.error)));
    --e.owner->pending;
    e.owner->l->push(o);
}

bool network::ready(endpoint& e, io::kind k, std::size_t size) noexcept {
    if (!e.queue(k).empty())
        return false;
    bool const is = size == 0 || possible(e, k);
    // A kernel driver's memory of readiness is wrong in both directions, too.
    return faults_.chance(is ? habits_.not_ready : 64) ? !is : is;
}

bool network::try_now(endpoint& e, io::io_op& o) noexcept {
    if (!e.queue(o.kind).empty() || o.kind == io::kind::connect)
        return false;
    o.stream = true;
    if (faults_.chance(habits_.not_ready)) {
        ++counts.not_ready;
        return false;
    }
    return attempt(e, o, true);
}

void network::submit(host& h, io::io_op& o) noexcept {
    ++h.pending;
    o.stream = true;
    endpoint* const e = find(o.handle);
    if (!e) {
        o.result.error = EBADF;
        --h.pending;
        h.l->push(o);
        return;
    }
    op_queue& queue = e->queue(o.kind);
    if (o.kind == io::kind::connect) {
        if (int const error = start_connect(*e, o)) {
            done(o, error);
            return complete(*e, o);
        }
        queue.push_back(o);
        schedule(*e, slot::connect, now_ + 2 * latency());
        return;
    }
    if (queue.empty() && !faults_.chance(habits_.not_ready) && attempt(*e, o, false))
        return complete(*e, o);
    queue.push_back(o);
    if (possible(*e, o.kind) || total_of(o) == 0)
        serve_soon(*e, is_write(o.kind));
}

void network::serve(endpoint& e, op_queue& queue) noexcept {
    while (!queue.empty()) {
        auto& o = static_cast<io::io_op&>(*queue.front());
        bool const write = is_write(o.kind);
        bool const moves = !write ? o.kind == io::kind::receive || o.kind == io::kind::receive_all
                                  : o.kind == io::kind::send || o.kind == io::kind::send_all;
        if (o.kind == io::kind::connect || !(possible(e, o.kind) || (moves && total_of(o) == 0)))
            return;
        if (faults_.chance(habits_.not_ready)) {
            ++counts.not_ready;
            note(what::not_yet, e.index);
            return serve_soon(e, write);
        }
        if (!attempt(e, o, false)) {
            if (possible(e, o.kind))
                serve_soon(e, write);
            return;
        }
        op_queue::unlink(o);
        complete(e, o);
    }
}

void network::perform(io::io_op& o, bool may_wait) noexcept {
    o.result = {0, 0, 0};
    o.stream = true;
    endpoint* const e = find(o.handle);
    if (!e) {
        o.result.error = EBADF;
        return;
    }
    int const not_now = may_wait ? EDEADLK : EAGAIN;
    if (o.kind == io::kind::connect) {
        int error = start_connect(*e, o);
        if (!error) {
            error = establish(*e);
            if (error) {
                e->stage = stage::fresh;
                e->remote = {};
            }
        }
        done(o, error == EAGAIN && !e->is_unix() ? not_now : error);
        return;
    }
    do {
        if (attempt(*e, o, false))
            return;
    } while (possible(*e, o.kind));
    o.result.error = not_now;
}

void network::abort(endpoint& e, io::io_op& o) noexcept {
    op_queue::unlink(o);
    note(what::cancelled, e.index, static_cast<std::uint64_t>(o.kind));
    done(o, ECANCELED);
    complete(e, o);
}

bool network::cancel(endpoint& e, io::io_op& o) noexcept {
    bool found = false;
    e.queue(o.kind).for_each([&](op& each) { found = found || &each == &o; });
    if (found)
        abort(e, o);
    return found;
}

std::size_t network::cancel_all(endpoint& e) noexcept {
    std::size_t n = 0;
    for (op_queue* q : {&e.reads, &e.writes})
        for (; !q->empty(); ++n)
            abort(e, static_cast<io::io_op&>(*q->front()));
    return n;
}

void network::take_pending(host& h, op_queue& into) noexcept {
    for (auto const& e : endpoints_)
        if (e->owner == &h) {
            into.splice_back(e->reads);
            into.splice_back(e->writes);
        }
    std::erase_if(look_ups_, [&](pending_look_up const& l) {
        if (l.asker == &h)
            into.push_back(*l.o);
        return l.asker == &h;
    });
    h.pending = 0;
}

// ---- what arrives

void network::arrive(endpoint& e) noexcept {
    if (e.broken || e.end_arrived)
        return;
    if (e.in.flying() != 0) {
        auto const n = e.in.arrive();
        note(what::arrived, e.index, n);
        if (e.in.flying() != 0)
            schedule(e, slot::arrive, std::max(now_, e.in.next_arrival_ns()));
        else if (e.end_sent)
            schedule(e, slot::arrive, now_ + latency());
    } else if (e.end_sent) {
        e.end_arrived = true;
        note(what::finished, e.index);
    }
    serve(e, e.reads);
}

/// The peer sends no more.
void network::finish(endpoint& to) noexcept {
    if (to.end_sent || to.broken)
        return;
    to.end_sent = true;
    if (to.in.flying() == 0)
        schedule(to, slot::arrive, now_ + latency());
}

void network::reset_later(endpoint& e) noexcept {
    if (e.broken)
        return;
    auto at = now_ + latency();
    // Within one machine what was sent has arrived; on its way over a network it may be lost, but never overtaken.
    if (e.is_unix() && e.in.flying() != 0)
        at = std::max(at, e.in.last_arrival_ns() + 1);
    schedule(e, slot::reset, at);
}

void network::reset(endpoint& e) noexcept {
    if (e.broken)
        return;
    e.in.drop_flying();
    e.error = e.end_arrived && !e.is_unix() ? EPIPE : ECONNRESET;
    e.broken = true;
    e.peer = {};
    ++counts.resets;
    note(what::reset, e.index);
    serve(e, e.reads);
    serve(e, e.writes);
}

} // namespace fairlead::sim
