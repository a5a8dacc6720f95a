#include <redis/event_ring.hpp>

#include <fairlead/resp3/node.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace fairlead::redis::impl {
namespace {

struct copied {
    std::int64_t at_ns;
    event kind;
    std::uint32_t number;
    std::uint32_t amount;
    std::uintptr_t detail;
};

void append_count(std::string& to, std::uint32_t n, std::string_view one, std::string_view more) {
    to.append(std::to_string(n)).append(" ").append(n == 1 ? one : more);
}

/// "3 replies: simple_string, blob_string"
void append_replies(std::string& to, copied const& e) {
    if (e.number == 0)
        return void(to.append(", no whole reply"));
    append_count(to.append(", "), e.number, "reply", "replies");
    constexpr std::string_view kinds = "+-:$!=_#,(*%~";
    char const* before = ": ";
    for (char const kind : kinds)
        if (e.detail & bit_of(kind)) {
            to.append(before).append(resp3::to_string(static_cast<resp3::type>(kind)));
            before = ", ";
        }
}

void append_event(std::string& to, copied const& e) {
    switch (e.kind) {
    case event::connecting: to.append("connecting"); break;
    case event::connected: to.append("connected"); break;
    case event::ready: to.append("ready, RESP").append(std::to_string(e.number)); break;
    case event::wrote:
        append_count(to.append("wrote "), e.amount, "byte", "bytes");
        if (e.detail != 0)
            to.append(", then failed");
        break;
    case event::read:
        append_count(to.append("read "), e.amount, "byte", "bytes");
        append_replies(to, e);
        break;
    case event::pushed: append_count(to, e.number, "push", "pushes"); break;
    case event::asked: to.append("asked whether the server is well"); break;
    case event::over:
        append_count(to, e.number, "call", "calls");
        to.append(e.number == 1 ? " reached its limit" : " reached their limits");
        break;
    case event::ended:
        to.append("ended: ");
        to.append(reinterpret_cast<error_category const*>(e.detail)->message(static_cast<int>(e.amount)));
        break;
    }
}

/// "  -0.000250 s  ": before the last event.
void append_time(std::string& to, std::int64_t at_ns, std::int64_t last_ns) {
    char text[32] = "";
    if (at_ns != event_ring::no_time)
        std::snprintf(text, sizeof text, "%.6f s", static_cast<double>(at_ns - last_ns) * 1e-9);
    char line[48];
    std::snprintf(line, sizeof line, "  %16s  ", text);
    to.append(line);
}

} // namespace

std::string event_ring::text() const {
    std::vector<copied> all;
    auto const end = next_.load(std::memory_order_acquire);
    auto const first = end > shown_max ? end - shown_max : 0;
    for (auto n = first; n != end; ++n) {
        auto const& r = records_[n % size];
        auto const at_ns = r.at_ns.load(std::memory_order_acquire);
        auto const detail = r.detail.load(std::memory_order_acquire);
        auto const amount = r.amount.load(std::memory_order_acquire);
        auto const number = r.number.load(std::memory_order_acquire);
        auto const kind = r.kind.load(std::memory_order_acquire);
        all.push_back({.at_ns = at_ns, .kind = kind, .number = number, .amount = amount, .detail = detail});
    }
    // Of number n - size the place was written over meanwhile, or is just being.
    auto const now = next_.load(std::memory_order_acquire);
    if (now >= size && now - size + 1 > first)
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min<std::uint64_t>(now - size + 1 - first, all.size())));
    std::int64_t last_ns = no_time;
    for (auto const& e : all)
        last_ns = std::max(last_ns, e.at_ns);
    std::string text;
    for (auto const& e : all) {
        append_time(text, e.at_ns, last_ns);
        append_event(text, e);
        text.push_back('\n');
    }
    return text;
}

} // namespace fairlead::redis::impl
