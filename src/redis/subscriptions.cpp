#include <redis/subscriptions.hpp>

#include <algorithm>

namespace fairlead::redis::impl {
namespace {

constexpr std::string_view begin_commands[] = {"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"};
constexpr std::string_view end_commands[] = {"UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"};

std::string_view command(topic::kind k, std::string_view const (&all)[3]) noexcept {
    return all[static_cast<std::size_t>(k)];
}

} // namespace

void subscriptions::add(subscription_entry& e, request& begin) {
    std::lock_guard const lock(mutex_);
    if (is_over_)
        e.out.reset();
    for (auto const& [k, name] : e.wanted) {
        auto& all = of(k)[name];
        if (std::ranges::find(all, &e) == all.end())
            all.push_back(&e);
        begin.push(command(k, begin_commands), name);
    }
}

void subscriptions::remove(subscription_entry& e, request& last_ones) noexcept {
    std::lock_guard const lock(mutex_);
    for (auto const& [k, name] : e.wanted) {
        auto const found = of(k).find(name);
        if (found == of(k).end())
            continue;
        std::erase(found->second, &e);
        if (!found->second.empty())
            continue;
        try {
            last_ones.push(command(k, end_commands), name);
        } catch (...) { // Without memory the server goes on sending, to nobody.
        }
        of(k).erase(found);
    }
}

void subscriptions::append_all(request& to) {
    std::lock_guard const lock(mutex_);
    for (auto const k : {topic::kind::channel, topic::kind::pattern, topic::kind::shard})
        for (auto const& [name, all] : of(k))
            to.push(command(k, begin_commands), name);
}

void subscriptions::end_all() noexcept {
    std::lock_guard const lock(mutex_);
    is_over_ = true;
    for (auto const& each : wanted_)
        for (auto const& [name, all] : each)
            for (auto* const e : all)
                e->out.reset();
}

void subscriptions::pass_on(std::span<resp3::node const> push, std::uint64_t connection) noexcept {
    if (push.size() < 4)
        return;
    auto const what = push[1].value;
    using enum topic::kind;
    auto const k = what == "message" ? channel : what == "pmessage" ? pattern : shard;
    if ((k == shard && what != "smessage") || (k == pattern && push.size() < 5))
        return;
    std::lock_guard const lock(mutex_);
    auto const found = of(k).find(push[2].value);
    if (found == of(k).end())
        return;
    auto const rest = push.subspan(k == pattern ? 3 : 2);
    auto const matched = k == pattern ? push[2].value : std::string_view();
    for (auto* const e : found->second)
        try {
            if (e->out)
                e->out->send(
                    message{std::string(rest[0].value), std::string(rest[1].value), std::string(matched), connection});
        } catch (...) { // No memory for this one message: it is missed.
        }
}

} // namespace fairlead::redis::impl
