// Time, chance, links and descriptors. Connecting is in connect.cpp, bytes are in stream.cpp and datagram.cpp.
#include "network.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::uint16_t first_free_port = 32768, last_free_port = 60999;
constexpr std::chrono::hours latency_most(24 * 365);

} // namespace

network::network(std::uint64_t seed, std::string_view settings)
    : trace(seed),
      faults(seed, settings, counts),
      scheduling_(seed, 1),
      delays_(seed, 2),
      entropy_(seed, 3) {
    constexpr std::uint32_t local_delays[] = {1'000, 50'000, 2'000'000};
    local_delay_ns_ = local_delays[delays_.below(3)];
    // One room, one town, two continents.
    constexpr std::int64_t latencies[] = {50'000, 1'000'000, 40'000'000};
    auto const latency = latencies[delays_.below(3)];
    usual_link_.latency = std::chrono::nanoseconds(latency);
    usual_link_.jitter = std::chrono::nanoseconds(latency >> delays_.below(4));
}

// ---- time

std::uint64_t network::entropy() noexcept {
    auto const v = entropy_.next();
    note(nullptr, what::entropy, v);
    return v;
}

void network::stop(host_state& m, sim::verdict v) noexcept {
    if (verdict == sim::verdict::none)
        verdict = v;
    m.context.stop();
}

void network::jump(std::int64_t to_ns) noexcept {
    now_ = std::max(now_, to_ns);
    note(nullptr, what::jump, 0);
}

void network::arrange(host_state& m, op_queue& q) noexcept {
    // A batch is at most 64 items: who is not among the first 128 now will be soon, and the cost stays bounded.
    constexpr std::uint32_t most = 128;
    op* ops[most];
    ++counts.turns;
    if (!step())
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
    note(&m, what::order, hash);
}

void network::poll(host_state& m, std::int64_t until_ns) noexcept {
    bool const was_at_limit = std::exchange(at_limit_, false);
    auto const deliver_for = [&] {
        bool const any = deliver();
        if (steps > steps_most)
            stop(m, sim::verdict::too_many_steps);
        return any;
    };
    if (until_ns == 0) {
        // Somebody is busy, or only looks: even so time must pass, or what he waits for would never come. Not so when
        // run_until() has its last look.
        if (!was_at_limit)
            now_ += 1'000 + scheduling_.below(20'000);
        deliver_for();
        return;
    }
    if (deliver_for())
        return;
    bool const limited = until_ns > 0 && until_ns < never_ns;
    auto const limit = limited ? m.clock.world_ns(until_ns) : never_ns;
    if (events_.empty() && !limited)
        return stop(m, sim::verdict::stuck);
    if (limit < next_event_ns()) {
        now_ = std::max(now_, limit);
        at_limit_ = true;
        note(&m, what::jump, 0);
        return;
    }
    now_ = events_.front().at;
    deliver_for();
}

bool network::make_room() noexcept {
    // An endpoint has at most one event of each kind; those of closed ones stand in the queue until their time has
    // come.
    auto const needed = events_.size() + event_kinds_of_endpoint * (open_count_ + 1) + look_ups_.size() +
                        flying_count_ + actions_.size() + 2;
    try {
        if (events_.capacity() < needed)
            events_.reserve(2 * needed);
        return true;
    } catch (...) {
        return false;
    }
}

void network::push(std::int64_t at, event_kind k, io::handle h) noexcept {
    auto const order = scheduling_.next() >> 32 << 32 | event_count_++;
    events_.push_back({at, order, h.index, h.generation, k});
    std::push_heap(events_.begin(), events_.end(), [](event const& a, event const& b) { return a.later_than(b); });
}

void network::schedule(endpoint& e, event_kind k, std::int64_t at) noexcept {
    auto const bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(k));
    if (e.scheduled & bit)
        return;
    e.scheduled |= bit;
    push(at, k, e.handle());
}

void network::serve_soon(endpoint& e, bool write) noexcept {
    schedule(e, write ? event_kind::serve_write : event_kind::serve_read, now_ + local_delay());
}

bool network::deliver() {
    bool any = false;
    while (!events_.empty() && events_.front().at <= now_ && step()) {
        event const e = events_.front();
        std::pop_heap(events_.begin(), events_.end(), [](event const& a, event const& b) { return a.later_than(b); });
        events_.pop_back();
        ++counts.events;
        any = true;
        happen(e);
    }
    return any;
}

void network::happen(event const& due) {
    switch (due.kind) {
    case event_kind::look_up: return answer(due.index);
    case event_kind::datagram: return land(due.index);
    case event_kind::action: {
        auto const action = std::exchange(actions_[due.index], nullptr);
        if (std::all_of(actions_.begin(), actions_.end(), [](auto const& a) { return !a; }))
            actions_.clear();
        return action();
    }
    default: break;
    }
    endpoint* const found = find({due.index, due.generation});
    if (!found)
        return; // closed meanwhile
    endpoint& e = *found;
    e.scheduled &= static_cast<std::uint16_t>(~(1U << static_cast<unsigned>(due.kind)));
    switch (due.kind) {
    case event_kind::arrive: return arrive(e);
    case event_kind::serve_read: return serve(e, e.reads);
    case event_kind::serve_write: return serve(e, e.writes);
    case event_kind::connect: return try_connect(e);
    case event_kind::reset:
        if (!e.far || passes(*e.far, *e.owner))
            reset(e, e.end_arrived && !e.is_unix() ? EPIPE : ECONNRESET);
        return;
    case event_kind::unanswered: return learn_that_nobody_is_there(e);
    case event_kind::acknowledge: return acknowledge(e);
    case event_kind::abort: return abort_late(e);
    case event_kind::probe: return probe(e);
    case event_kind::look_up:
    case event_kind::datagram:
    case event_kind::action: break;
    }
}

void network::at(std::int64_t when_ns, std::function<void()> action) {
    actions_.push_back(std::move(action));
    if (!make_room())
        throw std::bad_alloc();
    push(std::max(when_ns, now_), event_kind::action, {static_cast<std::uint32_t>(actions_.size() - 1), 0});
}

// ---- links

void network::join(host_state& m) {
    auto const before = hosts_.size();
    hosts_.push_back(&m);
    std::vector<link> links(hosts_.size() * hosts_.size());
    for (std::size_t from = 0; from != hosts_.size(); ++from)
        for (std::size_t to = 0; to != hosts_.size(); ++to) {
            auto& l = links[from * hosts_.size() + to];
            if (from < before && to < before)
                l = links_[from * before + to];
            else
                l.options = usual_link_;
        }
    links_ = std::move(links);
    make_room();
}

std::int64_t network::local_delay() noexcept {
    auto const ns = std::int64_t{1} + delays_.below(local_delay_ns_);
    return faults.happens(rule::spike) ? 8 * ns : ns;
}

std::int64_t network::travel(host_state const& from, host_state const& to, std::size_t bytes) noexcept {
    if (&from == &to)
        return local_delay();
    auto& l = way(from, to);
    auto ns = static_cast<std::int64_t>(l.options.latency.count()) + 1;
    ns += static_cast<std::int64_t>(below(delays_, static_cast<std::uint64_t>(l.options.jitter.count())));
    if (faults.happens(rule::spike))
        ns *= 8;
    if (l.options.bytes_per_second != 0) {
        auto const begins = std::max(now_, l.free_ns);
        l.free_ns = begins + static_cast<std::int64_t>(bytes * 1'000'000'000 / l.options.bytes_per_second);
        ns += l.free_ns - now_;
    }
    return ns;
}

void network::set_link(host_state& from, host_state& to, link_options const& o) noexcept {
    link_options& mine = way(from, to).options = o;
    for (auto* const each : {&mine.latency, &mine.jitter}) // Many of them are added up.
        *each = std::clamp<std::chrono::nanoseconds>(*each, std::chrono::nanoseconds(0), latency_most);
}

void network::cut(host_state& from, host_state& to, bool is_cut) noexcept {
    if (way(from, to).is_cut == is_cut)
        return;
    way(from, to).is_cut = is_cut;
    note(&from, is_cut ? what::cut : what::healed, from.id, to.id);
}

void network::heal() noexcept {
    for (host_state* from : hosts_)
        for (host_state* to : hosts_)
            cut(*from, *to, false);
}

std::string network::describe_links() const {
    auto const text_of = [](link_options const& o) {
        auto text = std::to_string(o.latency.count() / 1000) + " to " +
                    std::to_string((o.latency + o.jitter).count() / 1000) + " us";
        if (o.bytes_per_second != 0)
            text += ", " + std::to_string(o.bytes_per_second) + " bytes/s";
        return text;
    };
    auto text =
        "links: " + text_of(usual_link_) + "; within a host up to " + std::to_string(local_delay_ns_ / 1000) + " us";
    for (host_state const* from : hosts_)
        for (host_state const* to : hosts_) {
            link const& l = links_[from->id * hosts_.size() + to->id];
            if (from != to && (l.is_cut || text_of(l.options) != text_of(usual_link_)))
                text += "; " + from->name + " to " + to->name + ": " + text_of(l.options) + (l.is_cut ? ", cut" : "");
        }
    return text;
}

// ---- descriptors

endpoint* network::find(io::handle h) noexcept {
    if (h.index >= endpoints_.size())
        return nullptr;
    endpoint* const e = endpoints_[h.index].get();
    return e->owner && e->generation == h.generation ? e : nullptr;
}

endpoint* network::make(host_state& m, int family, int type) noexcept {
    if (!make_room())
        return nullptr;
    if (free_.empty()) {
        try {
            free_.reserve(endpoints_.size() + 1);
            endpoints_.push_back(std::make_unique<endpoint>());
        } catch (...) {
            return nullptr;
        }
        auto const index = static_cast<std::uint32_t>(endpoints_.size() - 1);
        endpoints_.back()->index = index;
        free_.push_back(index);
    }
    endpoint& e = *endpoints_[free_.back()];
    if (type == SOCK_STREAM && !e.in.open())
        return nullptr;
    free_.pop_back();
    ++open_count_;
    ++m.descriptors;
    e.owner = &m;
    e.family = family;
    e.type = type;
    e.local = e.remote = {};
    auto const f = static_cast<sa_family_t>(family);
    std::memcpy(e.local.bytes, &f, sizeof f);
    e.local.size = family == AF_UNIX ? sizeof f : family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    note(e, what::opened, static_cast<std::uint64_t>(family));
    return &e;
}

int network::open(host_state& m, int family, int type, io::handle& made) noexcept {
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
        return EAFNOSUPPORT;
    if (type != SOCK_STREAM && type != SOCK_DGRAM)
        return EPROTONOSUPPORT;
    if (m.descriptors >= m.descriptors_most || faults.happens(rule::no_descriptor))
        return EMFILE;
    if (!m.is_up)
        return ENETDOWN; // somebody outside still holds on to what the host was
    endpoint* const e = make(m, family, type);
    if (!e)
        return ENOMEM;
    made = e->handle();
    return 0;
}

int network::pair(host_state& m, int family, int type, io::handle& a, io::handle& b) noexcept {
    if (family != AF_UNIX)
        return EOPNOTSUPP;
    if (int const error = open(m, family, type, a))
        return error;
    if (int const error = open(m, family, type, b)) {
        close(*find(a));
        a = {};
        return error;
    }
    join(*find(a), *find(b));
    return 0;
}

/// The place becomes free; whoever was concerned has been told.
void network::release(endpoint& e) noexcept {
    note(e, what::closed);
    e.stage = stage::fresh;
    e.scheduled = 0;
    e.bound = e.named_port = e.end_sent = e.end_arrived = e.finished = e.deaf = e.broken = false;
    e.error = 0;
    e.lost = 0;
    e.tries = 0;
    e.stalled_since_ns = 0;
    e.probes = 0;
    e.peer = {};
    e.far = nullptr;
    e.in.close();
    e.datagrams.clear();
    e.datagram_bytes = 0;
    e.options.clear();
    --e.owner->descriptors;
    e.owner = nullptr;
    ++e.generation;
    --open_count_;
    free_.push_back(e.index);
}

void network::close(endpoint& e) noexcept {
    abort_all(e);
    drop_backlog(e);
    part(e);
    release(e);
}

/// As when the power fails: the peer knows nothing.
void network::vanish(endpoint& e) noexcept {
    abort_all(e);
    for (auto const h : e.backlog)
        if (endpoint* const waiting_one = find(h))
            vanish(*waiting_one);
    e.backlog.clear();
    // Bytes that it sent arrive, also those on their way. Bytes that were on their way to it will never be
    // acknowledged.
    if (endpoint* const p = find(e.peer); p && !p->broken && e.in.flying() != 0 && e.far != e.owner)
        schedule(*p, event_kind::unanswered, now_ + retransmission_ns);
    release(e);
}

void network::shut(host_state& m, bool silently) noexcept {
    for (std::size_t i = 0; i != endpoints_.size(); ++i)
        if (endpoint& e = *endpoints_[i]; e.owner == &m)
            silently ? vanish(e) : close(e);
    m.names.clear();
}

/// Tells the peer of a connection that this end is closing.
void network::part(endpoint& e) noexcept {
    endpoint* const p = find(e.peer);
    if (!p || e.broken || e.stage != stage::connected || !e.is_stream())
        return;
    ::linger l{};
    get_option(e, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    // Bytes that nobody will read any more break the connection: the peer must not believe that they were.
    if (e.in.readable() != 0 || e.in.flying() != 0 || (!e.is_unix() && l.l_onoff && l.l_linger == 0))
        reset_later(*p);
    else
        finish(*p);
    serve_soon(*p, true);
}

void network::drop_backlog(endpoint& e) noexcept {
    for (auto const h : e.backlog)
        if (endpoint* const waiting_one = find(h)) {
            if (endpoint* const p = find(waiting_one->peer))
                reset_later(*p);
            waiting_one->peer = {};
            close(*waiting_one);
        }
    e.backlog.clear();
}

bool network::is_taken(endpoint const& e, name const& n) const noexcept {
    auto const dual = [](endpoint const& x, name const& at) {
        return at.family() == AF_INET6 && at.is_any() && x.number_option(IPPROTO_IPV6, IPV6_V6ONLY) == 0;
    };
    auto const reusable = [](endpoint const& x) { return x.number_option(SOL_SOCKET, SO_REUSEADDR) != 0; };
    return std::any_of(endpoints_.begin(), endpoints_.end(), [&](auto const& other) {
        if (other->owner != e.owner || other.get() == &e || !other->bound || other->type != e.type)
            return false;
        bool const clash = other->local.overlaps(n) ||
                           (n.family() != AF_UNIX && other->family != AF_UNIX && other->family != n.family() &&
                            other->local.port() == n.port() && (dual(*other, other->local) || dual(e, n)));
        return clash &&
               (n.family() == AF_UNIX || other->stage == stage::listening || !reusable(*other) || !reusable(e));
    });
}

int network::assign_port(endpoint& e) noexcept {
    for (int tries = 0; tries <= last_free_port - first_free_port; ++tries) {
        e.local.port(next_port_);
        next_port_ = next_port_ == last_free_port ? first_free_port : static_cast<std::uint16_t>(next_port_ + 1);
        if (!is_taken(e, e.local)) {
            e.bound = true;
            return 0;
        }
    }
    e.local.port(0);
    return EADDRINUSE;
}

int network::bind(endpoint& e, void const* address, std::size_t size) noexcept {
    name n;
    if (int const error = n.read(e.family, address, size))
        return error;
    if (e.bound)
        return EINVAL;
    if (!e.is_unix() && !n.is_any() && !n.is_loopback() && n.address() != ip::address(e.owner->v4) &&
        n.address() != ip::address(e.owner->v6))
        return EADDRNOTAVAIL;
    if (e.is_unix() || n.port() != 0) {
        if (is_taken(e, n))
            return EADDRINUSE;
        e.local = n;
        e.bound = e.named_port = true;
    } else {
        e.local = n;
        if (int const error = assign_port(e))
            return error;
    }
    note(e, what::bound, e.is_unix() ? 0 : e.local.port());
    return 0;
}

int network::listen(endpoint& e, int backlog) noexcept {
    if (!e.is_stream())
        return EOPNOTSUPP;
    if (e.stage != stage::fresh && e.stage != stage::listening)
        return EINVAL;
    if (!e.bound) {
        if (e.is_unix())
            return EINVAL;
        if (int const error = assign_port(e))
            return error;
    }
    auto const in_the_way = [&](auto const& other) {
        return other->owner == e.owner && other.get() != &e && other->stage == stage::listening &&
               other->local.overlaps(e.local) && e.number_option(SOL_SOCKET, SO_REUSEPORT) == 0;
    };
    if (std::any_of(endpoints_.begin(), endpoints_.end(), in_the_way))
        return EADDRINUSE;
    auto const most = static_cast<std::size_t>(std::clamp(backlog, 0, SOMAXCONN));
    try {
        e.backlog.reserve(most + 1);
    } catch (...) {
        return ENOBUFS;
    }
    e.backlog_most = most;
    e.stage = stage::listening;
    return 0;
}

int network::shutdown(endpoint& e, int how) noexcept {
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
    endpoint* const p = e.is_stream() ? find(e.peer) : nullptr;
    if (how != SHUT_RD && !e.finished) {
        e.finished = true;
        if (p)
            finish(*p);
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

int network::set_option(endpoint& e, int level, int key, void const* data, std::size_t size) noexcept {
    if (size > sizeof(option::bytes))
        return EINVAL;
    auto i = std::find_if(e.options.begin(), e.options.end(),
                          [&](option const& o) { return o.level == level && o.key == key; });
    if (i == e.options.end()) {
        try {
            i = e.options.insert(i, option{level, key, 0, {}});
        } catch (...) {
            return ENOBUFS;
        }
    }
    i->size = static_cast<std::uint32_t>(size);
    std::memset(i->bytes, 0, sizeof i->bytes);
    std::memcpy(i->bytes, data, size);
    if (level == SOL_SOCKET && key == SO_KEEPALIVE)
        keep_alive(e);
    return 0;
}

std::size_t network::get_option(endpoint& e, int level, int key, void* data, std::size_t size) noexcept {
    int number = 0;
    void const* from = &number;
    std::size_t n = sizeof number;
    for (option const& o : e.options)
        if (o.level == level && o.key == key) {
            from = o.bytes;
            n = o.size;
        }
    bool const is_buffer_size = level == SOL_SOCKET && (key == SO_RCVBUF || key == SO_SNDBUF);
    if (is_buffer_size && from != &number && n == sizeof number) { // Twice what was set, as in the kernel.
        std::memcpy(&number, from, sizeof number);
        number *= 2;
        std::memset(data, 0, size);
        std::memcpy(data, &number, std::min(n, size));
        return std::min(n, size);
    }
    if (level == SOL_SOCKET && from == &number) {
        if (key == SO_ERROR)
            number = std::exchange(e.error, 0);
        else if (key == SO_TYPE)
            number = e.type;
        else if (key == SO_ACCEPTCONN)
            number = e.stage == stage::listening;
        else if (is_buffer_size)
            number = 2 * static_cast<int>(pipe::window);
    }
    std::memset(data, 0, size);
    std::memcpy(data, from, std::min(n, size));
    return from == &number && size > n && size <= sizeof(option::bytes) ? size : std::min(n, size);
}

std::size_t network::available(endpoint& e) noexcept {
    if (e.is_stream())
        return e.in.readable();
    return e.datagrams.empty() ? 0 : e.datagrams.front().bytes.size();
}

std::size_t network::unacknowledged(endpoint& e) noexcept {
    if (!e.is_stream())
        return 0;
    if (endpoint* const p = living_peer(e))
        return p->in.flying() + (e.is_unix() ? p->in.readable() : 0);
    return e.lost;
}

// ---- for the world

std::size_t network::waiting_for_clients(host_state const& m) const noexcept {
    std::size_t n = 0;
    for (auto const& e : endpoints_)
        if (e->owner == &m)
            e->reads.for_each([&](op& o) {
                auto const k = static_cast<io::io_op&>(o).kind;
                bool const receives = k == io::kind::receive || k == io::kind::receive_from;
                n += e->stage == stage::listening ? k == io::kind::accept || k == io::kind::wait_read
                                                  : !e->is_stream() && e->named_port && receives;
            });
    return n;
}

std::string network::waiting() const {
    static constexpr char const* names[] = {"receive",        "receive all",    "accept", "wait for read",
                                            "wait for error", "receive from",   "send",   "send all",
                                            "connect",        "wait for write", "send to"};
    constexpr std::size_t most = 16;
    std::string text;
    std::size_t n = 0;
    auto const add = [&](std::string const& line) {
        if (n++ < most)
            text += "  " + line + '\n';
    };
    for (auto const& e : endpoints_)
        for (op_queue* q : {&e->reads, &e->writes})
            q->for_each([&](op& o) {
                add(std::string(names[static_cast<std::size_t>(static_cast<io::io_op&>(o).kind)]) + " on #" +
                    std::to_string(e->index) + " of " + e->owner->name);
            });
    if (n == 0)
        text = "  no operation on a socket: a work guard, a channel or the like, or a timer that never expires\n";
    else if (n > most)
        text += "  and " + std::to_string(n - most) + " more\n";
    return text;
}

} // namespace fairlead::sim
