// Messages of channels that a client has subscribed to.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/sync/broadcast.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fairlead::redis {

/// A name to subscribe to: a channel, unless pattern() or shard() says otherwise.
struct topic {
    enum class kind : unsigned char {
        channel, ///< SUBSCRIBE
        pattern, ///< PSUBSCRIBE
        shard,   ///< SSUBSCRIBE
    };
    template <std::convertible_to<std::string_view> Text>
    constexpr topic(Text const& text, kind k = kind::channel) noexcept : name(text),
                                                                         what(k) {}
    std::string_view name;
    kind what;
};
/// All channels whose name matches: pattern("log.*").
constexpr topic pattern(std::string_view name) noexcept { return {name, topic::kind::pattern}; }
/// A channel of a shard.
constexpr topic shard(std::string_view name) noexcept { return {name, topic::kind::shard}; }

/// A message that was published.
struct message {
    std::string channel;
    std::string payload;
    std::string pattern;          ///< That it matched; else empty.
    std::uint64_t connection = 0; ///< The number of the connection that brought it, from 1: see subscription.
};

class subscription;

namespace impl {

class client_core;
struct subscription_entry;
/// Topics with texts of their own.
using kept_topics = std::vector<std::pair<topic::kind, std::string>>;
template <class... Topics> kept_topics keep_topics(Topics const&... all) {
    kept_topics kept;
    kept.reserve(sizeof...(all));
    (kept.emplace_back(all.what, all.name), ...);
    return kept;
}
FAIRLEAD_EXPORT awaitable<subscription> subscribe_to(client_core& c, kept_topics all);
/// Takes the subscription back.
struct leave_subscription {
    FAIRLEAD_EXPORT void operator()(subscription_entry* e) const noexcept;
};

} // namespace impl

/// The receiving end of a subscription: `while (auto m = co_await news.next()) use(m->value);`. It has a buffer of its
/// own. A slow reader stops nobody: it loses the oldest messages, and is told how many (broadcast_message::lost).
/// Across the loss of a connection messages are missed without a count; then message::connection is another number than
/// before. Its destructor ends the subscription. It may outlive the client: next() gives nothing then.
///
/// Threads    one at a time
class subscription {
public:
    using executor_type = any_io_executor;

    executor_type get_executor() const noexcept { return in_.get_executor(); }
    /// Receives the next message. None: the client has gone.
    /// Completes  (error_code ec, std::optional<broadcast_message<message>>)
    /// Errors     error::operation_aborted  the wait was cancelled; nothing was received
    /// Cancel     terminal, partial, total
    /// Immediate  when a message is there
    /// Lifetime   as the subscription, which may be moved
    /// Threads    one receive at a time
    /// Allocates  for the message
    template <class Token = use_await_t> decltype(auto) async_next(Token&& token = {}) {
        return in_.async_next(std::forward<Token>(token));
    }
    /// async_next() with the default token.
    decltype(auto) next() { return async_next(); }

private:
    friend class impl::client_core;
    subscription(broadcast_receiver<message> in, impl::subscription_entry* e) : in_(std::move(in)), entry_(e) {}
    broadcast_receiver<message> in_;
    std::unique_ptr<impl::subscription_entry, impl::leave_subscription> entry_;
};

} // namespace fairlead::redis
