// How a client subscribes.
#include <redis/client_core.hpp>
#include <redis/topic_connection.hpp>

#include <fairlead/token/adapters.hpp>

#include <memory>
#include <utility>

namespace fairlead::redis::impl {

awaitable<subscription> client_core::subscribe(reference self, kept_topics all, subscription_options limits) {
    auto& c = *self.core;
    auto const& usual = c.options_;
    auto* const entry = new subscription_entry(
        &c, c.executor(), std::move(all), limits.messages_max != 0 ? limits.messages_max : usual.subscription_buffer,
        limits.bytes_max != 0 ? limits.bytes_max : usual.subscription_bytes);
    c.retain(); // for the entry
    subscription s(entry->box, entry);
    request begin;
    c.subscriptions_.add(*entry, begin);
    begin.serve_subscription();
    error_code ec;
    bool is_lost = false;
    do {
        ec.clear();
        auto executing = completion_token_transform<execute::signature>(redirect_error(ec),
                                                                        execute(*c.shared_, begin, refer_to(ignore)));
        co_await std::move(executing);
        // Lost with its connection, it is among the first commands of the next one. That may have begun already, if
        // this coroutine is on a thread that is late.
        is_lost = (ec == error::maybe_executed || ec == error::not_sent) && !c.subscriptions_.has_ended(*entry);
    } while (c.subscriptions_.has_asked(*entry, is_lost, c.is_carrier_ready()));
    if (ec && !is_lost)
        throw system_error(ec, ec == condition::refused_by_server ? c.shared_->server_text() : "redis subscribe");
    co_return s;
}

bool client_core::is_carrier_ready() noexcept {
    if (shared_->protocol() == resp3::version::resp3)
        return shared_->is_connected();
    auto* const t = pool_.topics();
    return t && t->core().is_connected();
}

awaitable<subscription> subscribe_to(client_core& c, kept_topics all, subscription_options const& o) {
    return client_core::subscribe(client_core::reference(&c), std::move(all), o);
}

namespace {

/// Commands that nobody waits for.
struct farewell {
    request last;
};

} // namespace

void client_core::leave(subscription_entry& e) noexcept {
    try {
        auto words = std::make_unique<farewell>();
        subscriptions_.remove(e, words->last);
        if (words->last.empty() || !is_carrier_ready())
            return; // The next connection does not know of it.
        words->last.serve_subscription();
        auto const& last = words->last;
        execute(*shared_, last, refer_to(ignore))([kept = std::move(words)](error_code, std::size_t) {});
    } catch (...) { // Without memory: the server sends what nobody wants.
        request unused;
        subscriptions_.remove(e, unused);
    }
}

void leave_subscription::operator()(subscription_entry* e) const noexcept {
    auto* const c = e->client;
    c->leave(*e);
    delete e;
    c->release();
}

} // namespace fairlead::redis::impl
