// Callers of one Redis client, each of whose calls carries a token that no other has. A ledger holds what each call was
// told against what the server has executed. The surroundings, simulated or real, disturb them.
#pragma once

#include "redis_token_scripts.hpp"
#include "redis_token_streams.hpp"
#include "redis_token_values.hpp"

#include <fairlead/io/io_context.hpp>
#include <fairlead/redis/cmd/hashes.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::test {

/// A caller of a round, whose calls are of all kinds.
class token_caller : private token_asker {
public:
    token_caller(token_round& r, std::uint32_t number, std::uint32_t calls) : token_asker(r, number), calls_(calls) {}

    awaitable<void> make_calls() {
        for (std::uint32_t i = 0; i != calls_ && round.db; ++i) {
            auto calling = call();
            co_await std::move(calling);
        }
        --round.callers;
    }

private:
    awaitable<void> call() {
        switch (random.below(24)) {
        case 0:
        case 1: return echo();
        case 2:
        case 3: return set_and_get();
        case 4:
        case 5: return count_alone();
        case 6:
        case 7: return count_among_others();
        case 8:
        case 9: return count_in_transaction(round.db);
        case 10:
        case 11: return push_and_pop();
        case 12:
        case 13: return lease();
        case 14:
        case 15: return apart();
        case 16:
        case 17: return publish();
        case 18: return scripts_.call();
        case 19: return streams_.call();
        case 20: return values_.in_pieces();
        case 21: return values_.in_ranges();
        default: return burst();
        }
    }

    awaitable<void> echo() {
        auto const token = next_token();
        redis::request req;
        req.push("ECHO", token);
        std::string answer;
        auto asking = ask(round.db, req, answer);
        auto const ec = co_await std::move(asking);
        if (!ec && answer != token)
            round.ledger.accuse(token + " was answered with: " + answer);
    }
    awaitable<void> set_and_get() {
        auto const token = next_token();
        redis::request req;
        req.push("SET", "own:" + token, token);
        req.push("GET", "own:" + token);
        redis::generic_response replies;
        auto asking = ask(round.db, req, replies);
        auto const ec = co_await std::move(asking);
        if (!ec)
            check(token, reply_lines(replies), {"OK", token});
    }
    awaitable<void> count_alone() {
        auto const token = next_token();
        redis::request req;
        count(req, token);
        redis::generic_response replies;
        auto asking = ask(round.db, req, replies);
        auto const ec = co_await std::move(asking);
        settle(token, ec, replies, {"1"}, 0);
    }
    awaitable<void> count_among_others() {
        auto const token = next_token();
        redis::request req;
        req.push("ECHO", token);
        count(req, token);
        req.push("ECHO", token + "again");
        redis::generic_response replies;
        auto asking = ask(round.db, req, replies);
        auto const ec = co_await std::move(asking);
        settle(token, ec, replies, {token, "1", token + "again"}, 1);
    }
    template <class On> awaitable<void> count_in_transaction(On* const& on) {
        auto const token = next_token();
        redis::request req;
        req.push("MULTI");
        count(req, token);
        req.push("ECHO", token);
        req.push("EXEC");
        redis::generic_response replies;
        auto asking = ask(on, req, replies);
        auto const ec = co_await std::move(asking);
        settle(token, ec, replies, {"OK", "QUEUED", "QUEUED", "[2 1 " + token}, 3);
    }
    awaitable<void> push_and_pop() {
        auto const token = next_token();
        auto const list = "list:" + token;
        redis::request req;
        req.push("RPUSH", list, token);
        redis::generic_response replies;
        auto pushing = ask(round.db, req, replies);
        auto const pushed = co_await std::move(pushing);
        if (!pushed)
            check(token, reply_lines(replies), {"1"});
        if (!round.db)
            co_return;
        redis::request pop;
        pop.push("BLPOP", list, "0.05");
        redis::generic_response popped;
        auto popping = ask(round.db, pop, popped);
        auto const ec = co_await std::move(popping);
        if (ec)
            co_return;
        auto const got = reply_lines(popped);
        bool const is_there = !pushed && reply_lines(replies) == lines{"1"};
        if (is_there || got != lines{"_"})
            check(token, got, {"[2 " + list + ' ' + token});
    }
    awaitable<void> lease() {
        if (!round.db)
            co_return;
        redis::lease own;
        auto acquiring = acquire(own);
        auto ec = co_await std::move(acquiring);
        if (ec)
            co_return;
        auto const token = next_token();
        redis::request req;
        req.push("WATCH", "own:" + token);
        req.push("GET", "own:" + token);
        redis::generic_response replies;
        auto* const one = &own;
        auto watching = ask(one, req, replies);
        ec = co_await std::move(watching);
        if (!ec)
            check(token, reply_lines(replies), {"OK", "_"});
        auto executing = count_in_transaction(one);
        co_await std::move(executing);
        if (random.below(4) != 0)
            co_return;
        // The next owner of this connection must not see it.
        redis::request change;
        random.below(2) ? change.push("SELECT", 1) : change.push("MULTI");
        auto changing = ask(one, change, replies);
        co_await std::move(changing);
    }
    awaitable<void> apart() {
        auto const token = next_token();
        std::string large;
        for (auto n = random.below(300); n != 0; --n)
            large += token;
        redis::request req;
        req.push("ECHO", large);
        count(req, token);
        req.set_apart();
        redis::generic_response replies;
        auto asking = ask(round.db, req, replies);
        auto const ec = co_await std::move(asking);
        settle(token, ec, replies, {large, "1"}, 1);
    }
    awaitable<void> publish() {
        if (!round.db)
            co_return;
        auto const token = next_token();
        error_code ec;
        round.ledger.begin();
        try {
            auto subscribing = round.db->subscribe("news:" + token);
            auto heard_from = co_await std::move(subscribing);
            if (round.db) {
                redis::request req;
                req.push("PUBLISH", "news:" + token, token);
                redis::generic_response replies;
                auto asking = ask(round.db, req, replies);
                co_await std::move(asking);
                auto hearing = heard_from.async_next(cancel_after(some(30), redirect_error(ec)));
                auto const heard = co_await std::move(hearing);
                if (!ec && heard && (heard->channel() != "news:" + token || heard->payload() != token))
                    round.ledger.accuse(token + " heard: " + std::string(heard->payload()));
                ec.clear();
            }
        } catch (system_error const& e) {
            ec = e.code();
        }
        round.ledger.end(ec);
    }

    /// A call with a handler.
    struct shot {
        std::string token;
        redis::request request;
        redis::generic_response replies;
        std::atomic<int> times{0};
    };
    awaitable<void> burst() {
        auto const ex = co_await this_coro::executor;
        auto const left = std::make_shared<std::atomic<int>>(0);
        std::vector<std::shared_ptr<shot>> all;
        for (auto n = 1 + random.below(20); n != 0; --n) {
            auto s = std::make_shared<shot>();
            s->token = next_token();
            count(s->request, s->token);
            if (random.below(8) == 0)
                s->request.set_timeout(some(40));
            all.push_back(std::move(s));
        }
        if (!round.db)
            co_return;
        *left = static_cast<int>(all.size());
        for (auto const& s : all) {
            round.ledger.begin();
            round.db->async_exec(s->request, s->replies, [this, s, left](error_code ec, std::size_t) {
                if (++s->times != 1)
                    return round.ledger.accuse(s->token + " ended twice");
                round.ledger.end(ec);
                settle(s->token, ec, s->replies, {"1"}, 0);
                --*left;
            });
        }
        if (random.below(4) == 0)
            for (auto const& s : all)
                if (random.below(2))
                    round.db->cancel(s->request);
        steady_timer pause(ex);
        while (*left != 0) {
            pause.expires_after(std::chrono::milliseconds(1));
            auto resting = pause.async_wait();
            co_await std::move(resting);
        }
    }

    std::uint32_t calls_;
    token_scripts scripts_{*this};
    token_streams streams_{*this};
    token_values values_{*this};
};

// ---- a round

/// The server of the client and the way to it, which are disturbed.
class token_surroundings {
public:
    virtual ~token_surroundings() = default;
    virtual std::string address() const = 0;
    /// Begins something, or ends it, at random.
    virtual void disturb(sim::random_stream& random) = 0;
    /// Everything is well again, and stays so.
    virtual void heal() = 0;
};

/// Counts what is called around each call.
class token_hooks {
public:
    void set(redis::client_options& o) {
        o.before_call = [this](redis::call_begin const&) { return std::uintptr_t{++begun_}; };
        o.after_call = [this](redis::call_end const& e, std::uintptr_t) {
            ++ended_;
            unknown_scripts_ += e.refusal == "NOSCRIPT";
        };
    }
    static void clear(redis::client_options& o) {
        o.before_call = nullptr;
        o.after_call = nullptr;
    }
    /// Behind the life of a client.
    void compare(token_ledger& ledger) {
        if (begun_ != ended_)
            ledger.accuse("of " + std::to_string(begun_) + " calls hooks saw " + std::to_string(ended_) + " ends");
        ledger.add_unknown_scripts(unknown_scripts_.exchange(0));
    }

private:
    std::atomic<std::uint32_t> begun_{0}, ended_{0};
    std::atomic<std::uint64_t> unknown_scripts_{0};
};

/// Runs the calls of one round, in one to three lives of the client. True: all of them ended. With false nothing of the
/// round may be destroyed.
inline awaitable<bool> play_tokens(io_context& context, token_round& round, token_surroundings& around) {
    sim::random_stream random(round.seed, 1);
    steady_timer pause(context);
    std::vector<std::unique_ptr<token_caller>> callers;
    auto const threads = round.is_threaded ? 1 + random.below(3) : 0;
    auto const address = around.address();
    redis::config_view cfg;
    cfg.address = address;
    cfg.check_order = random.below(2) != 0;
    cfg.wait_when_full = random.below(2) != 0;
    if (random.below(2) != 0)
        cfg.requests_max = 4 + random.below(30);
    if (random.below(3) == 0)
        cfg.request_timeout = std::chrono::milliseconds(20 + random.below(200));
    cfg.health_check_interval = std::chrono::milliseconds(random.below(2) != 0 ? 100 : 1'000);
    cfg.connect_timeout = cfg.hello_timeout = std::chrono::milliseconds(500);
    redis::client_options options;
    options.pause_min = std::chrono::milliseconds(1);
    options.pause_max = std::chrono::milliseconds(20);
    options.leases_max = 1 + random.below(8);
    options.repeats_max = static_cast<std::uint8_t>(random.below(4));

    token_hooks hooks;

    for (auto lives = 1 + random.below(3); lives != 0; --lives) {
        random.below(2) != 0 ? hooks.set(options) : hooks.clear(options);
        auto db = std::make_unique<redis::client>(context, cfg, options);
        round.db = db.get();
        auto const running = std::make_shared<int>(1);
        auto const again = std::make_shared<std::function<void(error_code)>>();
        auto const may_run = std::make_shared<bool>(true);
        *again = [&round, running, may_run, weak = std::weak_ptr(again)](error_code) {
            auto const self = weak.lock();
            if (!*may_run || !self) {
                --*running;
                return;
            }
            round.db->async_run([self](error_code ec) { (*self)(ec); });
        };
        db->async_run([again](error_code ec) { (*again)(ec); });

        round.goes_early = threads == 0 && random.below(3) == 0;
        std::vector<std::unique_ptr<io_context>> contexts;
        std::vector<std::thread> runners;
        for (std::uint32_t i = 0; i != threads; ++i)
            contexts.push_back(std::make_unique<io_context>());
        auto const many = 1 + random.below(12);
        round.callers = static_cast<int>(many);
        for (std::uint32_t i = 0; i != many; ++i) {
            auto const number = static_cast<std::uint32_t>(callers.size());
            callers.push_back(std::make_unique<token_caller>(round, number, 2 + random.below(12)));
            co_spawn(threads != 0 ? *contexts[i % threads] : context, callers.back()->make_calls(),
                     [](std::exception_ptr e) {
                         if (e)
                             std::rethrow_exception(std::move(e));
                     });
        }
        for (auto const& c : contexts)
            runners.emplace_back([&run = *c] { run.run(); });

        for (auto left = random.below(25); left != 0 && round.callers != 0; --left) {
            pause.expires_after(std::chrono::microseconds(200 + random.below(12'000)));
            auto resting = pause.async_wait();
            co_await std::move(resting);
            auto const what = random.below(16);
            if (what == 0)
                db->cancel();
            else if (what == 1)
                for (auto at = round.live.begin(); at != round.live.end();)
                    (at++)->signal.emit(cancellation_type::terminal);
            else if (what == 2)
                for (auto at = round.live.begin(); at != round.live.end();) {
                    if (auto const* const request = (at++)->request)
                        db->cancel(*request);
                }
            else
                around.disturb(random);
        }
        if (round.goes_early) {
            *may_run = false;
            round.db = nullptr;
            db.reset();
        }
        around.heal();
        for (int i = 0; round.callers != 0; ++i) {
            if (i == 20'000) {
                auto const t = round.ledger.tally();
                round.ledger.add_unended(t.calls - t.ends[0] - t.ends[1] - t.ends[2] - t.ends[3]);
                for (auto& each : runners)
                    each.detach();
                for (auto& each : contexts)
                    each.release();
                for (auto& each : callers)
                    each.release();
                db.release();
                co_return false;
            }
            pause.expires_after(std::chrono::milliseconds(1));
            auto resting = pause.async_wait();
            co_await std::move(resting);
        }
        for (auto& each : runners)
            each.join();
        *may_run = false;
        if (db) { // Its own requests end, too: they take subscriptions and watched keys back.
            for (int i = 0; db->pending() != 0 && i != 5'000; ++i) {
                pause.expires_after(std::chrono::milliseconds(1));
                auto resting = pause.async_wait();
                co_await std::move(resting);
            }
            if (db->pending() != 0)
                round.ledger.accuse("requests are pending of which each has ended");
            db->cancel();
        }
        for (int i = 0; *running != 0; ++i) {
            if (i == 20'000) {
                round.ledger.accuse("async_run does not end: " + (db ? db->recent_events() : "its client has gone"));
                for (auto& each : callers)
                    each.release();
                db.release();
                co_return false;
            }
            pause.expires_after(std::chrono::milliseconds(1));
            auto resting = pause.async_wait();
            co_await std::move(resting);
        }
        round.db = nullptr;
        db.reset();
        hooks.compare(round.ledger);
    }
    if (round.is_resp2)
        round.ledger.all_with_resp2();
    auto const t = round.ledger.tally();
    round.ledger.add_unended(t.calls - t.ends[0] - t.ends[1] - t.ends[2] - t.ends[3]);
    co_return true;
}

/// Holds the round against what the server has, by another client. It is at `address`, and nothing disturbs it.
inline awaitable<void> settle_tokens(io_context& context, token_round& round, std::string address) {
    redis::client db(context, {.address = address}, {.pause_min = std::chrono::milliseconds(2)});
    bool is_over = false;
    db.async_run([&](error_code) { is_over = true; });
    round.db = &db;
    token_asker by(round, 1'000'000);
    std::map<std::string, int> executed;
    auto reading = by.ask_until_answered(redis::cmd::hgetall<std::map<std::string, int>>(round.ledger_key), executed);
    co_await std::move(reading);
    if (round.ledger.has_entries()) {
        auto settling = token_streams::settle(by, executed);
        co_await std::move(settling);
    }
    round.ledger.compare(executed);
    round.db = nullptr;
    db.cancel();
    steady_timer pause(context);
    while (!is_over) {
        pause.expires_after(std::chrono::milliseconds(1));
        auto resting = pause.async_wait();
        co_await std::move(resting);
    }
}

} // namespace fairlead::test
