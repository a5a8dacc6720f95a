// The commands of cmd/streams.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/streams.hpp>

namespace fairlead::redis {

/// The functions of cmd/streams.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class streams_of {
public:
    decltype(auto) xack(key_view key, value_view group, values_view ids) {
        return static_cast<Derived&>(*this).call(cmd::xack(key, group, ids));
    }
    template <class... More>
    decltype(auto) xack(key_view key, value_view group, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::xack(key, group, first, second, more...));
    }
    template <class... Option>
    decltype(auto) xadd(key_view key, value_view id, fields_view fields, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xadd(key, id, fields, option...));
    }
    template <class... Option> decltype(auto) xautoclaim(key_view key, value_view group, value_view consumer,
                                                         impl::milliseconds_view idle, value_view start,
                                                         Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xautoclaim(key, group, consumer, idle, start, option...));
    }
    template <class... Option> decltype(auto) xclaim(key_view key, value_view group, value_view consumer,
                                                     impl::milliseconds_view idle, values_view ids,
                                                     Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xclaim(key, group, consumer, idle, ids, option...));
    }
    decltype(auto) xdel(key_view key, values_view ids) {
        return static_cast<Derived&>(*this).call(cmd::xdel(key, ids));
    }
    template <class... More>
    decltype(auto) xdel(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::xdel(key, first, second, more...));
    }
    template <class... Option>
    decltype(auto) xgroup_create(key_view key, value_view group, value_view id, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xgroup_create(key, group, id, option...));
    }
    decltype(auto) xgroup_createconsumer(key_view key, value_view group, value_view consumer) {
        return static_cast<Derived&>(*this).call(cmd::xgroup_createconsumer(key, group, consumer));
    }
    decltype(auto) xgroup_delconsumer(key_view key, value_view group, value_view consumer) {
        return static_cast<Derived&>(*this).call(cmd::xgroup_delconsumer(key, group, consumer));
    }
    decltype(auto) xgroup_destroy(key_view key, value_view group) {
        return static_cast<Derived&>(*this).call(cmd::xgroup_destroy(key, group));
    }
    template <class... Option>
    decltype(auto) xgroup_setid(key_view key, value_view group, value_view id, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xgroup_setid(key, group, id, option...));
    }
    decltype(auto) xinfo_consumers(key_view key, value_view group) {
        return static_cast<Derived&>(*this).call(cmd::xinfo_consumers(key, group));
    }
    decltype(auto) xinfo_groups(key_view key) { return static_cast<Derived&>(*this).call(cmd::xinfo_groups(key)); }
    decltype(auto) xinfo_stream(key_view key) { return static_cast<Derived&>(*this).call(cmd::xinfo_stream(key)); }
    decltype(auto) xlen(key_view key) { return static_cast<Derived&>(*this).call(cmd::xlen(key)); }
    decltype(auto) xpending(key_view key, value_view group) {
        return static_cast<Derived&>(*this).call(cmd::xpending(key, group));
    }
    decltype(auto) xpending(key_view key, value_view group, value_view first, value_view last, std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::xpending(key, group, first, last, count));
    }
    decltype(auto) xpending(key_view key, value_view group, value_view first, value_view last, std::int64_t count,
                            value_view consumer, impl::milliseconds_view idle) {
        return static_cast<Derived&>(*this).call(cmd::xpending(key, group, first, last, count, consumer, idle));
    }
    template <class... Option>
    decltype(auto) xrange(key_view key, value_view first, value_view last, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xrange(key, first, last, option...));
    }
    template <class... Option> decltype(auto) xread(impl::stream_positions streams, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xread(streams, option...));
    }
    template <class... Option> decltype(auto) xreadgroup(value_view group, value_view consumer,
                                                         impl::stream_positions streams, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xreadgroup(group, consumer, streams, option...));
    }
    template <class... Option>
    decltype(auto) xrevrange(key_view key, value_view last, value_view first, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xrevrange(key, last, first, option...));
    }
    decltype(auto) xsetid(key_view key, value_view last_id) {
        return static_cast<Derived&>(*this).call(cmd::xsetid(key, last_id));
    }
    template <class... Option> decltype(auto) xtrim(key_view key, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::xtrim(key, option...));
    }

protected:
    streams_of() = default;
    ~streams_of() = default;
    streams_of(streams_of const&) = default;
    streams_of& operator=(streams_of const&) = default;
};

} // namespace fairlead::redis
