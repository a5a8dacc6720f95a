#include "endpoints.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::uint16_t first_free_port = 32768, last_free_port = 60999;

} // namespace

endpoint* endpoints::find(io::handle h) noexcept {
    if (h.index >= endpoints_.size())
        return nullptr;
    endpoint* const e = endpoints_[h.index].get();
    return e->owner && e->generation == h.generation ? e : nullptr;
}

endpoint* endpoints::make(host_state& m, int family, int type) noexcept {
    if (!time_.make_space())
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
    time_.promise(event_kinds_of_endpoint);
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

void endpoints::release(endpoint& e) noexcept {
    note(e, what::closed);
    e.stage = stage::fresh;
    e.sort = sort::socket;
    e.is_released = false;
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
    time_.take_back(event_kinds_of_endpoint);
    free_.push_back(e.index);
}

bool endpoints::is_taken(endpoint const& e, name const& n) const noexcept {
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

int endpoints::assign_port(endpoint& e) noexcept {
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

int endpoints::bind(endpoint& e, void const* address, std::size_t size) noexcept {
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

int endpoints::listen(endpoint& e, int backlog) noexcept {
    if (!e.is_connection())
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

endpoint* endpoints::bound_at(host_state const& m, name const& n, int type, bool listening) noexcept {
    endpoint* best = nullptr;
    for (auto const& e : endpoints_) {
        if (e->owner != &m || e->type != type || !e->bound || (listening && e->stage != stage::listening))
            continue;
        if (e->local == n)
            return e.get();
        bool const dual = n.family() == AF_INET && e->family == AF_INET6 && e->local.is_any() &&
                          e->local.port() == n.port() && e->number_option(IPPROTO_IPV6, IPV6_V6ONLY) == 0;
        if (!best && (dual || (e->family == n.family() && e->local.overlaps(n))))
            best = e.get();
    }
    return best;
}

endpoint* endpoints::receiver_at(host_state const& m, name const& n, name const& from) noexcept {
    endpoint* best = nullptr;
    for (auto const& e : endpoints_) {
        if (e->owner != &m || e->is_connection() || !e->bound || e->is_unix())
            continue;
        bool const dual = e->family != n.family();
        if (dual && e->number_option(IPPROTO_IPV6, IPV6_V6ONLY) != 0)
            continue;
        name const to_it = dual && n.family() == AF_INET ? n.mapped() : n;
        if (to_it.family() != e->family || (dual && !e->local.is_any()) || !e->local.overlaps(to_it))
            continue;
        if (e->stage == stage::connected) { // hears its peer alone
            if (e->remote == (dual ? from.mapped() : from))
                return e.get();
        } else if (!best) {
            best = e.get();
        }
    }
    return best;
}

} // namespace fairlead::sim
