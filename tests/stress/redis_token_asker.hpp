// How a caller makes a call whose answer is to have its token, and what it looks for in that answer.
#pragma once

#include "redis_token_ledger.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/coro/this_coro.hpp>
#include <fairlead/net/cancel_after.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/redis/lease.hpp>
#include <fairlead/sim/random.hpp>
#include <fairlead/token/adapters.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fairlead::test {

class token_asker {
public:
    using lines = std::vector<std::string>;
    static constexpr std::chrono::milliseconds no_limit{-1}, any_limit{0};

    token_asker(token_round& r, std::uint32_t number) : round(r), random(r.seed, 100 + number), number_(number) {}
    token_asker(token_asker const&) = delete;
    token_asker& operator=(token_asker const&) = delete;

    std::string next_token() { return round.name + std::to_string(number_) + '.' + std::to_string(++last_) + '.'; }
    std::uint32_t number() const { return number_; }
    std::chrono::milliseconds some(std::uint32_t most) { return std::chrono::milliseconds(1 + random.below(most)); }
    void count(redis::request& r, std::string const& token) { r.push("HINCRBY", round.ledger_key, token, 1); }

    /// `on` may become null until this begins: the client has been destroyed then.
    template <class On, class Response> awaitable<error_code> ask(On* const& on, redis::request& req, Response& into) {
        if (!on)
            co_return fairlead::error::operation_aborted;
        error_code ec;
        if (random.below(6) == 0)
            req.set_timeout(some(40));
        round.ledger.begin();
        auto const how = random.below(4);
        if (how == 0) {
            auto limited = on->async_exec(req, into, cancel_after(some(30), redirect_error(ec)));
            co_await std::move(limited);
        } else if (how == 1 && !round.is_threaded) {
            auto const at = round.live.emplace(round.live.end());
            at->request = &req;
            auto bound = on->async_exec(req, into, bind_cancellation_slot(at->signal.slot(), redirect_error(ec)));
            co_await std::move(bound);
            round.live.erase(at);
        } else {
            auto plain = on->async_exec(req, into, redirect_error(ec));
            co_await std::move(plain);
        }
        round.ledger.end(ec);
        co_return ec;
    }
    /// As above, of a typed command or a script.
    template <class On, class Command>
    awaitable<error_code> ask_for(On* const& on, Command c, typename Command::result_type& into) {
        if (!on)
            co_return fairlead::error::operation_aborted;
        error_code ec;
        if (random.below(6) == 0)
            c.set_timeout(some(40));
        round.ledger.begin();
        auto const how = random.below(4);
        if (how == 0) {
            auto limited = on->async_exec(std::move(c), cancel_after(some(30), redirect_error(ec)));
            into = co_await std::move(limited);
        } else if (how == 1 && !round.is_threaded) {
            auto const at = round.live.emplace(round.live.end());
            auto bound = on->async_exec(std::move(c), bind_cancellation_slot(at->signal.slot(), redirect_error(ec)));
            into = co_await std::move(bound);
            round.live.erase(at);
        } else {
            try {
                auto plain = on->async_exec(std::move(c));
                into = co_await std::move(plain);
            } catch (system_error const& e) {
                ec = e.code();
            }
        }
        round.ledger.end(ec);
        co_return ec;
    }
    /// The end of a coroutine of the client's, which may be asked to end. Its value goes to `into`.
    template <class T> awaitable<error_code> run(awaitable<T> a, T& into, std::chrono::milliseconds limit = any_limit) {
        round.ledger.begin();
        auto const ex = co_await this_coro::executor;
        std::tuple<std::exception_ptr, T> ended;
        if (limit == any_limit)
            limit = random.below(3) == 0 ? some(40) : no_limit;
        if (limit != no_limit) {
            auto limited = co_spawn(ex, std::move(a), cancel_after(limit, as_tuple));
            ended = co_await std::move(limited);
        } else {
            auto plain = co_spawn(ex, std::move(a), as_tuple);
            ended = co_await std::move(plain);
        }
        auto const ec = code_of(std::get<0>(ended));
        if (!ec)
            into = std::move(std::get<1>(ended));
        round.ledger.end(ec);
        co_return ec;
    }
    /// Of a server that is well, or will be.
    template <class Command> awaitable<void> ask_until_answered(Command c, typename Command::result_type& into) {
        for (error_code ec = redis::error::loading; ec != error_code();) {
            auto asking = round.db->async_exec(c, redirect_error(ec));
            into = co_await std::move(asking);
            if (ec == redis::condition::refused_by_server && ec != redis::error::loading)
                co_return;
        }
    }
    awaitable<error_code> acquire(redis::lease& own) {
        if (!round.db)
            co_return fairlead::error::operation_aborted;
        round.ledger.begin();
        error_code ec;
        try {
            auto acquiring = round.db->acquire();
            own = co_await std::move(acquiring);
        } catch (system_error const& e) {
            ec = e.code();
        }
        round.ledger.end(ec);
        co_return ec;
    }

    /// False: the answer has words of somebody else, or others than it must have.
    bool check(std::string const& token, lines const& got, lines const& wanted) {
        bool is_refused = false;
        for (auto const& line : got) {
            is_refused |= line.starts_with('-');
            for (auto at = line.find(round.name); at != line.npos; at = line.find(round.name, at + 1))
                if (line.compare(at, token.size(), token) != 0) {
                    round.ledger.accuse(token + " was answered with: " + line);
                    return false;
                }
        }
        if (got.size() == wanted.size() && (is_refused || got == wanted))
            return true;
        std::string all;
        for (auto const& line : got)
            all += line.substr(0, 60) + " | ";
        round.ledger.accuse(token + " was answered with: " + all);
        return false;
    }
    /// `counts` is the place of the reply that says whether the command with the token was executed.
    void settle(std::string const& token, error_code const& ec, redis::generic_response const& replies,
                lines const& wanted, std::size_t counts) {
        auto const end = token_end_of(ec);
        if (end == token_end::answered) {
            auto const got = reply_lines(replies);
            if (!check(token, got, wanted))
                return round.ledger.expect(token, 0, 1, "a wrong answer");
            // A transaction whose beginning was refused is none: its commands may have been executed one by one.
            bool const is_done = got[counts] == wanted[counts];
            bool const is_loose = wanted[counts].starts_with('[');
            return round.ledger.expect(token, is_done, is_done || is_loose, "answered");
        }
        bool const is_sure = end == token_end::not_executed || (end == token_end::refused && wanted.size() == 1);
        round.ledger.expect(token, 0, is_sure ? 0 : 1, ec.message());
    }

    token_round& round;
    sim::random_stream random;

private:
    static error_code code_of(std::exception_ptr const& e) {
        if (!e)
            return {};
        try {
            std::rethrow_exception(e);
        } catch (system_error const& failure) {
            return failure.code();
        }
    }

    std::uint32_t number_;
    std::uint32_t last_ = 0;
};

} // namespace fairlead::test
