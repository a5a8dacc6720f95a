#include "operations.hpp"

#include "connects.hpp"
#include "datagrams.hpp"
#include "packets.hpp"
#include "streams.hpp"
#include "transfer.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::int64_t neighbour_gives_up_ns = 3'000'000'000; // nobody has that address
constexpr unsigned to_be_aborted = 1;                         // in the flags of an op's result

bool is_done_at_once(endpoint const& e, io::io_op const& o) noexcept { return e.is_stream() && moves_nothing(o); }

/// The op that is to move something next. Waits stand in the same queue, but neither hold up transfers nor are held up.
io::io_op* first_transfer(op_queue& queue) noexcept {
    if (queue.empty())
        return nullptr;
    if (auto& o = static_cast<io::io_op&>(*queue.front()); !is_wait(o.kind)) [[likely]]
        return &o;
    io::io_op* first = nullptr;
    queue.for_each([&](op& each) {
        if (auto& o = static_cast<io::io_op&>(each); !first && !is_wait(o.kind))
            first = &o;
    });
    return first;
}

} // namespace

bool operations::possible(endpoint& e, io::kind k) noexcept {
    return e.is_stream()    ? streams_.possible(e, k)
           : e.is_packets() ? packets_.possible(e, k)
                            : datagrams_.possible(e, k);
}

bool operations::attempt(endpoint& e, io::io_op& o, bool whole) noexcept {
    return e.is_stream()    ? streams_.attempt(e, o, whole)
           : e.is_packets() ? packets_.attempt(e, o)
                            : datagrams_.attempt(e, o);
}

void operations::complete(endpoint& e, io::io_op& o) noexcept {
    if (o.result.error)
        note(e, what::failed, static_cast<std::uint64_t>(static_cast<std::int64_t>(o.result.error)));
    --e.owner->pending;
    e.owner->context.as_loop().push(o);
}

bool operations::ready(endpoint& e, io::kind k, std::size_t size) noexcept {
    if (first_transfer(e.queue(k)))
        return false;
    bool const is = size == 0 || possible(e, k);
    // A kernel driver's memory of readiness is wrong in both directions, too.
    if (is)
        return !faults_.happens(rule::not_ready);
    return faults_.rate(rule::not_ready) != 0 && faults_.stream(rule::not_ready).chance(64);
}

bool operations::try_now(endpoint& e, io::io_op& o) noexcept {
    if (first_transfer(e.queue(o.kind)) || o.kind == io::kind::connect)
        return false;
    o.stream = e.is_stream();
    return !faults_.happens(rule::not_ready) && attempt(e, o, true);
}

void operations::submit(host_state& m, io::io_op& o) noexcept {
    endpoint* const e = find(o.handle);
    if (!e) {
        o.result.error = EBADF;
        m.context.as_loop().push(o);
        return;
    }
    ++m.pending;
    o.stream = e->is_stream();
    op_queue& queue = e->queue(o.kind);
    if (o.kind == io::kind::connect) {
        if (int const error = connects_.start(*e, o)) {
            done(o, error);
            return complete(*e, o);
        }
        if (!e->is_connection()) {
            done(o, 0);
            return complete(*e, o);
        }
        queue.push_back(o);
        // There and back; nobody answers for a neighbour that does not exist.
        auto const there = e->far ? to_peer(*e) : neighbour_gives_up_ns;
        schedule(*e, event_kind::connect, now() + there + (e->far ? from_peer(*e) : 0));
        return;
    }
    bool const is_first = is_wait(o.kind) || !first_transfer(queue);
    if (is_first && !faults_.happens(rule::not_ready) && attempt(*e, o, false))
        return complete(*e, o);
    queue.push_back(o);
    if (possible(*e, o.kind) || is_done_at_once(*e, o))
        serve_soon(*e, is_write(o.kind));
}

void operations::serve(endpoint& e, op_queue& queue) noexcept {
    bool const write = &queue == &e.writes;
    auto const put_off = [&] {
        bool const yes = faults_.happens(rule::not_ready);
        if (yes) {
            note(e, what::not_yet);
            serve_soon(e, write);
        }
        return yes;
    };
    for (op_queue* q : {&e.reads, &e.writes}) // A way that is shut concerns those who wait for an error, too.
        q->for_each([&](op& each) {
            auto& o = static_cast<io::io_op&>(each);
            if (!is_wait(o.kind) || !possible(e, o.kind) || put_off())
                return;
            attempt(e, o, false);
            op_queue::unlink(o);
            complete(e, o);
        });
    while (io::io_op* const next = first_transfer(queue)) {
        io::io_op& o = *next;
        if (o.kind == io::kind::connect || !(possible(e, o.kind) || is_done_at_once(e, o)) || put_off())
            return;
        if (!attempt(e, o, false)) {
            if (possible(e, o.kind))
                serve_soon(e, write);
            return;
        }
        op_queue::unlink(o);
        complete(e, o);
    }
}

void operations::perform(io::io_op& o, bool may_wait) noexcept {
    o.result = {0, 0, 0};
    endpoint* const e = find(o.handle);
    if (!e) {
        o.result.error = EBADF;
        return;
    }
    o.stream = e->is_stream();
    int const not_now = may_wait ? EDEADLK : EAGAIN;
    if (o.kind == io::kind::connect) {
        int error = connects_.start(*e, o);
        if (!error && e->is_connection()) {
            error = connects_.establish(*e);
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

void operations::abort(endpoint& e, io::io_op& o) noexcept {
    op_queue::unlink(o);
    note(e, what::cancelled, static_cast<std::uint64_t>(o.kind));
    done(o, ECANCELED);
    complete(e, o);
}

/// A cancellation may take its time, as io_uring's does; what completes before is the truth. Connecting ends at once:
/// the connection would be known to nobody.
bool operations::cancel(endpoint& e, io::io_op& o) noexcept {
    bool found = false;
    e.queue(o.kind).for_each([&](op& each) { found = found || &each == &o; });
    if (!found || o.result.flags == to_be_aborted)
        return false;
    if (o.kind != io::kind::connect && faults_.happens(rule::late_cancel)) {
        o.result.flags = to_be_aborted;
        schedule(e, event_kind::abort, now() + links_.local_delay());
    } else {
        abort(e, o);
    }
    return true;
}

bool operations::cancel(endpoint& e, void* ticket) noexcept {
    io::io_op* found = nullptr;
    for (op_queue* q : {&e.reads, &e.writes})
        q->for_each([&](op& each) {
            if (fairlead::impl::exec::has_ticket(each, ticket))
                found = &static_cast<io::io_op&>(each);
        });
    return found && cancel(e, *found);
}

void operations::cancel_marked(host_state const& m) noexcept {
    for (auto const& e : endpoints_.all())
        for (op_queue* q : {&e->reads, &e->writes})
            q->for_each([&](op& o) {
                if (e->owner == &m && fairlead::impl::exec::is_marked_asked(o))
                    cancel(*e, static_cast<io::io_op&>(o));
            });
}

std::size_t operations::cancel_all(endpoint& e) noexcept {
    std::size_t n = 0;
    for (op_queue* q : {&e.reads, &e.writes})
        q->for_each([&](op& o) { n += cancel(e, static_cast<io::io_op&>(o)); });
    return n;
}

void operations::abort_late(endpoint& e) noexcept {
    for (op_queue* q : {&e.reads, &e.writes})
        q->for_each([&](op& o) {
            if (o.result.flags == to_be_aborted)
                abort(e, static_cast<io::io_op&>(o));
        });
}

std::size_t operations::abort_all(endpoint& e) noexcept {
    std::size_t n = 0;
    for (op_queue* q : {&e.reads, &e.writes})
        for (; !q->empty(); ++n)
            abort(e, static_cast<io::io_op&>(*q->front()));
    return n;
}

void operations::take_pending(host_state const& m, op_queue& into) noexcept {
    for (auto const& e : endpoints_.all())
        if (e->owner == &m) {
            into.splice_back(e->reads);
            into.splice_back(e->writes);
        }
}

} // namespace fairlead::sim
