// The commands of cmd/pubsub.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/pubsub.hpp>

namespace fairlead::redis {

/// The functions of cmd/pubsub.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class pubsub_of {
public:
    decltype(auto) psubscribe(keys_view patterns) {
        return static_cast<Derived&>(*this).call(cmd::psubscribe(patterns));
    }
    decltype(auto) publish(key_view channel, value_view message) {
        return static_cast<Derived&>(*this).call(cmd::publish(channel, message));
    }
    decltype(auto) pubsub_channels(value_view pattern = "*") {
        return static_cast<Derived&>(*this).call(cmd::pubsub_channels(pattern));
    }
    decltype(auto) pubsub_numpat() { return static_cast<Derived&>(*this).call(cmd::pubsub_numpat()); }
    decltype(auto) pubsub_numsub(keys_view channels) {
        return static_cast<Derived&>(*this).call(cmd::pubsub_numsub(channels));
    }
    decltype(auto) pubsub_shardchannels(value_view pattern = "*") {
        return static_cast<Derived&>(*this).call(cmd::pubsub_shardchannels(pattern));
    }
    decltype(auto) pubsub_shardnumsub(keys_view channels) {
        return static_cast<Derived&>(*this).call(cmd::pubsub_shardnumsub(channels));
    }
    decltype(auto) punsubscribe(keys_view patterns = {}) {
        return static_cast<Derived&>(*this).call(cmd::punsubscribe(patterns));
    }
    decltype(auto) spublish(key_view channel, value_view message) {
        return static_cast<Derived&>(*this).call(cmd::spublish(channel, message));
    }
    decltype(auto) ssubscribe(keys_view channels) {
        return static_cast<Derived&>(*this).call(cmd::ssubscribe(channels));
    }
    decltype(auto) subscribe(keys_view channels) { return static_cast<Derived&>(*this).call(cmd::subscribe(channels)); }
    decltype(auto) sunsubscribe(keys_view channels = {}) {
        return static_cast<Derived&>(*this).call(cmd::sunsubscribe(channels));
    }
    decltype(auto) unsubscribe(keys_view channels = {}) {
        return static_cast<Derived&>(*this).call(cmd::unsubscribe(channels));
    }

protected:
    pubsub_of() = default;
    ~pubsub_of() = default;
    pubsub_of(pubsub_of const&) = default;
    pubsub_of& operator=(pubsub_of const&) = default;
};

} // namespace fairlead::redis
