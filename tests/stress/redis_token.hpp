// Callers of one Redis client, each of whose calls carries a token that no other has. A ledger holds what each call was
// told against what the server has executed. The surroundings, simulated or real, disturb them.
#pragma once

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/client.hpp>
#include <fairlead/redis/lease.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::test {

// ---- what calls were told, and what was executed

enum class token_end : std::uint8_t { answered, refused, not_executed, perhaps };

inline token_end token_end_of(error_code const& ec) {
    if (!ec)
        return token_end::answered;
    if (ec == redis::condition::refused_by_server)
        return token_end::refused;
    return ec == redis::condition::not_executed ? token_end::not_executed : token_end::perhaps;
}

/// The numbers of one round, or of many.
struct token_tally {
    std::uint64_t calls = 0;
    std::array<std::uint64_t, 4> ends{}; // by token_end
    std::uint64_t unproved = 0;          // of them with answers_out_of_order
    std::uint64_t counted = 0;           // commands whose executions the server counts
    std::uint64_t wrong = 0, unended = 0, doubled = 0;

    bool is_good() const noexcept { return wrong == 0 && unended == 0 && doubled == 0; }
    std::string text(char const* of) const {
        auto const n = [](std::uint64_t x) { return std::to_string(x); };
        return n(calls) + " calls" + of + "; " + n(ends[0]) + " answered, " + n(ends[1]) + " refused, " + n(ends[2]) +
               " not executed, " + n(ends[3]) + " perhaps executed (" + n(unproved) + " without their token); " +
               n(counted) + " commands counted in the server\n" + n(wrong) + " wrong answers, " + n(unended) +
               " calls without an end, " + n(doubled) + " double executions\n";
    }
    void add(token_tally const& t) noexcept {
        calls += t.calls;
        for (std::size_t i = 0; i != ends.size(); ++i)
            ends[i] += t.ends[i];
        unproved += t.unproved;
        counted += t.counted;
        wrong += t.wrong;
        unended += t.unended;
        doubled += t.doubled;
    }
};

class token_ledger {
public:
    void begin() {
        std::scoped_lock const lock(mutex_);
        ++tally_.calls;
    }
    void end(error_code const& ec) {
        using E = redis::error;
        for (auto const e : {E::incompatible_type, E::conversion_failed, E::response_mismatch, E::refused_command})
            if (ec == e)
                accuse("a call ended with: " + ec.message());
        std::scoped_lock const lock(mutex_);
        ++tally_.ends[static_cast<std::size_t>(token_end_of(ec))];
        tally_.unproved += ec == E::answers_out_of_order; // Counted apart: a server that fails may refuse the PING.
    }
    void accuse(std::string what) {
        std::scoped_lock const lock(mutex_);
        ++tally_.wrong;
        if (complaints_.size() < 20)
            complaints_.push_back(std::move(what));
    }
    /// The server has executed the command with this token so often.
    void expect(std::string const& token, int least, int most, std::string why) {
        std::scoped_lock const lock(mutex_);
        ++tally_.counted;
        expected_[token] = {least, most, std::move(why)};
    }
    /// With the numbers that the server has.
    void compare(std::map<std::string, int> const& executed) {
        std::map<std::string, range> const expected = expected_;
        for (auto const& [token, r] : expected) {
            auto const at = executed.find(token);
            int const times = at == executed.end() ? 0 : at->second;
            if (times >= r.least && times <= r.most)
                continue;
            accuse(token + " was executed " + std::to_string(times) + " times; its call: " + r.why);
            if (times > 1) {
                ++tally_.doubled;
                --tally_.wrong;
            }
        }
        for (auto const& [token, times] : executed)
            if (!expected.contains(token))
                accuse(token + " is nobody's");
    }
    void add_unended(std::uint64_t n) {
        std::scoped_lock const lock(mutex_);
        tally_.unended += n;
    }

    token_tally tally() const {
        std::scoped_lock const lock(mutex_);
        return tally_;
    }
    std::vector<std::string> complaints() const {
        std::scoped_lock const lock(mutex_);
        return complaints_;
    }

private:
    struct range {
        int least, most;
        std::string why;
    };
    mutable std::mutex mutex_;
    token_tally tally_;
    std::vector<std::string> complaints_;
    std::map<std::string, range> expected_;
};

// ---- callers

/// A call that others may cancel.
struct token_live {
    redis::request const* request;
    cancellation_signal signal;
};

struct token_round {
    explicit token_round(std::uint64_t s)
        : seed(s),
          name("t" + std::to_string(s) + '.'),
          ledger_key("ledger:" + name) {}

    std::uint64_t seed;
    std::string name; // each token begins with it
    std::string ledger_key;
    token_ledger ledger;
    redis::client* db = nullptr; // no thread runs beside the one that changes it
    bool is_threaded = false;
    std::list<token_live> live; // of one thread only
    std::atomic<int> callers{0};
};

/// Each reply as a line: "OK", "-ERR ...", "_" for null, "[2 a b" for an array.
inline std::vector<std::string> token_lines(redis::generic_response const& replies) {
    std::vector<std::string> lines;
    bool begins = true;
    for (auto const& n : replies) {
        if (std::exchange(begins, n.last))
            lines.emplace_back();
        else
            lines.back() += ' ';
        auto& line = lines.back();
        if (resp3::is_aggregate(n.kind))
            line += '[' + std::to_string(n.size);
        else if (resp3::is_error(n.kind))
            line += '-';
        else if (n.kind == resp3::type::null)
            line += '_';
        line += n.value;
    }
    return lines;
}

class token_caller {
public:
    token_caller(token_round& r, std::uint32_t number, std::uint32_t calls)
        : round_(r),
          number_(number),
          calls_(calls),
          random_(r.seed, 100 + number) {}
    token_caller(token_caller const&) = delete;
    token_caller& operator=(token_caller const&) = delete;

    awaitable<void> run() {
        for (std::uint32_t i = 0; i != calls_ && round_.db; ++i) {
            auto calling = call();
            co_await std::move(calling);
        }
        --round_.callers;
    }

private:
    using lines = std::vector<std::string>;

    std::string next_token() { return round_.name + std::to_string(number_) + '.' + std::to_string(++last_) + '.'; }
    std::chrono::milliseconds some(std::uint32_t most) { return std::chrono::milliseconds(1 + random_.below(most)); }
    void count(redis::request& r, std::string const& token) { r.push("HINCRBY", round_.ledger_key, token, 1); }

    awaitable<void> call() {
        switch (random_.below(10)) {
        case 0: return echo();
        case 1: return set_and_get();
        case 2: return count_alone();
        case 3: return count_among_others();
        case 4: return count_in_transaction(round_.db);
        case 5: return push_and_pop();
        case 6: return lease();
        case 7: return apart();
        case 8: return publish();
        default: return burst();
        }
    }

    /// `on` may become null until this begins: the client has been destroyed then.
    template <class On, class Response> awaitable<error_code> ask(On* const& on, redis::request& req, Response& into) {
        if (!on)
            co_return fairlead::error::operation_aborted;
        error_code ec;
        if (random_.below(6) == 0)
            req.set_timeout(some(40));
        round_.ledger.begin();
        auto const how = random_.below(4);
        if (how == 0) {
            auto limited = on->async_exec(req, into, cancel_after(some(30), redirect_error(ec)));
            co_await std::move(limited);
        } else if (how == 1 && !round_.is_threaded) {
            auto const at = round_.live.emplace(round_.live.end());
            at->request = &req;
            auto bound = on->async_exec(req, into, bind_cancellation_slot(at->signal.slot(), redirect_error(ec)));
            co_await std::move(bound);
            round_.live.erase(at);
        } else {
            auto plain = on->async_exec(req, into, redirect_error(ec));
            co_await std::move(plain);
        }
        round_.ledger.end(ec);
        co_return ec;
    }

    /// False: the answer has words of somebody else, or others than it must have.
    bool check(std::string const& token, lines const& got, lines const& wanted) {
        bool is_refused = false;
        for (auto const& line : got) {
            is_refused |= line.starts_with('-');
            for (auto at = line.find(round_.name); at != line.npos; at = line.find(round_.name, at + 1))
                if (line.compare(at, token.size(), token) != 0) {
                    round_.ledger.accuse(token + " was answered with: " + line);
                    return false;
                }
        }
        if (got.size() == wanted.size() && (is_refused || got == wanted))
            return true;
        std::string all;
        for (auto const& line : got)
            all += line.substr(0, 60) + " | ";
        round_.ledger.accuse(token + " was answered with: " + all);
        return false;
    }
    /// `counts` is the place of the reply that says whether the command with the token was executed.
    void settle(std::string const& token, error_code const& ec, redis::generic_response const& replies,
                lines const& wanted, std::size_t counts) {
        auto const end = token_end_of(ec);
        if (end == token_end::answered) {
            auto const got = token_lines(replies);
            if (!check(token, got, wanted))
                return round_.ledger.expect(token, 0, 1, "a wrong answer");
            // A transaction whose beginning was refused is none: its commands may have been executed one by one.
            bool const is_done = got[counts] == wanted[counts];
            bool const is_loose = wanted[counts].starts_with('[');
            return round_.ledger.expect(token, is_done, is_done || is_loose, "answered");
        }
        bool const is_sure = end == token_end::not_executed || (end == token_end::refused && wanted.size() == 1);
        round_.ledger.expect(token, 0, is_sure ? 0 : 1, ec.message());
    }

    awaitable<void> echo() {
        auto const token = next_token();
        redis::request req;
        req.push("ECHO", token);
        std::string answer;
        auto asking = ask(round_.db, req, answer);
        auto const ec = co_await std::move(asking);
        if (!ec && answer != token)
            round_.ledger.accuse(token + " was answered with: " + answer);
    }
    awaitable<void> set_and_get() {
        auto const token = next_token();
        redis::request req;
        req.push("SET", "own:" + token, token);
        req.push("GET", "own:" + token);
        redis::generic_response replies;
        auto asking = ask(round_.db, req, replies);
        auto const ec = co_await std::move(asking);
        if (!ec)
            check(token, token_lines(replies), {"OK", token});
    }
    awaitable<void> count_alone() {
        auto const token = next_token();
        redis::request req;
        count(req, token);
        redis::generic_response replies;
        auto asking = ask(round_.db, req, replies);
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
        auto asking = ask(round_.db, req, replies);
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
        auto pushing = ask(round_.db, req, replies);
        auto const pushed = co_await std::move(pushing);
        if (!pushed)
            check(token, token_lines(replies), {"1"});
        if (!round_.db)
            co_return;
        redis::request pop;
        pop.push("BLPOP", list, "0.05");
        redis::generic_response popped;
        auto popping = ask(round_.db, pop, popped);
        auto const ec = co_await std::move(popping);
        if (ec)
            co_return;
        auto const got = token_lines(popped);
        bool const is_there = !pushed && token_lines(replies) == lines{"1"};
        if (is_there || got != lines{"_"})
            check(token, got, {"[2 " + list + ' ' + token});
    }
    awaitable<void> lease() {
        if (!round_.db)
            co_return;
        redis::lease own;
        error_code ec;
        round_.ledger.begin();
        try {
            auto acquiring = round_.db->acquire();
            own = co_await std::move(acquiring);
        } catch (system_error const& e) {
            ec = e.code();
        }
        round_.ledger.end(ec);
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
            check(token, token_lines(replies), {"OK", "_"});
        auto executing = count_in_transaction(one);
        co_await std::move(executing);
        if (random_.below(4) != 0)
            co_return;
        // The next owner of this connection must not see it.
        redis::request change;
        random_.below(2) ? change.push("SELECT", 1) : change.push("MULTI");
        auto changing = ask(one, change, replies);
        co_await std::move(changing);
    }
    awaitable<void> apart() {
        auto const token = next_token();
        std::string large;
        for (auto n = random_.below(300); n != 0; --n)
            large += token;
        redis::request req;
        req.push("ECHO", large);
        count(req, token);
        req.set_apart();
        redis::generic_response replies;
        auto asking = ask(round_.db, req, replies);
        auto const ec = co_await std::move(asking);
        settle(token, ec, replies, {large, "1"}, 1);
    }
    awaitable<void> publish() {
        if (!round_.db)
            co_return;
        auto const token = next_token();
        error_code ec;
        round_.ledger.begin();
        try {
            auto subscribing = round_.db->subscribe("news:" + token);
            auto heard_from = co_await std::move(subscribing);
            if (round_.db) {
                redis::request req;
                req.push("PUBLISH", "news:" + token, token);
                redis::generic_response replies;
                auto asking = ask(round_.db, req, replies);
                co_await std::move(asking);
                auto hearing = heard_from.async_next(cancel_after(some(30), redirect_error(ec)));
                auto const heard = co_await std::move(hearing);
                if (!ec && heard && (heard->channel() != "news:" + token || heard->payload() != token))
                    round_.ledger.accuse(token + " heard: " + std::string(heard->payload()));
                ec.clear();
            }
        } catch (system_error const& e) {
            ec = e.code();
        }
        round_.ledger.end(ec);
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
        for (auto n = 1 + random_.below(20); n != 0; --n) {
            auto s = std::make_shared<shot>();
            s->token = next_token();
            count(s->request, s->token);
            if (random_.below(8) == 0)
                s->request.set_timeout(some(40));
            all.push_back(std::move(s));
        }
        if (!round_.db)
            co_return;
        *left = static_cast<int>(all.size());
        for (auto const& s : all) {
            round_.ledger.begin();
            round_.db->async_exec(s->request, s->replies, [this, s, left](error_code ec, std::size_t) {
                if (++s->times != 1)
                    return round_.ledger.accuse(s->token + " ended twice");
                round_.ledger.end(ec);
                settle(s->token, ec, s->replies, {"1"}, 0);
                --*left;
            });
        }
        if (random_.below(4) == 0)
            for (auto const& s : all)
                if (random_.below(2))
                    round_.db->cancel(s->request);
        steady_timer pause(ex);
        while (*left != 0) {
            pause.expires_after(std::chrono::milliseconds(1));
            auto resting = pause.async_wait();
            co_await std::move(resting);
        }
    }

    token_round& round_;
    std::uint32_t number_, calls_;
    std::uint32_t last_ = 0;
    sim::random_stream random_;
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

    for (auto lives = 1 + random.below(3); lives != 0; --lives) {
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

        std::vector<std::unique_ptr<io_context>> contexts;
        std::vector<std::thread> runners;
        for (std::uint32_t i = 0; i != threads; ++i)
            contexts.push_back(std::make_unique<io_context>());
        auto const many = 1 + random.below(12);
        round.callers = static_cast<int>(many);
        for (std::uint32_t i = 0; i != many; ++i) {
            auto const number = static_cast<std::uint32_t>(callers.size());
            callers.push_back(std::make_unique<token_caller>(round, number, 2 + random.below(12)));
            co_spawn(threads != 0 ? *contexts[i % threads] : context, callers.back()->run(), [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(std::move(e));
            });
        }
        for (auto const& c : contexts)
            runners.emplace_back([&run = *c] { run.run(); });

        auto const is_destroyed = threads == 0 && random.below(3) == 0;
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
                for (auto at = round.live.begin(); at != round.live.end();)
                    db->cancel(*(at++)->request);
            else
                around.disturb(random);
        }
        if (is_destroyed) {
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
        while (*running != 0) {
            pause.expires_after(std::chrono::milliseconds(1));
            auto resting = pause.async_wait();
            co_await std::move(resting);
        }
        round.db = nullptr;
    }
    auto const t = round.ledger.tally();
    round.ledger.add_unended(t.calls - t.ends[0] - t.ends[1] - t.ends[2] - t.ends[3]);
    co_return true;
}

} // namespace fairlead::test
