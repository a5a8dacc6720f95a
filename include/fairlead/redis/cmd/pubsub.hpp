// Messages to channels. A subscription has no reply; what comes is received by async_receive.
#pragma once

#include <fairlead/redis/options.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis {

namespace impl {

inline error_code read_nothing(reply_reader&, void*) { return {}; }
inline command<confirmation_t> make_subscription(std::string_view name, keys_view channels) {
    return make<confirmation_t>(name, {channels}, &read_nothing);
}

} // namespace impl

namespace cmd {

/// PSUBSCRIBE: messages of all channels whose names match.
inline command<confirmation_t> psubscribe(keys_view patterns) {
    return impl::make_subscription("PSUBSCRIBE", patterns);
}
/// PUBLISH: how many clients of this server got the message.
inline command<std::int64_t> publish(key_view channel, value_view message) {
    return impl::make<std::int64_t>("PUBLISH", {channel, message});
}
/// PUBSUB CHANNELS: the channels that somebody has subscribed to, and whose names match.
inline command<std::vector<std::string>> pubsub_channels(value_view pattern = "*") {
    return impl::make<std::vector<std::string>>("PUBSUB", {"CHANNELS", pattern});
}
/// PUBSUB NUMPAT: how many patterns there are.
inline command<std::int64_t> pubsub_numpat() { return impl::make<std::int64_t>("PUBSUB", {"NUMPAT"}); }
/// PUBSUB NUMSUB: the subscribers of each channel.
inline command<std::vector<std::pair<std::string, std::int64_t>>> pubsub_numsub(keys_view channels) {
    return impl::make<std::vector<std::pair<std::string, std::int64_t>>>("PUBSUB", {"NUMSUB", channels});
}
/// PUBSUB SHARDCHANNELS: as pubsub_channels(), of channels of shards.
inline command<std::vector<std::string>> pubsub_shardchannels(value_view pattern = "*") {
    return impl::make<std::vector<std::string>>("PUBSUB", {"SHARDCHANNELS", pattern});
}
/// PUBSUB SHARDNUMSUB: as pubsub_numsub(), of channels of shards.
inline command<std::vector<std::pair<std::string, std::int64_t>>> pubsub_shardnumsub(keys_view channels) {
    return impl::make<std::vector<std::pair<std::string, std::int64_t>>>("PUBSUB", {"SHARDNUMSUB", channels});
}
/// PUNSUBSCRIBE: without patterns from all of them.
inline command<confirmation_t> punsubscribe(keys_view patterns = {}) {
    return impl::make_subscription("PUNSUBSCRIBE", patterns);
}
/// SPUBLISH: as publish(), to a channel of a shard.
inline command<std::int64_t> spublish(key_view channel, value_view message) {
    return impl::make<std::int64_t>("SPUBLISH", {channel, message});
}
/// SSUBSCRIBE: messages of channels of shards.
inline command<confirmation_t> ssubscribe(keys_view channels) {
    return impl::make_subscription("SSUBSCRIBE", channels);
}
/// SUBSCRIBE: messages of channels.
inline command<confirmation_t> subscribe(keys_view channels) { return impl::make_subscription("SUBSCRIBE", channels); }
/// SUNSUBSCRIBE: without channels from all of them.
inline command<confirmation_t> sunsubscribe(keys_view channels = {}) {
    return impl::make_subscription("SUNSUBSCRIBE", channels);
}
/// UNSUBSCRIBE: without channels from all of them.
inline command<confirmation_t> unsubscribe(keys_view channels = {}) {
    return impl::make_subscription("UNSUBSCRIBE", channels);
}

} // namespace cmd
} // namespace fairlead::redis
