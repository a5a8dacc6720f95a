// Messages of channels that a client has subscribed to.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/operation/direct_op.hpp>
#include <fairlead/redis/mailbox.hpp>
#include <fairlead/redis/message.hpp>

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

/// The limits of one subscription: `db.subscribe(limits, "news")`. Zero: as client_options has it.
struct subscription_options {
    std::size_t messages_max = 0; ///< client_options::subscription_buffer
    std::size_t bytes_max = 0;    ///< client_options::subscription_bytes
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
FAIRLEAD_EXPORT awaitable<subscription> subscribe_to(client_core& c, kept_topics all, subscription_options const& o);
/// Takes the subscription back.
struct leave_subscription {
    FAIRLEAD_EXPORT void operator()(subscription_entry* e) const noexcept;
};

} // namespace impl

/// The receiving end of a subscription: `while (auto m = co_await news.next()) use(m->payload());`. It has a buffer of
/// its own. A slow reader stops nobody: beyond its limits it loses the oldest messages, and is told how many
/// (message::lost). A reader that waits for the next message, or is about to run, is not slow. It gets what one read of
/// the connection has brought in portions that it has room for, within 10 ms. Across the loss of a connection messages
/// are missed without a count; then message::connection is another number than before. Its destructor ends the
/// subscription. It ends with client::async_run, and may outlive the client: next() gives the messages that have come,
/// and nothing then. A client that is run again begins without subscriptions.
///
/// Threads    one at a time
class subscription {
public:
    using executor_type = any_io_executor;

    executor_type get_executor() const noexcept { return box_->executor(); }
    /// Receives the next message. None: the client's async_run has ended, or the client has gone.
    /// Completes  (error_code ec, std::optional<message>)
    /// Errors     error::operation_aborted  the wait was cancelled; nothing was received
    /// Cancel     terminal, partial, total
    /// Immediate  when a message is there
    /// Lifetime   as the subscription, which may be moved
    /// Threads    one receive at a time
    /// Allocates  nothing awaited. Each message has a block of the recycler, which it gives back
    template <class Token = use_await_t> decltype(auto) async_next(Token&& token = {}) {
        return fairlead::impl::operation::initiate_on<impl::receive_message::signature>(
            *this, std::forward<Token>(token), impl::receive_message(*box_));
    }
    /// async_next() with the default token. Awaited in a coroutine, a message that is there is taken without a call.
    decltype(auto) next() { return fairlead::impl::operation::initiate_directly(*this, impl::receive_message(*box_)); }

    /// For initiate_on().
    bool runs_handlers() const noexcept { return box_->runs_handlers(); }

private:
    friend class impl::client_core;
    subscription(impl::mailbox& box, impl::subscription_entry* entry) : box_(&box), entry_(entry) {}
    impl::mailbox* box_; ///< of the entry
    std::unique_ptr<impl::subscription_entry, impl::leave_subscription> entry_;
};

} // namespace fairlead::redis
