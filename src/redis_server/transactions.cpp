// Transactions, and the keys that they depend on.
#include <fairlead/base/at_scope_end.hpp>
#include <redis_server/call.hpp>

#include <string>
#include <utility>
#include <vector>

namespace fairlead::redis::server_impl {

void end_transaction(server_session& self) {
    self.in_transaction = false;
    self.transaction_failed = false;
    self.queued_bytes = 0;
    self.queue.clear();
    self.server.unwatch(self);
}

namespace transactions {
namespace {

void multi(call& c) {
    if (c.self.in_transaction)
        return c.error("ERR MULTI calls can not be nested");
    c.self.in_transaction = true;
    c.ok();
}

bool watched_keys_changed(server_session const& self) {
    for (auto const& [in, key] : self.watched)
        self.server.find(in, key); // Has it expired? Then it is removed now, and that is a change.
    return self.watch_broken;
}

void exec(call& c) {
    if (!c.self.in_transaction)
        return c.error("ERR EXEC without MULTI");
    bool const failed = c.self.transaction_failed;
    bool const changed = watched_keys_changed(c.self);
    auto const queue = std::exchange(c.self.queue, {});
    end_transaction(c.self);
    if (failed)
        return c.error("EXECABORT Transaction discarded because of previous errors.");
    if (changed)
        return c.null_array();
    c.array(queue.size());
    c.self.may_wait = false;
    fairlead::impl::base::at_scope_end const again([&c] { c.self.may_wait = true; });
    std::vector<std::string_view> arguments;
    for (auto const& queued : queue) {
        arguments.assign(queued.arguments.begin(), queued.arguments.end());
        run(c.self, *queued.cmd, arguments); // As Redis, also what a SUBSCRIBE before it would forbid outside.
    }
}

void discard(call& c) {
    if (!c.self.in_transaction)
        return c.error("ERR DISCARD without MULTI");
    end_transaction(c.self);
    c.ok();
}

void watch(call& c) {
    if (c.self.in_transaction)
        return c.error("ERR WATCH inside MULTI is not allowed");
    for (std::string_view const key : c.args.subspan(1)) {
        c.find(key); // what expired before does not count
        watched_key const watched(c.self.database, key);
        if (c.server.watchers[watched].insert(&c.self).second)
            c.self.watched.push_back(watched);
    }
    c.ok();
}

void unwatch(call& c) {
    c.server.unwatch(c.self);
    c.ok();
}

constexpr command table[] = {
    {"discard", 1, no_script | unqueued, no_keys, of_fast | of_transaction, discard},
    {"exec", 1, no_script | unqueued, no_keys, of_slow | of_transaction, exec},
    {"multi", 1, no_script | unqueued, no_keys, of_fast | of_transaction, multi},
    {"unwatch", 1, no_script, no_keys, of_fast | of_transaction, unwatch},
    {"watch", at_least(2), no_script | unqueued, all_keys, of_fast | of_transaction, watch},
};

} // namespace

std::span<command const> rows() noexcept { return table; }

} // namespace transactions
} // namespace fairlead::redis::server_impl
