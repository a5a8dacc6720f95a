#include "zone.hpp"

#include <fairlead/io/localhost.hpp>
#include <fairlead/net/ip.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>

#include <netdb.h>
#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::int64_t slow_look_up_ns = 5'000'000'000; // what resolv.conf(5) waits for a name server

/// 0 or an EAI_… value. A raw socket has no ports, hence no service, whatever it is called.
int port_of(std::string_view text, int type, int flags, std::uint16_t& port) noexcept {
    port = 0;
    if (text.empty())
        return 0;
    if (type == SOCK_RAW)
        return EAI_SERVICE;
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

void zone::add(std::string_view name, ip::address const& a, std::chrono::nanoseconds ttl) {
    entries_.push_back({std::string(name), a, ttl});
}

void zone::remove(std::string_view name) {
    std::erase_if(entries_, [&](entry const& z) { return z.name == name; });
}

void zone::resolve(host_state& m, io::resolve_op& o) noexcept {
    o.result = {};
    o.failure = 0;
    o.found = nullptr;
    o.found_count = 0;
    bool space = time_.make_space();
    if (space) {
        try {
            look_ups_.reserve(look_ups_.size() + 1);
        } catch (...) {
            space = false;
        }
    }
    if (!space) {
        o.result.error = ENOMEM;
        m.context.as_loop().post(o);
        return;
    }
    auto const number = ++look_up_count_;
    look_ups_.push_back({number, &o, &m});
    time_.promise(1);
    ++m.pending;
    auto const delay = faults_.happens(rule::look_up_delay) ? slow_look_up_ns : 0;
    time_.push(now() + delay + links_.local_delay(), event_kind::look_up, {number, 0});
}

void zone::answer(std::uint32_t number) noexcept {
    auto const i =
        std::find_if(look_ups_.begin(), look_ups_.end(), [&](pending_look_up const& l) { return l.number == number; });
    if (i == look_ups_.end())
        return; // cancelled
    auto const l = *i;
    look_ups_.erase(i);
    time_.take_back(1);
    if (faults_.happens(rule::look_up_failure)) {
        l.o->failure = faults_.stream(rule::look_up_failure).below(2) ? EAI_AGAIN : EAI_FAIL;
        note(l.asker, what::look_up_failed, number);
    } else {
        look_up(*l.asker, *l.o);
        note(l.asker, what::resolved, number, l.o->found_count);
    }
    --l.asker->pending;
    l.asker->context.as_loop().push(*l.o);
}

void zone::cancel(io::resolve_op& o) noexcept {
    auto const i =
        std::find_if(look_ups_.begin(), look_ups_.end(), [&](pending_look_up const& l) { return l.o == &o; });
    if (i == look_ups_.end())
        return;
    auto* const asker = i->asker;
    look_ups_.erase(i);
    time_.take_back(1);
    o.result.error = ECANCELED;
    --asker->pending;
    asker->context.as_loop().post(o);
}

/// Calls use(address) for what a name stands for. False: nobody knows it.
template <class Use> static bool each_address(std::vector<remembered_name> const& remembered, auto const& zone,
                                              std::string_view host_name, int flags, std::int64_t now, Use use) {
    error_code ec;
    if (host_name.empty()) {
        bool const passive = flags & AI_PASSIVE;
        use(passive ? ip::address(ip::address_v6::any()) : ip::address(ip::address_v6::loopback()));
        use(passive ? ip::address(ip::address_v4::any()) : ip::address(ip::address_v4::loopback()));
        return true;
    }
    if (auto const a = ip::make_address(host_name, ec); !ec) {
        use(a);
        return true;
    }
    if (flags & AI_NUMERICHOST)
        return false;
    if (io::is_localhost(host_name)) {
        use(ip::address(ip::address_v6::loopback()));
        use(ip::address(ip::address_v4::loopback()));
        return true;
    }
    for (auto const& r : remembered)
        if (r.name == host_name && r.until_ns > now) {
            for (auto const& a : r.addresses)
                use(a);
            return true;
        }
    bool known = false;
    for (auto const& z : zone)
        if (z.name == host_name) {
            known = true;
            use(z.address);
        }
    return known;
}

/// From an address to the name that the zone has for it, else its text; and to the number of the port.
void zone::look_up_name(io::resolve_op& o) noexcept {
    o.name = new (std::nothrow) io::resolved_name{};
    if (!o.name) {
        o.result.error = ENOMEM;
        return;
    }
    o.found_count = 1;
    ip::tcp::endpoint e;
    std::memcpy(e.data(), o.host, std::min(e.capacity(), static_cast<std::size_t>(o.protocol)));
    auto const a = e.address();
    auto const put = [](auto& into, std::string_view text) { text.copy(into, std::min(text.size(), sizeof into - 1)); };
    auto const known = std::find_if(entries_.begin(), entries_.end(), [&](entry const& z) { return z.address == a; });
    try {
        put(o.name->host, known != entries_.end() ? known->name : a.is_loopback() ? "localhost" : a.to_string());
        put(o.name->service, std::to_string(e.port()));
    } catch (std::bad_alloc const&) {
        delete o.name;
        o.name = nullptr;
        o.found_count = 0;
        o.result.error = ENOMEM;
    }
}

void zone::take_pending(host_state const& m, op_queue& into) noexcept {
    time_.take_back(std::erase_if(look_ups_, [&](pending_look_up const& l) {
        if (l.asker == &m)
            into.push_back(*l.o);
        return l.asker == &m;
    }));
}

void zone::look_up(host_state& m, io::resolve_op& o) noexcept {
    std::uint16_t port = 0;
    o.result = {};
    o.found = nullptr;
    o.found_count = 0;
    if (o.reverse)
        return look_up_name(o);
    std::string_view const host_name = o.host ? o.host : "";
    std::string_view const service = o.service ? o.service : "";
    o.failure = host_name.empty() && service.empty() ? EAI_NONAME : port_of(service, o.type, o.flags, port);
    if (o.failure)
        return;
    auto const wanted = [&](ip::address const& a) {
        return o.family == AF_UNSPEC || o.family == (a.is_v4() ? AF_INET : AF_INET6);
    };
    std::size_t n = 0;
    bool const known =
        each_address(m.names, entries_, host_name, o.flags, now(), [&](ip::address const& a) { n += wanted(a); });
    if (n == 0) {
        o.failure = known ? EAI_NODATA : EAI_NONAME;
        return;
    }
    o.found = new (std::nothrow) io::resolved_address[n];
    if (!o.found) {
        o.result.error = ENOMEM;
        return;
    }
    each_address(m.names, entries_, host_name, o.flags, now(), [&](ip::address const& a) {
        if (!wanted(a))
            return;
        ip::tcp::endpoint const e(a, port);
        auto& r = o.found[o.found_count++];
        r.size = static_cast<std::uint32_t>(e.size());
        std::memcpy(r.bytes, e.data(), e.size());
    });
    // Remembering is worth a try, no more.
    std::chrono::nanoseconds ttl{0};
    for (auto const& z : entries_)
        if (z.name == host_name)
            ttl = ttl.count() == 0 ? z.ttl : std::min(ttl, z.ttl);
    if (ttl.count() == 0)
        return;
    try {
        std::erase_if(m.names, [&](remembered_name const& r) { return r.until_ns <= now(); });
        if (std::any_of(m.names.begin(), m.names.end(), [&](auto const& r) { return r.name == host_name; }))
            return;
        remembered_name r{std::string(host_name), timeline::later(now(), ttl), {}};
        for (auto const& z : entries_)
            if (z.name == host_name)
                r.addresses.push_back(z.address);
        m.names.push_back(std::move(r));
    } catch (...) {
    }
}

} // namespace fairlead::sim
