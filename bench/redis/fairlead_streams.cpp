// Streams through redis::client: redis_fairlead_streams WAY and then as workload.hpp says, modes add and consume.
//
//   request    requests and responses of the caller's; entries as redis::stream_entry
//   typed      typed commands: 100 callers of db.xadd, or db.xreadgroup and db.xack
//   group      mode consume: redis::consumer_group, and one ack() of 100 entries
//   ack_noted  mode consume: redis::consumer_group, ack() of each entry, an ack_batch of 100
//   ack_each   mode consume: redis::consumer_group, whose ack() is awaited for each entry
#include "workload.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/cmd.hpp>
#include <fairlead/redis/consumer_group.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;
using workload::insist;

awaitable<void> add_request(redis::client& db, long n) {
    redis::request req;
    redis::generic_response ids;
    for (long left = n; left > 0; left -= workload::entries_at_once) {
        req.clear();
        ids.clear();
        for (long i = 0; i != workload::entries_at_once; ++i)
            req.push("XADD", workload::stream, "*", workload::field, workload::value);
        co_await db.async_exec(req, ids);
        insist(ids.messages() == workload::entries_at_once, "not all were added");
    }
}

/// One of 100 callers, whose requests go out together.
awaitable<void> add_typed(redis::client& db, long n, long& callers_left) {
    for (long i = 0; i != n; ++i) {
        auto adding = redis::cmd::xadd(workload::stream, "*", {{workload::field, workload::value}});
        auto const id = co_await db.async_exec(std::move(adding));
        insist(!id.empty(), "an entry has no id");
    }
    if (--callers_left == 0)
        db.cancel();
}

awaitable<void> acknowledge(redis::client& db, std::vector<std::string>& ids) {
    auto const acknowledged = co_await db.xack(workload::stream, workload::group, ids);
    insist(acknowledged == static_cast<std::int64_t>(ids.size()), "not all was pending");
    ids.clear();
}

awaitable<void> consume_typed(redis::client& db) {
    std::vector<std::string> ids;
    for (long left = workload::messages_at_once; left > 0;) {
        auto reading = redis::cmd::xreadgroup(workload::group, workload::consumer, {{workload::stream, ">"}},
                                              redis::options::count(workload::entries_at_once));
        auto found = co_await db.async_exec(std::move(reading));
        for (auto& entry : found.at(0).second) {
            insist(entry.fields.at(0).second == workload::value, "another entry than expected");
            ids.push_back(std::move(entry.id));
        }
        left -= static_cast<long>(ids.size());
        co_await acknowledge(db, ids);
    }
}

awaitable<void> consume_group(redis::consumer_group& orders, bool acks_each) {
    std::vector<std::string> ids;
    for (long i = 0; i != workload::messages_at_once; ++i) {
        auto entry = co_await orders.next();
        insist(entry && entry->fields.at(0).second == workload::value, "another entry than expected");
        if (acks_each) {
            bool const was_pending = co_await orders.ack(*entry);
            insist(was_pending, "it was not pending");
            continue;
        }
        ids.push_back(std::move(entry->id));
        if (ids.size() == workload::entries_at_once) {
            auto const acknowledged = co_await orders.ack(ids);
            insist(acknowledged == ids.size(), "not all was pending");
            ids.clear();
        }
    }
}

awaitable<void> consume(redis::client& db, std::string_view way, workload::settings const& s) {
    co_await db.xgroup_create(workload::stream, workload::group, "0", redis::options::mkstream);
    redis::consumer_group orders(db, workload::stream, workload::group, workload::consumer,
                                 {.batch = workload::entries_at_once,
                                  .ack_batch = way == "ack_noted" ? std::size_t(workload::entries_at_once) : 1});
    redis::request adding;
    adding.push("EVAL", workload::script_that_adds, 0, workload::value);
    for (long i = 0; i != s.scripts(); ++i) {
        co_await db.async_exec(adding, redis::ignore);
        if (way == "typed")
            co_await consume_typed(db);
        else
            co_await consume_group(orders, way != "group");
    }
}

awaitable<void> run(redis::client& db, std::string_view way, workload::settings const& s, long& callers_left) {
    co_await db.del(workload::stream);
    if (s.is_add() && way == "typed") {
        for (long i = 0; i != callers_left; ++i)
            co_spawn(db.get_executor(), add_typed(db, s.n / callers_left, callers_left), rethrow);
        co_return;
    }
    if (s.is_consume())
        co_await consume(db, way, s);
    else
        co_await add_request(db, s.n);
    db.cancel();
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way is missing");
    std::string_view const way = argv[1];
    workload::settings const s(argc - 1, argv + 1);
    if (!s.is_add() && !s.is_consume())
        return workload::skipped;
    io_context context;
    redis::config config;
    config.address = s.host + ":" + s.port;
    redis::client db(context, config);
    long callers_left = workload::entries_at_once;
    co_spawn(context, run(db, way, s, callers_left), rethrow);
    db.async_run([](error_code ec) { insist(ec == error::operation_aborted, "the server is not there"); });
    context.run();
}
