// The parts of a push that is a message of a channel.
#pragma once

#include <fairlead/redis/subscription.hpp>
#include <fairlead/resp3/node.hpp>
#include <fairlead/resp3/parser.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace fairlead::redis::impl {

struct pushed_message {
    topic::kind kind;
    std::string_view wanted; ///< the channel or the pattern
    std::string_view channel, pattern, payload;
};

inline bool read_message(std::span<resp3::node const> push, pushed_message& into) noexcept {
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

/// So many are passed on together.
inline constexpr std::size_t messages_at_once = 32;

/// Whether read_message() would read it, were it given as nodes.
inline bool is_message(resp3::text_push const& push) noexcept {
    auto const what = push.texts[0];
    if (what == "message" || what == "smessage") [[likely]]
        return push.size >= 3;
    return what == "pmessage" && push.size >= 4;
}
// Of one that is_message().
inline topic::kind kind_of(resp3::text_push const& push) noexcept {
    using enum topic::kind;
    auto const first = push.texts[0].front();
    return first == 'm' ? channel : first == 'p' ? pattern : shard;
}
inline std::string_view wanted_of(resp3::text_push const& push) noexcept { return push.texts[1]; }
inline pushed_message message_of(resp3::text_push const& push) noexcept {
    auto const& t = push.texts;
    auto const kind = kind_of(push);
    if (kind == topic::kind::pattern)
        return {kind, t[1], t[2], t[1], t[3]};
    return {kind, t[1], t[1], {}, t[2]};
}

} // namespace fairlead::redis::impl
