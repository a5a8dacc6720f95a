// Time, descriptors, names and connections. What happens to bytes is in stream.cpp.
#include "network.hpp"

#include <fairlead/io/io_context.hpp>
#include <fairlead/net/ip.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace fairlead::sim {
namespace {

constexpr unsigned connect_tries_most = 6;
constexpr std::uint16_t first_free_port = 32768, last_free_port = 60999;

/// A few kinds of world: mostly good, mostly bad, or neither. What is always a little bad finds less.
std::uint32_t one_of(random_stream& r, std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept {
    auto const choice = r.below(3);
    return choice == 0 ? a : choice == 1 ? b : c;
}

} // namespace

// ---- names

int name::family() const noexcept {
    sa_family_t f;
    std::memcpy(&f, bytes, sizeof f);
    return f;
}

int name::read(int family_wanted, void const* address, std::size_t address_size) noexcept {
    *this = {};
    if (address_size < sizeof(sa_family_t) || address_size > sizeof bytes)
        return EINVAL;
    std::memcpy(bytes, address, address_size);
    size = static_cast<std::uint32_t>(address_size);
    if (family() != family_wanted)
        return family_wanted == AF_UNIX ? EINVAL : EAFNOSUPPORT;
    if (family_wanted == AF_UNIX) {
        if (size == sizeof(sa_family_t))
            return EINVAL;
        if (bytes[2] != 0) // A path ends with its NUL, an abstract name with its size.
            size = 2 + static_cast<std::uint32_t>(::strnlen(reinterpret_cast<char const*>(bytes) + 2, size - 2));
        std::memset(bytes + size, 0, sizeof bytes - size);
        return 0;
    }
    auto const exact = family_wanted == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (address_size < exact)
        return EINVAL;
    size = static_cast<std::uint32_t>(exact);
    std::memset(bytes + size, 0, sizeof bytes - size);
    if (family_wanted == AF_INET)
        std::memset(bytes + offsetof(sockaddr_in, sin_zero), 0, sizeof(sockaddr_in::sin_zero));
    return 0;
}

bool name::is_any() const noexcept {
    auto const [at, n] = family() == AF_INET ? std::pair(4U, 4U) : std::pair(8U, 16U);
    return std::all_of(bytes + at, bytes + at + n, [](unsigned char b) { return b == 0; });
}

bool name::is_loopback() const noexcept {
    if (family() == AF_INET)
        return bytes[4] == 127;
    return bytes[23] == 1 && std::all_of(bytes + 8, bytes + 23, [](unsigned char b) { return b == 0; });
}

void name::become_loopback() noexcept {
    if (family() == AF_INET) {
        bytes[4] = 127;
        bytes[5] = bytes[6] = 0;
        bytes[7] = 1;
    } else {
        std::memset(bytes + 8, 0, 15);
        bytes[23] = 1;
    }
}

bool name::overlaps(name const& other) const noexcept {
    if (family() != other.family() || size != other.size)
        return false;
    if (family() == AF_UNIX)
        return size > 2 && std::memcmp(bytes, other.bytes, size) == 0;
    auto const [at, n] = family() == AF_INET ? std::pair(4U, 4U) : std::pair(8U, 16U);
    return port() == other.port() && (is_any() || other.is_any() || std::memcmp(bytes + at, other.bytes + at, n) == 0);
}

bool endpoint::is_unix() const noexcept { return family == AF_UNIX; }

// ---- time

network::network(std::uint64_t seed) : trace(seed), scheduling_(seed, 1), faults_(seed, 2), entropy_(seed, 3) {
    habits_.reorder = one_of(faults_, 0, 512, 1024);
    habits_.not_ready = one_of(faults_, 0, 100, 500);
    habits_.short_read = one_of(faults_, 0, 100, 700);
    habits_.short_write = one_of(faults_, 0, 100, 700);
    habits_.latency_ns = one_of(faults_, 1'000, 50'000, 2'000'000);
}

std::uint64_t network::entropy() noexcept {
    auto const v = entropy_.next();
    note(what::entropy, v);
    return v;
}

std::int64_t network::latency() noexcept {
    auto const ns = std::int64_t{1} + faults_.below(habits_.latency_ns);
    return faults_.chance(32) ? 8 * ns : ns;
}

void network::stop(host& h, sim::verdict v) noexcept {
    if (verdict == sim::verdict::none)
        verdict = v;
    io_context::of(*h.l).stop();
}

void network::step(host& h) noexcept {
    if (++steps > steps_most)
        stop(h, sim::verdict::too_many_steps);
}

void network::arrange(host& h, op_queue& q) noexcept {
    // A batch is at most 64 items: who is not among the first 128 now will be soon, and the cost stays bounded.
    constexpr std::uint32_t most = 128;
    op* ops[most];
    ++counts.batches;
    step(h);
    if (!scheduling_.chance(habits_.reorder))
        return;
    std::uint32_t n = 0;
    while (n != most && !q.empty())
        ops[n++] = q.pop_front();
    std::uint64_t hash = n;
    for (auto i = n; i-- > 1;) {
        auto const j = scheduling_.below(i + 1);
        std::swap(ops[i], ops[j]);
        hash = hash * 0x100000001b3U + j;
    }
    while (n != 0)
        q.push_front(*ops[--n]);
    note(what::order, hash);
}

void network::poll(host& h, std::int64_t until_ns) noexcept {
    bool const was_at_limit = std::exchange(at_limit_, false);
    if (until_ns == 0) {
        // Somebody is busy, or only looks: even so time must pass, or what he waits for would never come. Not so when
        // run_until() has its last look.
        if (!was_at_limit)
            now_ += 1'000 + scheduling_.below(20'000);
        deliver(h);
        return;
    }
    if (deliver(h))
        return;
    bool const limited = until_ns > 0 && until_ns < never_ns;
    if (events_.empty() && !limited)
        return stop(h, sim::verdict::stuck);
    if (events_.empty() || (limited && until_ns < events_.front().at)) {
        now_ = std::max(now_, until_ns);
        at_limit_ = true;
        note(what::jump, 0);
        return;
    }
    now_ = events_.front().at;
    deliver(h);
}

bool network::make_room() noexcept {
    // An endpoint has at most one event for each slot; those of closed ones stand in the queue until their time has
    // come.
    auto const needed = events_.size() + slots_of_endpoint * (open_count_ + 1) + look_ups_.size() + 1;
    try {
        if (events_.capacity() < needed)
            events_.reserve(2 * needed);
        look_ups_.reserve(look_ups_.size() + 1);
        return true;
    } catch (...) {
        return false;
    }
}

void network::push(std::int64_t at, slot s, io::handle h) noexcept {
    auto const order = scheduling_.next() >> 32 << 32 | event_count_++;
    events_.push_back({at, order, h.index, h.generation, s});
    std::push_heap(events_.begin(), events_.end(), [](event const& a, event const& b) { return a.later_than(b); });
}

void network::schedule(endpoint& e, slot s, std::int64_t at) noexcept {
    auto const bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(s));
    if (e.scheduled & bit)
        return;
    e.scheduled |= bit;
    push(at, s, e.handle());
}

void network::serve_soon(endpoint& e, bool write) noexcept {
    schedule(e, write ? slot::serve_write : slot::serve_read, now_ + latency());
}

bool network::deliver(host& h) noexcept {
    bool any = false;
    while (!events_.empty() && events_.front().at <= now_) {
        event const e = events_.front();
        std::pop_heap(events_.begin(), events_.end(), [](event const& a, event const& b) { return a.later_than(b); });
        events_.pop_back();
        ++counts.events;
        step(h);
        happen(e);
        any = true;
    }
    return any;
}

void network::happen(event const& what_is_due) noexcept {
    if (what_is_due.slot == slot::look_up)
        return answer(what_is_due.index);
    endpoint* const found = find({what_is_due.index, what_is_due.generation});
    if (!found)
        return; // closed meanwhile
    endpoint& e = *found;
    e.scheduled &= static_cast<std::uint8_t>(~(1U << static_cast<unsigned>(what_is_due.slot)));
    switch (what_is_due.slot) {
    case slot::arrive: return arrive(e);
    case slot::serve_read: return serve(e, e.reads);
    case slot::serve_write: return serve(e, e.writes);
    case slot::connect: return try_connect(e);
    case slot::reset: return reset(e);
    case slot::look_up: break;
    }
}

// ---- descriptors

endpoint* network::find(io::handle h) noexcept {
    if (h.index >= endpoints_.size())
        return nullptr;
    endpoint* const e = endpoints_[h.index].get();
    return e->owner && e->generation == h.generation ? e : nullptr;
}

endpoint* network::make(host& h, int family) noexcept {
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
    if (!e.in.open())
        return nullptr;
    free_.pop_back();
    ++open_count_;
    e.owner = &h;
    e.family = family;
    e.local = e.remote = {};
    auto const f = static_cast<sa_family_t>(family);
    std::memcpy(e.local.bytes, &f, sizeof f);
    e.local.size = family == AF_UNIX ? sizeof f : family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    note(what::opened, e.index, static_cast<std::uint64_t>(family));
    return &e;
}

int network::open(host& h, int family, int type, io::handle& made) noexcept {
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
        return EAFNOSUPPORT;
    if (type != SOCK_STREAM)
        return EPROTONOSUPPORT;
    endpoint* const e = make(h, family);
    if (!e)
        return ENOMEM;
    made = e->handle();
    return 0;
}

int network::pair(host& h, int family, int type, io::handle& a, io::handle& b) noexcept {
    if (family != AF_UNIX)
        return EOPNOTSUPP;
    if (int const error = open(h, family, type, a))
        return error;
    if (int const error = open(h, family, type, b)) {
        close(*find(a));
        a = {};
        return error;
    }
    join(*find(a), *find(b));
    return 0;
}

void network::close(endpoint& e) noexcept {
    cancel_all(e);
    note(what::closed, e.index);
    drop_backlog(e);
    part(e);
    e.stage = stage::fresh;
    e.scheduled = 0;
    e.bound = e.end_sent = e.end_arrived = e.finished = e.deaf = e.broken = false;
    e.error = 0;
    e.lost = 0;
    e.tries = 0;
    e.peer = {};
    e.in.close();
    e.options.clear();
    e.owner = nullptr;
    ++e.generation;
    --open_count_;
    free_.push_back(e.index);
}

/// Tells the peer of a connection that this end is closing.
void network::part(endpoint& e) noexcept {
    endpoint* const p = find(e.peer);
    if (!p || e.broken)
        return;
    ::linger l{};
    get_option(e, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    // Bytes that nobody will read any more break the connection: the peer must not believe that they were.
    if (e.in.readable() != 0 || e.in.flying() != 0 || (l.l_onoff && l.l_linger == 0))
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
    auto const reusable = [](endpoint const& x) {
        return std::any_of(x.options.begin(), x.options.end(), [](option const& o) {
            return o.level == SOL_SOCKET && o.key == SO_REUSEADDR && o.bytes[0] != 0;
        });
    };
    return std::any_of(endpoints_.begin(), endpoints_.end(), [&](auto const& other) {
        return other->owner && other.get() != &e && other->bound && other->local.overlaps(n) &&
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
    if (!e.is_unix() && !n.is_any() && !n.is_loopback())
        return EADDRNOTAVAIL;
    if (e.is_unix() || n.port() != 0) {
        if (is_taken(e, n))
            return EADDRINUSE;
        e.local = n;
        e.bound = true;
    } else {
        e.local = n;
        if (int const error = assign_port(e))
            return error;
    }
    note(what::bound, e.index, e.is_unix() ? 0 : e.local.port());
    return 0;
}

int network::listen(endpoint& e, int backlog) noexcept {
    if (e.stage != stage::fresh && e.stage != stage::listening)
        return EINVAL;
    if (!e.bound) {
        if (e.is_unix())
            return EINVAL;
        if (int const error = assign_port(e))
            return error;
    }
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
    if (e.stage != stage::connected || e.broken)
        return ENOTCONN;
    endpoint* const p = find(e.peer);
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
    if (level == SOL_SOCKET && from == &number) {
        if (key == SO_ERROR)
            number = std::exchange(e.error, 0);
        else if (key == SO_TYPE)
            number = SOCK_STREAM;
        else if (key == SO_ACCEPTCONN)
            number = e.stage == stage::listening;
        else if (key == SO_RCVBUF || key == SO_SNDBUF)
            number = static_cast<int>(pipe::window);
    }
    std::memset(data, 0, size);
    std::memcpy(data, from, std::min(n, size));
    return from == &number && size > n && size <= sizeof(option::bytes) ? size : std::min(n, size);
}

// ---- connecting

endpoint* network::listener_at(name const& n) noexcept {
    for (auto const& e : endpoints_)
        if (e->owner && e->stage == stage::listening && e->local.overlaps(n))
            return e.get();
    return nullptr;
}

void network::join(endpoint& a, endpoint& b) noexcept {
    a.stage = b.stage = stage::connected;
    a.peer = b.handle();
    b.peer = a.handle();
    if (a.remote.size == 0)
        a.remote = b.local;
    if (b.remote.size == 0)
        b.remote = a.local;
    ++counts.connected;
    note(what::connected, a.index, b.index);
}

int network::start_connect(endpoint& e, io::io_op const& o) noexcept {
    if (e.stage == stage::connecting)
        return EALREADY;
    if (e.stage != stage::fresh)
        return e.is_unix() && e.stage == stage::listening ? EINVAL : EISCONN;
    name n;
    if (int const error = n.read(e.family, o.data, o.size))
        return error;
    if (!e.is_unix()) {
        if (n.is_any())
            n.become_loopback();
        if (!n.is_loopback())
            return ENETUNREACH;
        if (e.local.is_any()) {
            auto const port = e.local.port();
            e.local = n;
            e.local.port(port);
        }
        if (e.local.port() == 0)
            if (int const error = assign_port(e))
                return error == EADDRINUSE ? EADDRNOTAVAIL : error;
    }
    e.remote = n;
    e.tries = 0;
    e.stage = stage::connecting;
    return 0;
}

int network::establish(endpoint& e) noexcept {
    endpoint* const listener = listener_at(e.remote);
    if (!listener) {
        auto const same = [&](auto const& other) {
            return other->owner && other->bound && other->local.overlaps(e.remote);
        };
        bool const exists = !e.is_unix() || std::any_of(endpoints_.begin(), endpoints_.end(), same);
        return exists ? ECONNREFUSED : ENOENT;
    }
    if (listener->backlog.size() > listener->backlog_most)
        return EAGAIN;
    endpoint* const other_end = make(*listener->owner, e.family);
    if (!other_end)
        return EAGAIN;
    other_end->local = e.remote;
    other_end->remote = e.local;
    join(e, *other_end);
    listener->backlog.push_back(other_end->handle());
    serve_soon(*listener, false);
    return 0;
}

void network::try_connect(endpoint& e) noexcept {
    io::io_op* waiting_op = nullptr;
    e.writes.for_each([&](op& o) {
        if (auto& each = static_cast<io::io_op&>(o); each.kind == io::kind::connect)
            waiting_op = &each;
    });
    int error = ECANCELED;
    if (waiting_op) {
        error = establish(e);
        if (error == EAGAIN && !e.is_unix()) { // as a lost SYN: again after 1, 2, 4 … seconds
            if (++e.tries < connect_tries_most)
                return schedule(e, slot::connect, now_ + (std::int64_t{1'000'000'000} << (e.tries - 1)));
            error = ETIMEDOUT;
        }
        if (error) {
            ++counts.refused;
            note(what::refused, e.index, static_cast<std::uint64_t>(error));
        }
        waiting_op->result = {error, 0, 0};
        op_queue::unlink(*waiting_op);
        complete(e, *waiting_op);
    }
    if (error) {
        e.stage = stage::fresh;
        e.remote = {};
    }
    serve_soon(e, false);
    serve_soon(e, true);
}

// ---- look-ups

void network::add_name(std::string_view host_name, ip::address const& a) {
    names_.emplace_back(std::string(host_name), a);
}

void network::resolve(host& h, io::resolve_op& o) noexcept {
    o.result = {};
    o.failure = 0;
    o.found = nullptr;
    o.found_count = 0;
    if (!make_room()) {
        o.result.error = ENOMEM;
        h.l->post(o);
        return;
    }
    auto const number = ++look_up_count_;
    look_ups_.push_back({number, &o, &h});
    ++h.pending;
    push(now_ + latency(), slot::look_up, {number, 0});
}

void network::answer(std::uint32_t number) noexcept {
    auto const i =
        std::find_if(look_ups_.begin(), look_ups_.end(), [&](pending_look_up const& l) { return l.number == number; });
    if (i == look_ups_.end())
        return; // cancelled
    auto const l = *i;
    look_ups_.erase(i);
    look_up(*l.o);
    note(what::resolved, number, l.o->found_count);
    --l.asker->pending;
    l.asker->l->push(*l.o);
}

void network::cancel_resolve(io::resolve_op& o) noexcept {
    auto const i =
        std::find_if(look_ups_.begin(), look_ups_.end(), [&](pending_look_up const& l) { return l.o == &o; });
    if (i == look_ups_.end())
        return;
    auto* const asker = i->asker;
    look_ups_.erase(i);
    o.result.error = ECANCELED;
    --asker->pending;
    asker->l->post(o);
}

namespace {

/// 0 or an EAI_… value.
int port_of(char const* service, int flags, std::uint16_t& port) noexcept {
    port = 0;
    if (!service || !*service)
        return 0;
    std::string_view const text(service);
    auto const r = std::from_chars(text.data(), text.data() + text.size(), port);
    if (r.ec == std::errc() && r.ptr == text.data() + text.size())
        return 0;
    if (flags & AI_NUMERICSERV)
        return EAI_NONAME;
    constexpr std::pair<std::string_view, std::uint16_t> known[] = {{"domain", 53}, {"echo", 7},    {"ftp", 21},
                                                                    {"http", 80},   {"https", 443}, {"redis", 6379},
                                                                    {"smtp", 25},   {"ssh", 22}};
    for (auto const& [name_of_service, number] : known)
        if (text == name_of_service) {
            port = number;
            return 0;
        }
    return EAI_SERVICE;
}

} // namespace

void network::look_up(io::resolve_op& o) noexcept {
    std::uint16_t port = 0;
    o.result = {};
    o.found = nullptr;
    o.found_count = 0;
    o.failure = port_of(o.service, o.flags, port);
    if (o.failure)
        return;
    bool known = false;
    auto const each = [&](auto const& use) {
        std::string_view const host_name = o.host ? o.host : "";
        error_code ec;
        if (host_name.empty()) {
            known = true;
            bool const passive = o.flags & AI_PASSIVE;
            use(passive ? ip::address(ip::address_v6::any()) : ip::address(ip::address_v6::loopback()));
            use(passive ? ip::address(ip::address_v4::any()) : ip::address(ip::address_v4::loopback()));
        } else if (auto const a = ip::make_address(host_name, ec); !ec) {
            known = true;
            use(a);
        } else if (o.flags & AI_NUMERICHOST) {
            return;
        } else if (host_name == "localhost") {
            known = true;
            use(ip::address(ip::address_v6::loopback()));
            use(ip::address(ip::address_v4::loopback()));
        } else {
            for (auto const& [n, a2] : names_)
                if (n == host_name) {
                    known = true;
                    use(a2);
                }
        }
    };
    auto const wanted = [&](ip::address const& a) {
        return o.family == AF_UNSPEC || o.family == (a.is_v4() ? AF_INET : AF_INET6);
    };
    std::size_t n = 0;
    each([&](ip::address const& a) { n += wanted(a); });
    if (n == 0) {
        o.failure = known ? EAI_NODATA : EAI_NONAME;
        return;
    }
    o.found = new (std::nothrow) io::resolved_address[n];
    if (!o.found) {
        o.result.error = ENOMEM;
        return;
    }
    each([&](ip::address const& a) {
        if (!wanted(a))
            return;
        ip::tcp::endpoint const e(a, port);
        auto& r = o.found[o.found_count++];
        r.size = static_cast<std::uint32_t>(e.size());
        std::memcpy(r.bytes, e.data(), e.size());
    });
}

// ---- for the world

std::string network::waiting() const {
    static constexpr char const* kinds[] = {"receive", "receive all", "accept",  "wait for read", "wait for error",
                                            "send",    "send all",    "connect", "wait for write"};
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
                add(std::string(kinds[static_cast<std::size_t>(static_cast<io::io_op&>(o).kind)]) + " on #" +
                    std::to_string(e->index));
            });
    if (n == 0)
        text = "  no operation on a socket: a work guard, a channel or the like, or a timer that never expires\n";
    else if (n > most)
        text += "  and " + std::to_string(n - most) + " more\n";
    return text;
}

} // namespace fairlead::sim
