#include <redis/subscriptions.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>

namespace fairlead::redis::impl {
namespace {

constexpr std::string_view begin_commands[] = {"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"};
constexpr std::string_view end_commands[] = {"UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"};

std::string_view word_for(topic::kind k, std::string_view const (&all)[3]) noexcept {
    return all[static_cast<std::size_t>(k)];
}

/// The parts of a push that is a message.
struct published {
    topic::kind kind;
    std::string_view wanted; ///< the channel or the pattern
    std::string_view channel, pattern, payload;
};

bool read_published(std::span<resp3::node const> push, published& into) noexcept {
    if (push.size() < 4)
        return false;
    using enum topic::kind;
    auto const what = push[1].value;
    if (what == "message" || what == "smessage")
        into = {what.size() == 7 ? channel : shard, push[2].value, push[2].value, {}, push[3].value};
    else if (what == "pmessage" && push.size() >= 5)
        into = {pattern, push[2].value, push[3].value, push[2].value, push[4].value};
    else
        return false;
    return true;
}

/// Null: no memory.
owned_block make_block(published const& p, std::uint64_t connection) noexcept {
    constexpr std::size_t name_bytes_max = std::numeric_limits<std::uint32_t>::max();
    if (p.channel.size() > name_bytes_max || p.pattern.size() > name_bytes_max) [[unlikely]]
        return nullptr; // No server has such a name.
    auto const bytes = sizeof(message_block) + p.channel.size() + p.pattern.size() + p.payload.size();
    void* space = nullptr;
    try {
        space = fairlead::impl::exec::recycle_allocate(bytes);
    } catch (...) {
        return nullptr;
    }
    auto* const b = ::new (space) message_block{.next = nullptr,
                                                .connection = connection,
                                                .lost = 0,
                                                .payload_bytes = p.payload.size(),
                                                .channel_bytes = static_cast<std::uint32_t>(p.channel.size()),
                                                .pattern_bytes = static_cast<std::uint32_t>(p.pattern.size())};
    char* to = b->texts();
    for (auto const text : {p.channel, p.pattern, p.payload})
        to = std::copy(text.begin(), text.end(), to);
    return owned_block(b);
}

} // namespace

bool subscriptions::receivers::has(subscription_entry const& e) const noexcept {
    return first == &e || std::ranges::find(others, &e) != others.end();
}

void subscriptions::receivers::add(subscription_entry& e) {
    if (!first)
        first = &e;
    else if (!has(e))
        others.push_back(&e);
}

bool subscriptions::receivers::remove(subscription_entry const& e) noexcept {
    if (first != &e) {
        std::erase(others, &e);
        return false;
    }
    if (others.empty())
        return true;
    first = others.front();
    others.erase(others.begin());
    return false;
}

bool subscriptions::receivers::all_ask() const noexcept {
    return first->asks && std::ranges::all_of(others, &subscription_entry::asks);
}

/// The lock is not to be left by an exception.
template <class F> void subscriptions::under_lock(F f) {
    std::exception_ptr why;
    domain_->under_lock([&f, &why]() noexcept {
        try {
            f();
        } catch (...) {
            why = std::current_exception();
        }
    });
    if (why)
        std::rethrow_exception(std::move(why));
}

void subscriptions::add(subscription_entry& e, request& begin) {
    for (auto const& [k, name] : e.wanted)
        begin.push(word_for(k, begin_commands), name);
    bool is_over = false;
    under_lock([&] {
        is_over = is_over_;
        for (auto const& [k, name] : e.wanted) {
            of(k)[name].add(e);
        }
    });
    if (is_over)
        domain_->change([&e](op_queue& ready) noexcept { e.box.close(ready); });
}

void subscriptions::remove(subscription_entry& e, request& last_ones) noexcept {
    under_lock([&] {
        for (auto const& [k, name] : e.wanted) {
            auto* const found = of(k).find(name);
            if (!found || !found->remove(e))
                continue;
            try {
                last_ones.push(word_for(k, end_commands), name);
            } catch (...) { // Without memory the server goes on sending, to nobody.
            }
            of(k).erase(name);
        }
    });
}

/// In the order of their names: that of the table differs between libraries.
void subscriptions::append_all(request& to, std::uint64_t session) {
    under_lock([&] {
        session_ = session;
        std::vector<std::string_view> all;
        for (auto const k : {topic::kind::channel, topic::kind::pattern, topic::kind::shard}) {
            all.clear();
            of(k).for_each([&](std::string_view name, receivers const& wanting) {
                if (wanting.all_ask())
                    wanting.for_each([session](subscription_entry& e) { e.left_to_it = session; });
                else
                    all.push_back(name);
            });
            std::ranges::sort(all);
            for (auto const name : all)
                to.push(word_for(k, begin_commands), name);
        }
    });
}

bool subscriptions::has_asked(subscription_entry& e, bool is_lost, bool is_session_under_way) noexcept {
    return domain_->look([&, this]() noexcept {
        e.asks = false;
        return is_lost && is_session_under_way && e.left_to_it == session_;
    });
}

bool subscriptions::has_names() noexcept {
    return domain_->look(
        [this]() noexcept { return !std::ranges::all_of(wanted_, [](names const& n) { return n.empty(); }); });
}

void subscriptions::end_all() noexcept {
    domain_->change([this](op_queue& ready) noexcept {
        is_over_ = true;
        for (auto& each : wanted_)
            each.for_each([&ready](std::string_view, receivers const& all) {
                all.for_each([&ready](subscription_entry& e) { e.box.close(ready); });
            });
    });
}

bool subscriptions::pass_on(std::span<resp3::node const> push, std::uint64_t connection,
                            std::uint32_t portion) noexcept {
    published p;
    if (!read_published(push, p))
        return false;
    auto block = make_block(p, connection);
    bool is_too_much = false;
    std::uint32_t dropped = 0;
    domain_->change([&, this](op_queue& ready) noexcept {
        auto* const found = of(p.kind).find(p.wanted);
        if (!found)
            return;
        found->for_each([&](subscription_entry& e) {
            if (!block)
                block = make_block(p, connection);
            if (!block) {
                e.box.miss();
                ++dropped;
                return;
            }
            auto const outcome = e.box.put(std::move(block), portion, ready);
            dropped += outcome.dropped;
            is_too_much = is_too_much || outcome.is_too_much;
        });
    });
    if (dropped != 0) [[unlikely]]
        dropped_ += dropped;
    return is_too_much;
}

} // namespace fairlead::redis::impl
