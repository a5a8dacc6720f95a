// A ledger of calls with tokens: their answers, against the executions of the server. And the things that the callers
// of a round share.
#pragma once

#include <fairlead/redis/client.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>

#include <support/reply_lines.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
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
    std::uint64_t unknown_scripts = 0;   // answered with NOSCRIPT, as far as hooks saw it
    std::uint64_t handled = 0;           // entries of a stream that a consumer was given
    std::uint64_t resp2 = 0;             // calls of clients that speak RESP2
    std::uint64_t wrong = 0, unended = 0, doubled = 0;

    bool is_good() const noexcept { return wrong == 0 && unended == 0 && doubled == 0; }
    std::string text(char const* of) const {
        auto const n = [](std::uint64_t x) { return std::to_string(x); };
        return n(calls) + " calls" + of + "; " + n(ends[0]) + " answered, " + n(ends[1]) + " refused, " + n(ends[2]) +
               " not executed, " + n(ends[3]) + " perhaps executed (" + n(unproved) + " without their token); " +
               n(counted) + " commands counted in the server\n" + n(resp2) + " calls with RESP2; " +
               n(unknown_scripts) + " scripts sent again after NOSCRIPT; " + n(handled) + " entries handled\n" +
               n(wrong) + " wrong answers, " + n(unended) + " calls without an end, " + n(doubled) +
               " double executions\n";
    }
    void add(token_tally const& t) noexcept {
        calls += t.calls;
        for (std::size_t i = 0; i != ends.size(); ++i)
            ends[i] += t.ends[i];
        unproved += t.unproved;
        counted += t.counted;
        unknown_scripts += t.unknown_scripts;
        handled += t.handled;
        resp2 += t.resp2;
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
        for (auto const e : {E::incompatible_type, E::conversion_failed, E::response_mismatch, E::refused_command,
                             E::no_script, E::no_group})
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
    // ---- entries of a stream, each with a token

    void produce(std::string const& token) {
        std::scoped_lock const lock(mutex_);
        entries_[token];
    }
    /// Its producer was told the id.
    void produced(std::string const& token, std::string const& id) {
        std::scoped_lock const lock(mutex_);
        entries_[token].id = id;
    }
    /// A consumer was given it.
    void consume(std::string const& token, std::string const& id) {
        std::unique_lock lock(mutex_);
        ++tally_.handled;
        auto const at = entries_.find(token);
        bool const is_right = at != entries_.end() && (at->second.id.empty() || at->second.id == id);
        if (is_right)
            ++at->second.times;
        lock.unlock();
        if (!is_right)
            accuse("a consumer was given the entry " + id + " with: " + token);
    }
    /// The server has told its consumer that nobody gets it any more.
    void acknowledged(std::string const& id) {
        std::scoped_lock const lock(mutex_);
        acknowledged_.insert(id);
    }
    bool has_entries() const {
        std::scoped_lock const lock(mutex_);
        return !entries_.empty();
    }
    bool is_consumed(std::string const& token) const {
        std::scoped_lock const lock(mutex_);
        auto const at = entries_.find(token);
        return at != entries_.end() && at->second.times != 0;
    }
    /// With the entries that the server has: an id and a token each. Those that are pending are some of them.
    void compare_entries(std::vector<std::pair<std::string, std::string>> const& all,
                         std::vector<std::string> const& pending) {
        for (auto const& [id, token] : all)
            if (!is_consumed(token))
                accuse(token + " is an entry that nobody was given: " + id);
        for (auto const& id : pending)
            if (acknowledged_.contains(id))
                accuse("an entry is pending that was acknowledged: " + id);
    }

    void add_unknown_scripts(std::uint64_t n) {
        std::scoped_lock const lock(mutex_);
        tally_.unknown_scripts += n;
    }
    void all_with_resp2() {
        std::scoped_lock const lock(mutex_);
        tally_.resp2 = tally_.calls;
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
    struct entry {
        std::string id{}; // empty: its producer was not told
        int times = 0;    // it was given to a consumer
    };
    mutable std::mutex mutex_;
    token_tally tally_;
    std::map<std::string, entry> entries_;
    std::set<std::string> acknowledged_;
    std::vector<std::string> complaints_;
    std::map<std::string, range> expected_;
};

// ---- what callers share

/// A call that others may cancel.
struct token_live {
    redis::request const* request; // null: of a script
    cancellation_signal signal;
};

struct token_round {
    explicit token_round(std::uint64_t s)
        : seed(s),
          name("t" + std::to_string(s) + '.'),
          ledger_key("ledger:" + name),
          stream_key("stream:" + name),
          value_key("value:" + name) {}

    std::uint64_t seed;
    std::string name; // each token begins with it
    std::string ledger_key;
    std::string stream_key; // all callers produce and consume its entries
    std::string value_key;  // its value is always the token of one call, repeated
    token_ledger ledger;
    redis::client* db = nullptr; // no thread runs beside the one that changes it
    bool is_threaded = false;
    bool is_resp2 = false;      // the server knows no HELLO
    bool goes_early = false;    // the client is destroyed while calls are under way
    std::list<token_live> live; // of one thread only
    std::atomic<int> callers{0};
};

} // namespace fairlead::test
