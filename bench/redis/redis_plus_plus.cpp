// redis-plus-plus, its synchronous interface: redis_plus_plus MODE ... as workload.hpp says. One caller calls
// functions; as many as there are share a pipeline.
#include "workload.hpp"

#include <sw/redis++/redis++.h>

#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

namespace redis = sw::redis;
using workload::insist;

void call_one(redis::Redis& server, long n) {
    auto const key = workload::key_of(0);
    for (long i = 0; i != n; ++i) {
        if (i % 2 == 0)
            insist(server.set(key, workload::value), "SET failed");
        else
            insist(server.get(key) == workload::value, "GET gave another value");
    }
}

void call(redis::Redis& server, workload::settings const& s) {
    std::vector<std::string> keys;
    for (long i = 0; i != s.callers; ++i)
        keys.push_back(workload::key_of(i));
    auto pipe = server.pipeline(false);
    bool gets = false;
    for (long left = s.n; left > 0; left -= s.callers, gets = !gets) {
        for (auto const& key : keys) {
            if (gets)
                pipe.get(key);
            else
                pipe.set(key, workload::value);
        }
        auto replies = pipe.exec();
        for (std::size_t i = 0; i != keys.size(); ++i) {
            if (gets)
                insist(replies.get<redis::OptionalString>(i) == workload::value, "GET gave another value");
            else
                insist(replies.get<bool>(i), "SET failed");
        }
    }
}

void receive(redis::Redis& server, workload::settings const& s) {
    auto subscriber = server.subscriber();
    long left = s.messages();
    subscriber.on_message([&](std::string, std::string text) {
        insist(text.size() == workload::value.size(), "another message than expected");
        --left;
    });
    auto const channels = s.channels();
    for (auto const& each : channels)
        subscriber.subscribe(each);
    for (auto const& each : channels) {
        (void)each;
        subscriber.consume(); // the confirmation
    }
    auto const callers = std::to_string(s.callers);
    for (long i = 0; i != s.scripts(); ++i) {
        server.eval<long long>(s.script_for_all(), {}, {workload::value, callers});
        for (long k = 0; k != workload::messages_at_once; ++k)
            subscriber.consume();
    }
    insist(left == 0, "not all messages came");
}

using fields = std::vector<std::pair<std::string, std::string>>;

void add(redis::Redis& server, long n) {
    server.del(workload::stream);
    fields const values{{workload::field, std::string(workload::value)}};
    auto pipe = server.pipeline(false);
    for (long left = n; left > 0; left -= workload::entries_at_once) {
        for (long i = 0; i != workload::entries_at_once; ++i)
            pipe.xadd(workload::stream, "*", values.begin(), values.end());
        auto replies = pipe.exec();
        for (std::size_t i = 0; i != workload::entries_at_once; ++i)
            insist(!replies.get<std::string>(i).empty(), "an entry has no id");
    }
}

void consume(redis::Redis& server, workload::settings const& s) {
    server.del(workload::stream);
    server.xgroup_create(workload::stream, workload::group, "0", true);
    using entry = std::pair<std::string, std::optional<fields>>;
    for (long i = 0; i != s.scripts(); ++i) {
        server.eval<long long>(workload::script_that_adds, {}, {workload::value});
        for (long left = workload::messages_at_once; left > 0;) {
            std::unordered_map<std::string, std::vector<entry>> found;
            server.xreadgroup(workload::group, workload::consumer, workload::stream, ">", workload::entries_at_once,
                              std::inserter(found, found.end()));
            std::vector<std::string> ids;
            for (auto& each : found[workload::stream]) {
                insist(each.second->at(0).second == workload::value, "another entry than expected");
                ids.push_back(std::move(each.first));
            }
            auto const acknowledged = server.xack(workload::stream, workload::group, ids.begin(), ids.end());
            insist(acknowledged == static_cast<long long>(ids.size()), "not all was pending");
            left -= acknowledged;
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    workload::settings const s(argc, argv);
    redis::Redis server("tcp://" + s.host + ':' + s.port);
    if (s.is_calls() && s.callers == 1)
        call_one(server, s.n);
    else if (s.is_calls())
        call(server, s);
    else if (s.is_pushes())
        receive(server, s);
    else if (s.is_add())
        add(server, s.n);
    else if (s.is_consume())
        consume(server, s);
    else
        return workload::skipped;
}
