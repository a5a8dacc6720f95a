#include "network.hpp"

#include <algorithm>
#include <utility>

#include <sys/socket.h>

namespace fairlead::sim {

network::network(std::uint64_t seed, std::string_view settings)
    : shared_state(seed, settings),
      actions(time),
      zone(*this),
      streams_(*this, operations_, descriptors_),
      packets_(*this, streams_, datagrams_),
      datagrams_(*this, operations_),
      connects_(*this, operations_, streams_, packets_),
      operations_(*this, streams_, packets_, datagrams_, connects_),
      descriptors_(*this, operations_, streams_, packets_, connects_) {}

// ---- for the world

void network::join(host_state& m) {
    links.join(m);
    time.make_space();
}

void network::jump(std::int64_t to_ns) noexcept {
    time.jump(to_ns);
    trace.note(now_ns(), 0, what::jump, 0);
}

bool network::deliver() {
    bool any = false;
    while (time.is_due() && time.step()) {
        event const e = time.take();
        ++counts.events;
        any = true;
        happen(e);
    }
    return any;
}

void network::happen(event const& due) {
    switch (due.kind) {
    case event_kind::look_up: return zone.answer(due.index);
    case event_kind::datagram: return datagrams_.land(due.index);
    case event_kind::action: return actions.run(due.index);
    default: break;
    }
    endpoint* const found = find({due.index, due.generation});
    if (!found)
        return; // closed meanwhile
    endpoint& e = *found;
    e.scheduled &= static_cast<std::uint16_t>(~(1U << static_cast<unsigned>(due.kind)));
    switch (due.kind) {
    case event_kind::arrive: return streams_.arrive(e);
    case event_kind::serve_read: return operations_.serve(e, e.reads);
    case event_kind::serve_write: return operations_.serve(e, e.writes);
    case event_kind::connect: return connects_.attempt(e);
    case event_kind::reset: return streams_.reset_arrives(e);
    case event_kind::unanswered: return streams_.learn_that_nobody_is_there(e);
    case event_kind::acknowledge: return streams_.acknowledge(e);
    case event_kind::abort: return operations_.abort_late(e);
    case event_kind::probe: return streams_.probe(e);
    case event_kind::look_up:
    case event_kind::datagram:
    case event_kind::action: break;
    }
}

void network::shut(host_state& m, bool silently) noexcept {
    descriptors_.close_all(m, silently);
    m.names.clear();
}

std::size_t network::waiting_for_clients(host_state const& m) const noexcept {
    std::size_t n = 0;
    for (auto const& e : endpoints.all())
        if (e->owner == &m)
            e->reads.for_each([&](op& o) {
                auto const k = static_cast<io::io_op&>(o).kind;
                bool const receives = k == io::kind::receive || k == io::kind::receive_from;
                n += e->stage == stage::listening ? k == io::kind::accept || k == io::kind::wait_read
                                                  : !e->is_connection() && e->named_port && receives;
            });
    return n;
}

std::string network::waiting() const {
    static constexpr char const* names[] = {"receive",        "receive all",  "accept",         "wait for read",
                                            "wait for error", "receive from", "receive",        "send",
                                            "send all",       "connect",      "wait for write", "send to"};
    constexpr std::size_t most = 16;
    std::string text;
    std::size_t n = 0;
    auto const add = [&](std::string const& line) {
        if (n++ < most)
            text += "  " + line + '\n';
    };
    for (auto const& e : endpoints.all())
        for (op_queue* q : {&e->reads, &e->writes})
            q->for_each([&](op& o) {
                add(std::string(names[static_cast<std::size_t>(static_cast<io::io_op&>(o).kind)]) + " on #" +
                    std::to_string(e->index) + " of " + e->owner->name);
            });
    if (n == 0)
        text = "  no operation on a socket: a signal, a work guard, a channel or the like, or a timer that never "
               "expires\n";
    else if (n > most)
        text += "  and " + std::to_string(n - most) + " more\n";
    return text;
}

// ---- for drivers

void network::stop(host_state& m, sim::verdict v) noexcept {
    if (verdict == sim::verdict::none)
        verdict = v;
    m.context.stop();
}

void network::arrange(host_state& m, op_queue& q) noexcept {
    // A batch is at most 64 items: who is not among the first 128 now will be soon, and the cost stays bounded.
    constexpr std::uint32_t most = 128;
    op* ops[most];
    ++counts.turns;
    if (!time.step())
        stop(m, sim::verdict::too_many_steps);
    if (!faults.happens(rule::reorder))
        return;
    std::uint32_t n = 0;
    while (n != most && !q.empty())
        ops[n++] = q.pop_front();
    std::uint64_t hash = n;
    auto& stream = faults.stream(rule::reorder);
    for (auto i = n; i-- > 1;) {
        auto const j = stream.below(i + 1);
        std::swap(ops[i], ops[j]);
        hash = hash * 0x100000001b3U + j;
    }
    while (n != 0)
        q.push_front(*ops[--n]);
    trace.note(now_ns(), m.id, what::order, hash);
}

void network::poll(host_state& m, std::int64_t until_ns) noexcept {
    bool const was_at_limit = std::exchange(at_limit_, false);
    auto const deliver_for = [&] {
        bool const any = deliver();
        if (time.steps > time.steps_most)
            stop(m, sim::verdict::too_many_steps);
        return any;
    };
    if (until_ns == 0) {
        // Somebody is busy, or only looks: even so time must pass, or what he waits for would never come. Not so when
        // run_until() has its last look.
        if (!was_at_limit)
            time.pass(1'000 + time.below(20'000));
        deliver_for();
        return;
    }
    if (deliver_for())
        return;
    bool const limited = until_ns > 0 && until_ns < never_ns;
    auto const limit = limited ? m.clock.world_ns(until_ns) : never_ns;
    if (!time.has_events() && !limited)
        return stop(m, sim::verdict::stuck);
    if (limit < time.next_event_ns()) {
        time.jump(limit);
        at_limit_ = true;
        trace.note(now_ns(), m.id, what::jump, 0);
        return;
    }
    time.jump(time.next_event_ns());
    deliver_for();
}

int network::set_option(endpoint& e, int level, int key, void const* data, std::size_t size) noexcept {
    int const error = e.set_option(level, key, data, size);
    if (!error && level == SOL_SOCKET && key == SO_KEEPALIVE)
        streams_.keep_alive(e);
    return error;
}

void network::take_pending(host_state& m, op_queue& into) noexcept {
    operations_.take_pending(m, into);
    zone.take_pending(m, into);
    m.pending = 0;
}

} // namespace fairlead::sim
