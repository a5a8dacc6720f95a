// The subscriptions of a client, and the ways of messages to them.
#pragma once

#include <fairlead/redis/request.hpp>
#include <fairlead/redis/subscription.hpp>
#include <fairlead/resp3/node.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::redis::impl {

class client_core;

/// One subscription. Its sender ends with the client or with the subscription, whichever goes first.
struct subscription_entry {
    client_core* client; ///< retained
    kept_topics wanted;
    std::optional<broadcast_sender<message>> out;
};

/// The wanted state, and the ways of messages. Any thread; the lock is held for a look into a map and a hand-over.
class subscriptions {
public:
    /// Adds `e`, and to `begin` the commands for its names.
    /// Throws     bad_alloc: `e` is to be removed
    void add(subscription_entry& e, request& begin);
    /// Takes `e` back, and adds to `last_ones` the commands for names that nobody has any more.
    void remove(subscription_entry& e, request& last_ones) noexcept;
    /// Adds the commands for all names.
    void append_all(request& to);
    /// Of a push: hands it to whoever wants it.
    void pass_on(std::span<resp3::node const> push, std::uint64_t connection) noexcept;
    /// Nobody will be sent anything any more.
    void end_all() noexcept;

private:
    using receivers = std::vector<subscription_entry*>;
    using names = std::map<std::string, receivers, std::less<>>;

    names& of(topic::kind k) noexcept { return wanted_[static_cast<std::size_t>(k)]; }

    std::mutex mutex_;
    std::array<names, 3> wanted_;
    bool is_over_ = false;
};

} // namespace fairlead::redis::impl
