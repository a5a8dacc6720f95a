// Values that are written and read in pieces and in ranges. Each arrives whole, and is the one that its key has.
#pragma once

#include "redis_token_scripts.hpp"

#include <fairlead/redis/cmd/strings.hpp>
#include <fairlead/redis/value_ranges.hpp>
#include <fairlead/redis/value_stream.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::test {

class token_values {
public:
    explicit token_values(token_asker& by) : by_(by) {}

    awaitable<void> in_pieces() {
        if (!by_.round.db)
            co_return;
        redis::lease own;
        if (by_.round.goes_early || by_.random.below(2) != 0) {
            auto acquiring = by_.acquire(own);
            auto const ec = co_await std::move(acquiring);
            if (ec || !by_.round.db)
                co_return;
        }
        written w{by_.next_token()};
        bool const is_shared = by_.random.below(4) == 0;
        w.value = some_value(w.token, !is_shared && by_.random.below(8) == 0);
        w.key = is_shared ? by_.round.value_key : "own:" + w.token;
        auto writing = own ? write(own, w) : write(*by_.round.db, w);
        co_await std::move(writing);
        if (!own && !by_.round.db)
            co_return;
        if (own && by_.random.below(2) != 0) { // Another connection, for it may have been lost.
            own = redis::lease();
            auto acquiring = by_.acquire(own);
            auto const ec = co_await std::move(acquiring);
            if (ec)
                co_return;
        }
        auto reading = own ? read(own, w, is_shared) : read(*by_.round.db, w, is_shared);
        co_await std::move(reading);
    }

    /// With a client that outlives the call.
    awaitable<void> in_ranges() {
        if (!by_.round.db || by_.round.goes_early)
            co_return;
        written w{by_.next_token()};
        w.value = some_value(w.token);
        bool const is_shared = by_.random.below(2) == 0;
        w.key = is_shared ? by_.round.value_key : "own:" + w.token;
        redis::writing_options const how{.range = some_range(w)};
        int done = 0;
        auto writing = by_.run(write_in_ranges(*by_.round.db, w, how), done);
        auto ec = co_await std::move(writing);
        w.is_there = !ec;
        bool const is_as_it_was = ec == redis::error::value_incomplete || ec == redis::condition::refused_by_server ||
                                  ec == redis::condition::not_executed;
        w.may_be_there = !is_as_it_was;
        std::optional<std::string> got;
        if (by_.random.below(2) != 0) {
            auto reading = by_.run(redis::get_in_ranges(*by_.round.db, w.key, {.range = some_range(w)}), got);
            ec = co_await std::move(reading);
            if (!ec)
                check(w, got, is_shared);
            co_return;
        }
        bool is_whole = false;
        bool const is_disturbed = is_shared && by_.random.below(2) != 0;
        auto beginning = redis::read_in_ranges(*by_.round.db, w.key, {.range = some_range(w)});
        auto reading = by_.run(read_all(std::move(beginning), got, is_shared ? nullptr : &w, is_disturbed), is_whole,
                               is_disturbed ? by_.no_limit : by_.any_limit);
        ec = co_await std::move(reading);
        if (!ec && is_whole)
            check(w, got, is_shared);
    }

private:
    struct written {
        std::string token;
        std::string value{}, key{};
        bool is_there = false, may_be_there = true;
    };

    /// The token repeated. A large one does not come as a whole.
    std::string some_value(std::string const& token, bool is_large = false) {
        auto const bytes = is_large ? 33'000 + by_.random.below(20'000) : 1 + by_.random.below(300);
        std::string value;
        while (value.size() < bytes)
            value += token;
        return value;
    }
    std::size_t some_range(written const& w) { return 1 + w.value.size() / (1 + by_.random.below(4)); }
    /// All of it is the token of one call.
    bool is_whole(std::string_view value) const {
        auto const& name = by_.round.name;
        if (!value.starts_with(name))
            return false;
        auto const caller = value.find('.', name.size());
        auto const end = caller == value.npos ? caller : value.find('.', caller + 1);
        if (end == value.npos)
            return false;
        auto const token = value.substr(0, end + 1);
        for (; !value.empty(); value.remove_prefix(token.size()))
            if (!value.starts_with(token))
                return false;
        return true;
    }
    void check(written const& w, std::optional<std::string> const& got, bool is_shared) {
        if (is_shared) {
            if (got ? !is_whole(*got) : w.is_there)
                by_.round.ledger.accuse(w.token +
                                        " found no value of one call: " + got.value_or("null").substr(0, 200));
            return;
        }
        if (got ? !w.may_be_there || *got != w.value : w.is_there)
            by_.round.ledger.accuse(w.token + " found another value, of " + std::to_string(got ? got->size() : 0) +
                                    " bytes in place of " + std::to_string(w.value.size()) + ": " +
                                    got.value_or("null").substr(0, 100));
    }

    /// The script stores the value and counts. Now and then the source ends before it should: then nothing is executed.
    template <class On> awaitable<void> write(On& on, written& w) {
        std::vector<std::string> pieces;
        for (std::string_view left = w.value; !left.empty();) {
            auto const n = 1 + by_.random.below(static_cast<std::uint32_t>(left.size()));
            pieces.emplace_back(left.substr(0, n));
            left.remove_prefix(pieces.back().size());
        }
        bool const is_cut = by_.random.below(6) == 0;
        if (is_cut)
            pieces.pop_back();
        auto store = redis::cmd::eval<token_counted>(std::string_view(token_store_script),
                                                     {by_.round.ledger_key, w.key}, {w.token, redis::in_pieces});
        if (by_.random.below(6) == 0)
            store.set_timeout(by_.some(40));
        token_counted got;
        auto writing = by_.run(redis::write_in_pieces(on, store, w.value.size(), std::move(pieces)), got);
        auto const ec = co_await std::move(writing);
        if (!ec && got != token_counted(w.token, 1))
            by_.round.ledger.accuse(w.token + " was answered with: " + got.first + ' ' + std::to_string(got.second));
        bool const is_sure = is_cut || ec == redis::error::value_incomplete ||
                             ec == redis::condition::refused_by_server || ec == redis::condition::not_executed;
        w.is_there = !ec;
        w.may_be_there = !ec || !is_sure;
        if (!ec && is_cut)
            by_.round.ledger.accuse(w.token + " was written in part");
        by_.round.ledger.expect(w.token, w.is_there, w.may_be_there, ec.message());
    }

    template <class On> awaitable<void> read(On& on, written const& w, bool is_shared) {
        std::optional<std::string> got;
        bool is_whole = false;
        auto const get = redis::cmd::get(w.key);
        auto reading = by_.run(read_all(redis::read_in_pieces(on, get), got, is_shared ? nullptr : &w), is_whole);
        auto const ec = co_await std::move(reading);
        if (!ec && is_whole)
            check(w, got, is_shared);
    }
    /// False: it has left before the end, and somebody else gets the connection.
    awaitable<bool> read_all(awaitable<std::optional<redis::value_reader>> beginning, std::optional<std::string>& into,
                             written const* only, bool is_disturbed = false) {
        auto reader = co_await std::move(beginning);
        if (!reader)
            co_return true;
        into.emplace();
        bool const leaves = by_.random.below(6) == 0;
        auto const bytes = reader->size() / (1 + by_.random.below(8)) + 1;
        std::string memory(static_cast<std::size_t>(bytes), '\0');
        while (reader->left() != 0) {
            auto reading = reader->read_some(std::span(memory.data(), memory.size()));
            auto const n = co_await std::move(reading);
            into->append(memory, 0, n);
            if (only && !only->value.starts_with(*into))
                by_.round.ledger.accuse(only->token + " was given a piece of another value");
            if (leaves)
                co_return false;
            if (std::exchange(is_disturbed, false)) {
                auto overwriting = overwrite(static_cast<std::size_t>(reader->size()));
                co_await std::move(overwriting);
            }
        }
        if (into->size() != reader->size())
            by_.round.ledger.accuse("a reader gave " + std::to_string(into->size()) + " bytes of " +
                                    std::to_string(reader->size()));
        co_return true;
    }
    /// By a value that is as long, as a rule: its length does not tell.
    awaitable<void> overwrite(std::size_t bytes) {
        auto const token = by_.next_token();
        auto value = token;
        while (value.size() + token.size() <= bytes)
            value += token;
        redis::request req;
        req.push("SET", by_.round.value_key, value);
        redis::generic_response replies;
        auto asking = by_.ask(by_.round.db, req, replies);
        auto const ec = co_await std::move(asking);
        if (!ec)
            by_.check(token, reply_lines(replies), {"OK"});
    }
    static awaitable<int> write_in_ranges(redis::client& db, written const& w, redis::writing_options how) {
        auto writing = redis::set_in_ranges(db, w.key, w.value, how);
        co_await std::move(writing);
        co_return 1;
    }

    token_asker& by_;
};

} // namespace fairlead::test
