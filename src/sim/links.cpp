#include "links.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <sys/socket.h>

namespace fairlead::sim {
namespace {

constexpr std::chrono::hours latency_most(24 * 365);

} // namespace

links::links(std::uint64_t seed, sim::faults& f, timeline const& time, sim::trace& t)
    : faults_(f),
      time_(time),
      trace_(t),
      delays_(seed, 2) {
    constexpr std::uint32_t local_delays[] = {1'000, 50'000, 2'000'000};
    local_delay_ns_ = local_delays[delays_.below(3)];
    // One building, one town, two continents.
    constexpr std::int64_t latencies[] = {50'000, 1'000'000, 40'000'000};
    auto const latency = latencies[delays_.below(3)];
    usual_link_.latency = std::chrono::nanoseconds(latency);
    usual_link_.jitter = std::chrono::nanoseconds(latency >> delays_.below(4));
}

void links::join(host_state& m) {
    auto const before = hosts_.size();
    hosts_.push_back(&m);
    std::vector<link> wider(hosts_.size() * hosts_.size());
    for (std::size_t from = 0; from != hosts_.size(); ++from)
        for (std::size_t to = 0; to != hosts_.size(); ++to) {
            auto& l = wider[from * hosts_.size() + to];
            if (from < before && to < before)
                l = links_[from * before + to];
            else
                l.options = usual_link_;
        }
    links_ = std::move(wider);
}

host_state* links::route(host_state& from, name& n, int& error) noexcept {
    error = 0;
    if (n.is_any())
        n.become_loopback();
    if (n.is_loopback())
        return &from;
    auto const wanted = n.address();
    for (host_state* m : hosts_)
        if (wanted == ip::address(m->v4) || wanted == ip::address(m->v6))
            return m;
    bool const near = n.family() == AF_INET ? n.bytes[4] == 10 && n.bytes[5] == 0
                                            : n.bytes[8] == 0xfd && n.bytes[9] == 0 && !n.is_v4_mapped();
    error = near ? EHOSTUNREACH : ENETUNREACH;
    return nullptr;
}

std::int64_t links::local_delay() noexcept {
    auto const ns = std::int64_t{1} + delays_.below(local_delay_ns_);
    return faults_.happens(rule::spike) ? 8 * ns : ns;
}

std::int64_t links::travel(host_state const& from, host_state const& to, std::size_t bytes) noexcept {
    if (&from == &to)
        return local_delay();
    auto& l = way(from, to);
    auto ns = static_cast<std::int64_t>(l.options.latency.count()) + 1;
    ns += static_cast<std::int64_t>(below(delays_, static_cast<std::uint64_t>(l.options.jitter.count())));
    if (faults_.happens(rule::spike))
        ns *= 8;
    if (l.options.bytes_per_second != 0) {
        auto const begins = std::max(time_.now_ns(), l.free_ns);
        l.free_ns = begins + static_cast<std::int64_t>(bytes * 1'000'000'000 / l.options.bytes_per_second);
        ns += l.free_ns - time_.now_ns();
    }
    return ns;
}

void links::set(host_state& from, host_state& to, link_options const& o) noexcept {
    link_options& mine = way(from, to).options = o;
    for (auto* const each : {&mine.latency, &mine.jitter}) // Many of them are added up.
        *each = std::clamp<std::chrono::nanoseconds>(*each, std::chrono::nanoseconds(0), latency_most);
}

void links::cut(host_state& from, host_state& to, bool is_cut) noexcept {
    if (way(from, to).is_cut == is_cut)
        return;
    way(from, to).is_cut = is_cut;
    trace_.note(time_.now_ns(), from.id, is_cut ? what::cut : what::healed, from.id, to.id);
}

void links::heal() noexcept {
    for (host_state* from : hosts_)
        for (host_state* to : hosts_)
            cut(*from, *to, false);
}

std::string links::describe() const {
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

} // namespace fairlead::sim
