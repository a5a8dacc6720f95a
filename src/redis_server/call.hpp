// One run of one command: its arguments, its replies, and the look-ups that nearly every command needs.
#pragma once

#include <redis_server/state.hpp>
#include <redis_server/text.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fairlead::redis::server_impl {

/// Look-ups that return false have answered with an error, and the command is over.
struct call {
    server_state& server;
    server_session& self;
    command const& cmd;
    std::span<std::string_view const> args;  // args[0] is the name as it came
    std::string_view const* ready = nullptr; // the key that changed, when a command that waited runs anew
    bool goes_on_waiting = false;            // it still has not what it needs

    std::string& out() const noexcept { return self.output; }
    resp3::version protocol() const noexcept { return self.protocol; }
    database& db() const noexcept { return server.databases[self.database]; }

    void ok() const { out() += "+OK\r\n"; }
    void error(std::string_view text) const { resp3::append_simple_error(out(), text); }
    void number(std::int64_t n) const { resp3::append_number(out(), n); }
    void size(std::size_t n) const { resp3::append_number(out(), static_cast<std::int64_t>(n)); }
    void simple(std::string_view text) const { resp3::append_simple_string(out(), text); }
    void bulk(std::string_view text) const { resp3::append_blob_string(out(), text); }
    void real(double n) const;
    void null() const { resp3::append_null(out(), protocol()); }
    void null_array() const { resp3::append_null_array(out(), protocol()); }
    void array(std::size_t n) const { resp3::append_array_header(out(), n); }
    void map(std::size_t pairs) const { resp3::append_map_header(out(), pairs, protocol()); }
    void set(std::size_t n) const { resp3::append_set_header(out(), n, protocol()); }
    void verbatim(std::string_view text) const { resp3::append_verbatim_string(out(), "txt", text, protocol()); }
    void optional_bulk(std::string const* text) const { text ? bulk(*text) : null(); }
    bool is_resp3() const noexcept { return protocol() == resp3::version::resp3; }

    void syntax_error() const { error("ERR syntax error"); }
    void wrong_type() const { error("WRONGTYPE Operation against a key holding the wrong kind of value"); }
    void wrong_number() const; // of arguments, of the command
    void wrong_arity() const;  // of arguments, of a subcommand
    void unknown_subcommand() const;
    void wrong_subcommand() const; // one that is known, whose arguments do not fit

    /// Argument i is `word`, in any case.
    bool is(std::size_t i, std::string_view word) const noexcept { return equals_any_case(args[i], word); }
    std::size_t count() const noexcept { return args.size(); }

    bool integer(std::string_view text, std::int64_t& n,
                 std::string_view complaint = "ERR value is not an integer or out of range") const;
    bool floating(std::string_view text, double& n,
                  std::string_view complaint = "ERR value is not a valid float") const;

    database::iterator find(std::string_view key) const { return server.find(self.database, key); }
    bool exists(std::string_view key) const { return find(key) != db().end(); }

    /// The value at `key` if it is a T; null if there is none.
    template <typename T> bool get(std::string_view key, T*& found) const {
        auto const at = find(key);
        found = nullptr;
        if (at == db().end())
            return true;
        found = std::get_if<T>(&at->second.held);
        if (!found)
            wrong_type();
        return found != nullptr;
    }
    /// As get(), but an empty T is made if there is none. Follow up with changed().
    template <typename T> bool get_or_make(std::string_view key, T*& found) const {
        if (!get(key, found))
            return false;
        if (!found)
            found = &make_empty<T>(key);
        return true;
    }
    /// As get(), for a command that may wait. One that runs anew looks at the key that changed alone, and other types
    /// are nothing to it.
    template <typename T> bool get_waiting(std::string_view key, T*& found) const {
        found = nullptr;
        if (!ready)
            return get(key, found);
        if (key != *ready)
            return true;
        if (auto const at = find(key); at != db().end())
            found = std::get_if<T>(&at->second.held);
        return true;
    }
    /// A new entry at `key`, which has none.
    entry& make(std::string_view key) const { return db().emplace(std::string(key), entry{}).first->second; }
    /// An empty T at `key`, which has nothing. Follow up with changed().
    template <typename T> T& make_empty(std::string_view key) const { return make(key).held.emplace<T>(); }
    /// Puts a value in place of whatever is at `key`, without expiry. An empty collection leaves no key.
    template <typename T> void replace(std::string_view key, T&& held) const {
        remove(key);
        make(key).held = std::forward<T>(held);
        changed(key);
    }
    /// Tells those who watch the key, and removes a collection that became empty: such keys do not exist.
    void changed(std::string_view key) const;
    void touched(std::string_view key) const { server.touch(self.database, key); }
    bool remove(std::string_view key) const;

    /// Seconds with a fraction, made a time of the engine's clock. Nothing means for ever.
    bool seconds_limit(std::string_view text, std::optional<std::int64_t>& until) const;
    bool milliseconds_limit(std::string_view text, std::optional<std::int64_t>& until) const;
    /// The command waits for one of the keys. It runs anew, with `arguments` or those that it has, when one changes.
    void wait(std::vector<std::string_view> const& keys, std::optional<std::int64_t> until,
              late_reply when_late = late_reply::null_array, std::vector<std::string> arguments = {});
    /// Within EXEC and scripts nothing waits.
    bool may_wait() const noexcept { return self.may_wait; }
};

/// A subcommand, and how it is run.
struct subcommand {
    std::string_view name;
    int arguments; // with command and subcommand; -n: at least n
    void (*run)(call&);
};
/// Runs the subcommand that args[1] names.
void choose(call& c, std::span<subcommand const> from);

} // namespace fairlead::redis::server_impl
