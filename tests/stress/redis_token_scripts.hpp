// Calls of scripts that count in the server, which forgets them at any time.
#pragma once

#include "redis_token_asker.hpp"

#include <fairlead/redis/cmd/scripting.hpp>
#include <fairlead/redis/cmd/server.hpp>

#include <string>
#include <tuple>
#include <utility>

namespace fairlead::test {

/// The token, and how often it was counted.
using token_counted = std::pair<std::string, long>;

/// Counts ARGV[1].
inline constexpr char const* token_count_script =
    "return {ARGV[1], redis.call('HINCRBY', KEYS[1], ARGV[1], 1)} -- counts";
/// As above, and stores ARGV[2].
inline constexpr char const* token_store_script =
    "redis.call('SET', KEYS[2], ARGV[2]) return {ARGV[1], redis.call('HINCRBY', KEYS[1], ARGV[1], 1)}";

class token_scripts {
public:
    explicit token_scripts(token_asker& by) : by_(by) {}

    awaitable<void> call() {
        if (by_.random.below(3) == 0) {
            auto flushing = flush();
            co_await std::move(flushing);
        }
        auto const how = by_.random.below(7);
        auto calling = how == 0   ? in_pipeline()
                       : how == 1 ? in_transaction()
                       : how == 2 ? on_lease()
                       : how == 3 ? in_unordered_pipeline()
                                  : alone(db());
        co_await std::move(calling);
    }

private:
    redis::client* const& db() const { return by_.round.db; }
    auto counting(std::string const& token) const {
        static redis::script const count_token(token_count_script);
        return redis::cmd::eval<token_counted>(count_token, by_.round.ledger_key, {token});
    }

    awaitable<void> flush() {
        redis::request req;
        req.push("SCRIPT", "FLUSH");
        redis::generic_response replies;
        auto asking = by_.ask(db(), req, replies);
        auto const ec = co_await std::move(asking);
        if (!ec)
            by_.check("nobody", reply_lines(replies), {"OK"});
    }
    template <class On> awaitable<void> alone(On* const& on) {
        auto const token = by_.next_token();
        token_counted got;
        auto asking = by_.ask_for(on, counting(token), got);
        auto const ec = co_await std::move(asking);
        auto const end = token_end_of(ec);
        if (end == token_end::answered)
            return_value(token, got);
        else
            by_.round.ledger.expect(token, 0, end == token_end::perhaps, ec.message());
    }
    awaitable<void> on_lease() {
        redis::lease own;
        auto acquiring = by_.acquire(own);
        auto const ec = co_await std::move(acquiring);
        if (ec)
            co_return;
        auto* const one = &own;
        auto calling = alone(one);
        co_await std::move(calling);
    }
    awaitable<void> in_pipeline() {
        auto const first = by_.next_token(), second = by_.next_token();
        auto const all = redis::pipeline(counting(first), redis::cmd::echo(first), counting(second));
        decltype(all)::result_type got;
        auto asking = by_.ask_for(db(), all, got);
        auto const ec = co_await std::move(asking);
        if (!ec && std::get<1>(got) && *std::get<1>(got) != first)
            by_.round.ledger.accuse(first + " was answered with: " + *std::get<1>(got));
        settle(first, ec, std::get<0>(got));
        settle(second, ec, std::get<2>(got), true); // Somebody may have flushed in between.
    }
    /// Calls that the server did not know are sent once more, and have ends of their own then.
    awaitable<void> in_unordered_pipeline() {
        auto const first = by_.next_token(), second = by_.next_token();
        auto const all = redis::unordered_pipeline(counting(first), redis::cmd::echo(first), counting(second));
        decltype(all)::result_type got;
        auto asking = by_.ask_for(db(), all, got);
        auto const ec = co_await std::move(asking);
        if (!ec && std::get<1>(got) && *std::get<1>(got) != first)
            by_.round.ledger.accuse(first + " was answered with: " + *std::get<1>(got));
        settle_attempt(first, ec, std::get<0>(got));
        settle_attempt(second, ec, std::get<2>(got));
    }
    awaitable<void> in_transaction() {
        auto const first = by_.next_token(), second = by_.next_token();
        auto const all = redis::transaction(counting(first), counting(second));
        decltype(all)::result_type got;
        auto asking = by_.ask_for(db(), all, got);
        auto const ec = co_await std::move(asking);
        if (!ec && got)
            return_both(first, second, *got);
        else if (!ec)
            by_.round.ledger.accuse(first + " was answered with a conflict, and watched nothing");
        bool const is_sure = token_end_of(ec) == token_end::not_executed; // A MULTI that is refused leaves the others.
        if (ec)
            for (auto const& token : {first, second})
                by_.round.ledger.expect(token, 0, !is_sure, ec.message());
    }

    void return_value(std::string const& token, token_counted const& got) {
        if (got != token_counted(token, 1))
            by_.round.ledger.accuse(token + " was answered with: " + got.first + ' ' + std::to_string(got.second));
        by_.round.ledger.expect(token, 1, 1, "answered");
    }
    template <class Results> void return_both(std::string const& first, std::string const& second, Results const& got) {
        settle(first, {}, std::get<0>(got));
        settle(second, {}, std::get<1>(got));
    }
    /// Of one among several.
    void settle(std::string const& token, error_code const& ec, redis::result<token_counted> const& got,
                bool may_be_unknown = false) {
        if (ec)
            return by_.round.ledger.expect(token, 0, token_end_of(ec) != token_end::not_executed, ec.message());
        if (got)
            return return_value(token, *got);
        auto const why = got.code();
        if (why != redis::condition::refused_by_server || (why == redis::error::no_script && !may_be_unknown))
            by_.round.ledger.accuse(token + " has no value: " + why.message() + ' ' + got.error_text());
        by_.round.ledger.expect(token, 0, 0, got.error_text());
    }

    void settle_attempt(std::string const& token, error_code const& ec, redis::result<token_counted> const& got) {
        auto const why = got.code();
        if (ec || got || why == redis::condition::refused_by_server)
            return settle(token, ec, got, true); // The one with the source may have been flushed in between.
        bool const is_not_executed = token_end_of(why) == token_end::not_executed;
        by_.round.ledger.expect(token, 0, !is_not_executed, why.message());
    }

    token_asker& by_;
};

} // namespace fairlead::test
