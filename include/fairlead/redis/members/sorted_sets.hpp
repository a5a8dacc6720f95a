// The commands of cmd/sorted_sets.hpp as members. Made by tools/redis_members.py --write; not to be edited.
#pragma once

#include <fairlead/redis/cmd/sorted_sets.hpp>

namespace fairlead::redis {

/// The functions of cmd/sorted_sets.hpp as members of Derived, whose call(command) executes a command.
template <class Derived> class sorted_sets_of {
public:
    template <class T = std::string>
    decltype(auto) bzmpop(impl::wait_time limit, keys_view keys, score_end from, std::int64_t count = 1) {
        return static_cast<Derived&>(*this).call(cmd::bzmpop<T>(limit, keys, from, count));
    }
    template <class T = std::string> decltype(auto) bzpopmax(keys_view keys, impl::wait_time limit) {
        return static_cast<Derived&>(*this).call(cmd::bzpopmax<T>(keys, limit));
    }
    template <class T = std::string> decltype(auto) bzpopmin(keys_view keys, impl::wait_time limit) {
        return static_cast<Derived&>(*this).call(cmd::bzpopmin<T>(keys, limit));
    }
    template <class... Option> decltype(auto) zadd(key_view key, scores_view members, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zadd(key, members, option...));
    }
    template <class... Option>
    decltype(auto) zadd_incr(key_view key, value_view member, double by, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zadd_incr(key, member, by, option...));
    }
    decltype(auto) zcard(key_view key) { return static_cast<Derived&>(*this).call(cmd::zcard(key)); }
    decltype(auto) zcount(key_view key, value_view min, value_view max) {
        return static_cast<Derived&>(*this).call(cmd::zcount(key, min, max));
    }
    template <class T = std::string, class... Option> decltype(auto) zdiff(keys_view keys, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zdiff<T>(keys, option...));
    }
    decltype(auto) zdiffstore(key_view target, keys_view keys) {
        return static_cast<Derived&>(*this).call(cmd::zdiffstore(target, keys));
    }
    decltype(auto) zincrby(key_view key, double by, value_view member) {
        return static_cast<Derived&>(*this).call(cmd::zincrby(key, by, member));
    }
    template <class T = std::string, class... Option> decltype(auto) zinter(keys_view keys, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zinter<T>(keys, option...));
    }
    decltype(auto) zintercard(keys_view keys, std::int64_t count_max = 0) {
        return static_cast<Derived&>(*this).call(cmd::zintercard(keys, count_max));
    }
    template <class... Option> decltype(auto) zinterstore(key_view target, keys_view keys, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zinterstore(target, keys, option...));
    }
    decltype(auto) zlexcount(key_view key, value_view min, value_view max) {
        return static_cast<Derived&>(*this).call(cmd::zlexcount(key, min, max));
    }
    template <class T = std::string> decltype(auto) zmpop(keys_view keys, score_end from, std::int64_t count = 1) {
        return static_cast<Derived&>(*this).call(cmd::zmpop<T>(keys, from, count));
    }
    decltype(auto) zmscore(key_view key, values_view members) {
        return static_cast<Derived&>(*this).call(cmd::zmscore(key, members));
    }
    template <class... More>
    decltype(auto) zmscore(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::zmscore(key, first, second, more...));
    }
    template <class T = std::string> decltype(auto) zpopmax(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::zpopmax<T>(key));
    }
    template <class T = std::string> decltype(auto) zpopmax(key_view key, std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::zpopmax<T>(key, count));
    }
    template <class T = std::string> decltype(auto) zpopmin(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::zpopmin<T>(key));
    }
    template <class T = std::string> decltype(auto) zpopmin(key_view key, std::int64_t count) {
        return static_cast<Derived&>(*this).call(cmd::zpopmin<T>(key, count));
    }
    template <class T = std::string> decltype(auto) zrandmember(key_view key) {
        return static_cast<Derived&>(*this).call(cmd::zrandmember<T>(key));
    }
    template <class T = std::string, class... Option>
    decltype(auto) zrandmember(key_view key, std::int64_t count, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zrandmember<T>(key, count, option...));
    }
    template <class T = std::string, class... Option>
    decltype(auto) zrange(key_view key, value_view first, value_view last, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zrange<T>(key, first, last, option...));
    }
    template <class... Option> decltype(auto) zrangestore(key_view target, key_view source, value_view first,
                                                          value_view last, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zrangestore(target, source, first, last, option...));
    }
    template <class... Option> decltype(auto) zrank(key_view key, value_view member, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zrank(key, member, option...));
    }
    decltype(auto) zrem(key_view key, values_view members) {
        return static_cast<Derived&>(*this).call(cmd::zrem(key, members));
    }
    template <class... More>
    decltype(auto) zrem(key_view key, value_view first, value_view second, More const&... more) {
        return static_cast<Derived&>(*this).call(cmd::zrem(key, first, second, more...));
    }
    decltype(auto) zremrangebylex(key_view key, value_view min, value_view max) {
        return static_cast<Derived&>(*this).call(cmd::zremrangebylex(key, min, max));
    }
    decltype(auto) zremrangebyrank(key_view key, std::int64_t first, std::int64_t last) {
        return static_cast<Derived&>(*this).call(cmd::zremrangebyrank(key, first, last));
    }
    decltype(auto) zremrangebyscore(key_view key, value_view min, value_view max) {
        return static_cast<Derived&>(*this).call(cmd::zremrangebyscore(key, min, max));
    }
    template <class... Option> decltype(auto) zrevrank(key_view key, value_view member, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zrevrank(key, member, option...));
    }
    template <class T = std::string, class... Option>
    decltype(auto) zscan(key_view key, std::uint64_t cursor, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zscan<T>(key, cursor, option...));
    }
    decltype(auto) zscore(key_view key, value_view member) {
        return static_cast<Derived&>(*this).call(cmd::zscore(key, member));
    }
    template <class T = std::string, class... Option> decltype(auto) zunion(keys_view keys, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zunion<T>(keys, option...));
    }
    template <class... Option> decltype(auto) zunionstore(key_view target, keys_view keys, Option const&... option) {
        return static_cast<Derived&>(*this).call(cmd::zunionstore(target, keys, option...));
    }

protected:
    sorted_sets_of() = default;
    ~sorted_sets_of() = default;
    sorted_sets_of(sorted_sets_of const&) = default;
    sorted_sets_of& operator=(sorted_sets_of const&) = default;
};

} // namespace fairlead::redis
