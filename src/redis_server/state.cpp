// The common state of the embedded server: keys that expire, changes, output for other clients.
#include <redis_server/state.hpp>

#include <fairlead/base/assert.hpp>

#include <algorithm>
#include <utility>

namespace fairlead::redis::server_impl {

std::string_view type_name(value const& held) noexcept {
    constexpr std::string_view names[] = {"string", "hash", "list", "set", "zset", "stream", "string"};
    static_assert(std::size(names) == std::variant_size_v<value>);
    return names[held.index()];
}

bool is_gone(value const& held) noexcept {
    auto const is_empty = []<typename T>(T const* collection) { return collection && collection->empty(); };
    return is_empty(std::get_if<hash_value>(&held)) || is_empty(std::get_if<list_value>(&held)) ||
           is_empty(std::get_if<set_value>(&held)) || is_empty(std::get_if<sorted_set_value>(&held));
}

database::iterator server_state::find(std::size_t in, std::string_view key) {
    database& db = databases[in];
    auto const at = db.find(key);
    if (at == db.end() || at->second.expires_at == no_expiry || at->second.expires_at > now())
        return at;
    touch(in, key);
    db.erase(at);
    return db.end();
}

void server_state::expire(std::size_t in) {
    std::int64_t const t = now();
    std::erase_if(databases[in], [&](auto const& item) {
        bool const is_over = item.second.expires_at <= t && item.second.expires_at != no_expiry;
        if (is_over)
            touch(in, item.first);
        return is_over;
    });
}

void server_state::clear(std::size_t in) {
    if (!watchers.empty() || !waiters.empty())
        for (auto const& [key, item] : databases[in])
            touch(in, key);
    databases[in].clear();
}

void server_state::touch(std::size_t in, std::string_view key) {
    if (watchers.empty() && waiters.empty())
        return;
    watched_key const changed(in, key);
    if (auto const at = watchers.find(changed); at != watchers.end())
        for (server_session* const who : at->second)
            who->watch_broken = true;
    if (waiters.contains(changed))
        ready.push_back(changed);
}

void server_state::signal(server_session& who) {
    if (!who.is_dirty && !who.is_running) {
        who.is_dirty = true;
        dirty.push_back(&who);
    }
}

void server_state::push(server_session& to, std::string_view bytes) {
    if (to.closing)
        return;
    if (to.is_running) {
        to.pushes_to_self += bytes;
        return;
    }
    if (to.output.size() + bytes.size() > options.push_backlog_bytes_max) {
        to.output.clear(); // It will not be read: the client is too slow, and losing messages silently is worse.
        return close(to);
    }
    to.output += bytes;
    signal(to);
}

void server_state::close(server_session& who) {
    who.closing = true;
    signal(who);
}

void server_state::unwatch(server_session& who) {
    for (auto const& key : who.watched) {
        auto const at = watchers.find(key);
        at->second.erase(&who);
        if (at->second.empty())
            watchers.erase(at);
    }
    who.watched.clear();
    who.watch_broken = false;
}

void server_state::unsubscribe_all(server_session& who) {
    for (std::size_t kind = 0; kind != subscription_kinds; ++kind) {
        for (auto const& name : who.subscribed[kind]) {
            auto const at = subscriptions[kind].find(name);
            at->second.erase(&who);
            if (at->second.empty())
                subscriptions[kind].erase(at);
        }
        who.subscribed[kind].clear();
    }
}

void reset_session(server_session& who) {
    who.server.unwatch(who);
    who.server.unsubscribe_all(who);
    who.protocol = resp3::version::resp2;
    acl_user const& user = who.server.users.find("default")->second;
    who.user = "default";
    who.authenticated = user.is_on && user.needs_no_password;
    who.database = 0;
    who.name.clear();
    who.replies = reply_mode::on;
    who.in_transaction = false;
    who.transaction_failed = false;
    who.queued_bytes = 0;
    who.queue.clear();
}

} // namespace fairlead::redis::server_impl
