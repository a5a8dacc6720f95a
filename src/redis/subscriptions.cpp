#include <redis/subscriptions.hpp>

#include <fairlead/base/assert.hpp>
#include <fairlead/base/copy_text.hpp>

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

/// Returns its end.
FAIRLEAD_ALWAYS_INLINE char* append_text(char* to, std::string_view text) noexcept {
    fairlead::impl::base::copy_text(to, text.data(), text.size());
    return to + text.size();
}

/// Null: no memory.
FAIRLEAD_ALWAYS_INLINE owned_block make_block(pushed_message const& m, std::uint64_t connection) noexcept {
    constexpr std::size_t name_bytes_max = std::numeric_limits<std::uint32_t>::max();
    if (m.channel.size() > name_bytes_max || m.pattern.size() > name_bytes_max) [[unlikely]]
        return nullptr; // No server has such a name.
    auto const bytes = sizeof(message_block) + m.channel.size() + m.pattern.size() + m.payload.size();
    void* const space = fairlead::impl::exec::recycle_take_or_null(bytes);
    if (!space) [[unlikely]]
        return nullptr;
    auto* const b = ::new (space) message_block{.next = nullptr,
                                                .connection = connection,
                                                .lost = 0,
                                                .payload_bytes = m.payload.size(),
                                                .channel_bytes = static_cast<std::uint32_t>(m.channel.size()),
                                                .pattern_bytes = static_cast<std::uint32_t>(m.pattern.size())};
    char* to = append_text(b->texts(), m.channel);
    if (!m.pattern.empty())
        to = append_text(to, m.pattern);
    append_text(to, m.payload);
    return owned_block(b);
}

FAIRLEAD_NOINLINE owned_block make_another(pushed_message const& m, std::uint64_t connection) noexcept {
    return make_block(m, connection);
}

} // namespace

bool subscriptions::receivers::has(subscription_entry const& e) const noexcept {
    return first == &e || (others && std::ranges::find(*others, &e) != others->end());
}

void subscriptions::receivers::add(subscription_entry& e) {
    if (!first) {
        first = &e;
    } else if (!has(e)) {
        if (!others)
            others = std::make_unique<std::vector<subscription_entry*>>();
        others->push_back(&e);
    }
}

bool subscriptions::receivers::remove(subscription_entry const& e) noexcept {
    if (first == &e) {
        if (!others || others->empty()) // Without memory for its first one, add() leaves an empty list.
            return true;
        first = others->front();
        others->erase(others->begin());
    } else if (others) {
        std::erase(*others, &e);
    }
    if (others && others->empty())
        others.reset();
    return false;
}

bool subscriptions::receivers::all_ask() const noexcept {
    return first->asks && (!others || std::ranges::all_of(*others, &subscription_entry::asks));
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
    under_lock([&] {
        for (auto const& [k, name] : e.wanted)
            of(k)[name].add(e);
    });
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
        return is_lost && is_session_under_way && !e.is_over && e.left_to_it == session_;
    });
}

bool subscriptions::has_names() noexcept {
    return domain_->look(
        [this]() noexcept { return !std::ranges::all_of(wanted_, [](names const& n) { return n.empty(); }); });
}

void subscriptions::end_all() noexcept {
    domain_->change([this](op_queue& ready) noexcept {
        for (auto& each : wanted_) {
            each.for_each([&ready](std::string_view, receivers const& all) {
                all.for_each([&ready](subscription_entry& e) {
                    e.is_over = true;
                    e.box.close(ready);
                });
            });
            each = names();
        }
    });
}

/// Under the lock. `block` has a copy of the message, or nothing.
FAIRLEAD_ALWAYS_INLINE void subscriptions::hand_over(receivers const& to, pushed_message const& m, owned_block block,
                                                     delivery& d, op_queue& ready) noexcept {
    to.for_each([&](subscription_entry& e) {
        if (!block) [[unlikely]]
            block = make_another(m, d.connection);
        if (!block) [[unlikely]] {
            e.box.miss();
            ++d.dropped;
            return;
        }
        auto const outcome = e.box.put(std::move(block), d.portion, ready);
        d.dropped += outcome.dropped;
        d.is_too_much = d.is_too_much || outcome.is_too_much;
    });
}

bool subscriptions::pass_on(std::span<resp3::node const> push, std::uint64_t connection,
                            std::uint32_t portion) noexcept {
    pushed_message m;
    if (!read_message(push, m))
        return false;
    auto block = make_block(m, connection);
    delivery d{connection, portion};
    domain_->change([&, this](op_queue& ready) noexcept {
        if (auto* const found = of(m.kind).find(m.wanted))
            hand_over(*found, m, std::move(block), d, ready);
    });
    if (d.dropped != 0) [[unlikely]]
        dropped_ += d.dropped;
    return d.is_too_much;
}

bool subscriptions::pass_on(std::span<resp3::text_push const> messages, std::uint64_t connection,
                            std::uint32_t portion) noexcept {
    delivery d{connection, portion};
    auto const n = messages.size();
    FAIRLEAD_ASSERT(n <= messages_at_once);
    std::size_t hashes[messages_at_once];
    message_block* blocks[messages_at_once];
    receivers const* wanting[messages_at_once];
    for (std::size_t i = 0; i != n; ++i) {
        hashes[i] = hash_of_name(wanted_of(messages[i]));
        blocks[i] = make_block(message_of(messages[i]), connection).release();
    }
    // Each step of a look-up is made for all of them, and meanwhile the processor fetches what the next step reads.
    domain_->change([&, this](op_queue& ready) noexcept {
        for (std::size_t i = 0; i != n; ++i)
            of(kind_of(messages[i])).expect(hashes[i]);
        for (std::size_t i = 0; i != n; ++i) {
            wanting[i] = of(kind_of(messages[i])).find(wanted_of(messages[i]), hashes[i]);
            if (wanting[i]) [[likely]]
                wanting[i]->first->box.expect_message();
        }
        for (std::size_t i = 0; i != n; ++i)
            if (owned_block block(blocks[i]); wanting[i]) [[likely]]
                hand_over(*wanting[i], message_of(messages[i]), std::move(block), d, ready);
    });
    if (d.dropped != 0) [[unlikely]]
        dropped_ += d.dropped;
    return d.is_too_much;
}

} // namespace fairlead::redis::impl
