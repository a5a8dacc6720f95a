// The interface through which the owner of a connection hears of its sessions.
#pragma once

#include <fairlead/redis/request.hpp>
#include <fairlead/resp3/node.hpp>
#include <fairlead/resp3/parser.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace fairlead::redis::impl {

/// Called by the owner of the connection's loop, until the connection is closed.
class session_watch {
public:
    /// The server has accepted the greeting. It may add commands to `first`, which is sent before the requests of
    /// callers.
    /// Throws     bad_alloc: the session ends
    virtual void opened(request& first) = 0;
    /// `first` has been answered, in part by refusals or not.
    virtual void restored(error_code const& ec) noexcept = 0;
    /// A push has come. `portion` numbers the parts of what was read, between which others run; 0: what comes next is
    /// not held up. True: it is better to hold it up.
    virtual bool pushed(std::span<resp3::node const> message, std::uint32_t portion) noexcept = 0;
    /// As pushed() for each, in their order. They are messages of channels (redis/pushed_message.hpp).
    virtual bool messages_pushed(std::span<resp3::text_push const> all, std::uint32_t portion) noexcept = 0;
    /// connection_core::cancel() has been called, or the connection is closed.
    virtual void cancelled() noexcept = 0;
    /// cancelled() has been called since the decision to begin the session that begins now.
    virtual bool is_cancelled() const noexcept { return false; }
    /// No request has a caller any more. With `answers_due` the server still owes replies to some that were given up.
    virtual void left_alone([[maybe_unused]] bool answers_due) noexcept {}
    /// connection_core::give_back() has been called.
    virtual void given_back() noexcept {}

    /// connection_core::renew() has been called.
    virtual void renewal_wanted() noexcept {}
    /// connection_core::authenticate() has an answer. `text` is that of a refusal.
    virtual void authenticated([[maybe_unused]] error_code const& ec, [[maybe_unused]] std::string_view text) noexcept {
    }

    virtual void retain() noexcept = 0;
    virtual void release() noexcept = 0;

protected:
    ~session_watch() = default;
};

} // namespace fairlead::redis::impl
