// Entries of one stream, which all callers produce and consume. Each is handled at least once, and none is lost.
#pragma once

#include "redis_token_asker.hpp"

#include <fairlead/redis/cmd/streams.hpp>
#include <fairlead/redis/consumer_group.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::test {

class token_streams {
public:
    explicit token_streams(token_asker& by) : by_(by) {}

    awaitable<void> call() {
        if (by_.random.below(3) != 0) {
            auto producing = produce();
            co_await std::move(producing);
        }
        if (by_.random.below(2) != 0) {
            auto consuming = consume();
            co_await std::move(consuming);
        }
    }

    /// Behind a round, with a client of a healthy server: what was left is handled, too. Then all is compared.
    static awaitable<void> settle(token_asker& by, std::map<std::string, int>& executed) {
        using redis::stream_entry;
        auto* const db = by.round.db;
        auto const& key = by.round.stream_key;
        std::vector<stream_entry> all;
        auto reading = by.ask_until_answered(redis::cmd::xrange(key, "-", "+"), all);
        co_await std::move(reading);
        std::vector<std::pair<std::string, std::string>> entries;
        for (auto const& each : all) {
            entries.emplace_back(each.id, token_of(each));
            ++executed[entries.back().second];
        }
        redis::consumer_group rest(*db, key, group, "last",
                                   {.block_for = ms(5), .claim_idle = ms(1), .claim_interval = ms(1)});
        for (std::size_t at = 0; at != entries.size();) {
            if (by.round.ledger.is_consumed(entries[at].second)) {
                ++at;
                continue;
            }
            std::optional<redis::consumed_entry> next;
            auto taking = by.run(rest.next(), next, ms(2'000));
            co_await std::move(taking);
            if (!next)
                break; // None comes any more.
            by.round.ledger.consume(token_of(*next), next->id);
        }
        std::vector<redis::pending_entry> pending;
        auto looking = by.ask_until_answered(redis::cmd::xpending(key, group, "-", "+", 10'000), pending);
        co_await std::move(looking);
        std::vector<std::string> ids;
        for (auto const& each : pending)
            ids.push_back(each.id);
        by.round.ledger.compare_entries(entries, ids);
    }

private:
    using ms = std::chrono::milliseconds;
    static constexpr char const* group = "g";

    static std::string token_of(redis::stream_entry const& e) {
        return e.fields.size() == 1 && e.fields[0].first == "t" ? e.fields[0].second : "no token";
    }

    awaitable<void> produce() {
        auto const token = by_.next_token();
        by_.round.ledger.produce(token);
        std::string id;
        auto const add = redis::cmd::xadd(by_.round.stream_key, "*", {{"t", token}});
        auto adding = by_.ask_for(by_.round.db, add, id);
        auto const ec = co_await std::move(adding);
        auto const end = token_end_of(ec);
        if (end == token_end::answered)
            by_.round.ledger.produced(token, id);
        bool const is_there = end == token_end::answered;
        by_.round.ledger.expect(token, is_there, is_there || end == token_end::perhaps, ec.message());
    }

    awaitable<void> consume() {
        if (!by_.round.db)
            co_return;
        auto& random = by_.random;
        redis::consumer_options how{.batch = 1 + random.below(8), .poll_interval = by_.some(5)};
        how.block_for = random.below(2) != 0 ? by_.some(20) : ms(0);
        how.claim_idle = ms(random.below(2) != 0 ? 20 : 0);
        how.claim_interval = ms(10);
        how.ack_batch = random.below(3) == 0 ? 3 : 1;
        redis::consumer_group entries(*by_.round.db, by_.round.stream_key, group, "c" + std::to_string(by_.number()),
                                      how);
        for (auto n = 1 + random.below(3); n != 0; --n) {
            std::optional<redis::consumed_entry> entry;
            auto taking = by_.run(entries.next(), entry, by_.some(40));
            co_await std::move(taking);
            if (!entry)
                continue;
            by_.round.ledger.consume(token_of(*entry), entry->id);
            if (random.below(5) == 0)
                continue; // It comes again, to this consumer or to another one.
            bool was_pending = false;
            auto acknowledging = by_.run(entries.ack(*entry), was_pending, by_.some(40));
            auto const ec = co_await std::move(acknowledging);
            if (!ec && how.ack_batch == 1)
                by_.round.ledger.acknowledged(entry->id);
        }
    }

    token_asker& by_;
};

} // namespace fairlead::test
