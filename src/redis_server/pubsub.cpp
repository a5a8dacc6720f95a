// Publish and subscribe, in its three kinds.
#include <redis_server/call.hpp>

#include <algorithm>
#include <iterator>
#include <string>

namespace fairlead::redis::server_impl::pubsub {
namespace {

struct words {
    std::string_view subscribe, unsubscribe, message;
};
constexpr words words_of[] = {{"subscribe", "unsubscribe", "message"},
                              {"psubscribe", "punsubscribe", "pmessage"},
                              {"ssubscribe", "sunsubscribe", "smessage"}};

constexpr std::size_t index(subscription kind) noexcept { return static_cast<std::size_t>(kind); }

// The count in a confirmation: of channels and patterns together, of shard channels alone.
std::size_t counted(server_session const& who, subscription kind) noexcept {
    return kind == subscription::shard ? who.subscribed[2].size() : who.subscribed[0].size() + who.subscribed[1].size();
}

void confirm(call& c, std::string_view word, std::string_view const* name, subscription kind) {
    resp3::append_push_header(c.out(), 3, c.protocol());
    c.bulk(word);
    name ? c.bulk(*name) : c.null();
    c.size(counted(c.self, kind));
}

void subscribe_to(call& c, subscription kind) {
    auto& registry = c.server.subscriptions[index(kind)];
    for (std::string_view const name : c.args.subspan(1)) {
        if (c.self.subscribed[index(kind)].emplace(name).second)
            registry.try_emplace(std::string(name)).first->second.insert(&c.self);
        confirm(c, words_of[index(kind)].subscribe, &name, kind);
    }
}

void unsubscribe_from(call& c, subscription kind) {
    auto& mine = c.self.subscribed[index(kind)];
    auto& registry = c.server.subscriptions[index(kind)];
    auto const leave = [&](std::string_view name) {
        if (auto const at = mine.find(name); at != mine.end()) {
            auto const channel = registry.find(name);
            channel->second.erase(&c.self);
            if (channel->second.empty())
                registry.erase(channel);
            mine.erase(at);
        }
        confirm(c, words_of[index(kind)].unsubscribe, &name, kind);
    };
    if (c.args.size() > 1) {
        for (std::string_view const name : c.args.subspan(1))
            leave(name);
    } else if (mine.empty()) {
        confirm(c, words_of[index(kind)].unsubscribe, nullptr, kind);
    } else {
        while (!mine.empty())
            leave(std::string(*mine.begin())); // a copy: leave() destroys the original before it is written
    }
}

// The same message for clients of both versions; only the first byte differs.
class message {
public:
    explicit message(std::initializer_list<std::string_view> parts) {
        resp3::append_array_header(bytes_, parts.size());
        for (std::string_view const part : parts)
            resp3::append_blob_string(bytes_, part);
    }
    std::string_view to(resp3::version protocol) {
        bytes_[0] = static_cast<char>(protocol == resp3::version::resp3 ? resp3::type::push : resp3::type::array);
        return bytes_;
    }

private:
    std::string bytes_;
};

std::int64_t send(call& c, message text, std::set<server_session*, by_id> const& receivers) {
    for (server_session* const who : receivers)
        c.server.push(*who, text.to(who->protocol));
    return static_cast<std::int64_t>(receivers.size());
}

std::int64_t publish_to(call& c, subscription kind) {
    std::string_view const name = c.args[1], text = c.args[2];
    std::int64_t receivers = 0;
    auto const& registry = c.server.subscriptions[index(kind)];
    if (auto const at = registry.find(name); at != registry.end())
        receivers += send(c, message({words_of[index(kind)].message, name, text}), at->second);
    if (kind == subscription::channel)
        for (auto const& [pattern, who] : c.server.subscriptions[index(subscription::pattern)])
            if (glob_match(pattern, name))
                receivers += send(c, message({"pmessage", pattern, name, text}), who);
    return receivers;
}

void list_channels(call& c, subscription kind) {
    auto const& registry = c.server.subscriptions[index(kind)];
    std::string_view const pattern = c.args.size() > 2 ? c.args[2] : "*";
    c.array(static_cast<std::size_t>(
        std::ranges::count_if(registry, [&](auto const& channel) { return glob_match(pattern, channel.first); })));
    for (auto const& [name, who] : registry)
        if (glob_match(pattern, name))
            c.bulk(name);
}

void count_subscribers(call& c, subscription kind) {
    auto const& registry = c.server.subscriptions[index(kind)];
    c.map(c.args.size() - 2);
    for (std::string_view const name : c.args.subspan(2)) {
        auto const at = registry.find(name);
        c.bulk(name);
        c.size(at == registry.end() ? 0 : at->second.size());
    }
}

void subscribe(call& c) { subscribe_to(c, subscription::channel); }
void psubscribe(call& c) { subscribe_to(c, subscription::pattern); }
void ssubscribe(call& c) { subscribe_to(c, subscription::shard); }
void unsubscribe(call& c) { unsubscribe_from(c, subscription::channel); }
void punsubscribe(call& c) { unsubscribe_from(c, subscription::pattern); }
void sunsubscribe(call& c) { unsubscribe_from(c, subscription::shard); }
void publish(call& c) { c.number(publish_to(c, subscription::channel)); }
void spublish(call& c) { c.number(publish_to(c, subscription::shard)); }

void pubsub(call& c) {
    if (c.is(1, "channels"))
        c.args.size() > 3 ? c.wrong_arity() : list_channels(c, subscription::channel);
    else if (c.is(1, "shardchannels"))
        c.args.size() > 3 ? c.wrong_arity() : list_channels(c, subscription::shard);
    else if (c.is(1, "numsub"))
        count_subscribers(c, subscription::channel);
    else if (c.is(1, "shardnumsub"))
        count_subscribers(c, subscription::shard);
    else if (c.is(1, "numpat"))
        c.args.size() > 2 ? c.wrong_arity() : c.size(c.server.subscriptions[index(subscription::pattern)].size());
    else
        c.unknown_subcommand();
}

constexpr command table[] = {
    {"psubscribe", at_least(2), no_script | in_subscription | replies_by_push, no_keys, of_pubsub | of_slow,
     psubscribe},
    {"publish", 3, 0, no_keys, of_pubsub | of_fast, publish},
    {"pubsub", at_least(2), has_subcommands, no_keys, of_slow, pubsub},
    {"punsubscribe", at_least(1), no_script | in_subscription | replies_by_push, no_keys, of_pubsub | of_slow,
     punsubscribe},
    {"spublish", 3, 0, one_key, of_pubsub | of_fast, spublish},
    {"ssubscribe", at_least(2), no_script | in_subscription | replies_by_push, all_keys, of_pubsub | of_slow,
     ssubscribe},
    {"subscribe", at_least(2), no_script | in_subscription | replies_by_push, no_keys, of_pubsub | of_slow, subscribe},
    {"sunsubscribe", at_least(1), no_script | in_subscription | replies_by_push, all_keys, of_pubsub | of_slow,
     sunsubscribe},
    {"unsubscribe", at_least(1), no_script | in_subscription | replies_by_push, no_keys, of_pubsub | of_slow,
     unsubscribe},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace fairlead::redis::server_impl::pubsub
