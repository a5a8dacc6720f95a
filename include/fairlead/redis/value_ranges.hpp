// Large texts that are read and written in ranges: the server has a little to do at a time, so that others wait for
// little.
#pragma once

#include <fairlead/redis/value_stream.hpp>

#include <fairlead/base/durations.hpp>
#include <fairlead/redis/argument.hpp>
#include <fairlead/redis/options.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::redis {

/// How a text is read in ranges.
struct reading_options {
    /// Bytes that one GETRANGE asks for. The server serves nobody else while it copies them, and the reader holds as
    /// many. At least 1, else std::invalid_argument.
    std::size_t range = std::size_t{32} * 1024;
    /// The limit of each request. Zero: config::request_timeout.
    std::chrono::milliseconds timeout{0};
};

/// When a text that is written in ranges expires: a duration from its end on, keep_ttl, or never.
class write_expiry {
public:
    constexpr write_expiry() noexcept = default;
    template <class D>
        requires(impl::is_duration<D>)
    constexpr write_expiry(D after) noexcept : after_(impl::milliseconds_view(after).count()) {}
    constexpr write_expiry(options::keep_ttl_t) noexcept : keeps_(true) {}
    template <class T>
        requires(!impl::is_duration<T>)
    FAIRLEAD_REFUSED("a text in ranges expires after a duration, or as its key did: write 10s, or options::keep_ttl")
    write_expiry(T const&);

    constexpr std::chrono::milliseconds after() const noexcept { return after_; }
    constexpr bool keeps() const noexcept { return keeps_; }

private:
    std::chrono::milliseconds after_{0};
    bool keeps_ = false;
};

/// The condition on which a text is written in ranges: nx, xx, or none.
class write_condition {
public:
    constexpr write_condition() noexcept = default;
    constexpr write_condition(options::nx_t) noexcept : is_nx_(true) {}
    constexpr write_condition(options::xx_t) noexcept : is_xx_(true) {}
    template <class T>
    FAIRLEAD_REFUSED("a text in ranges has the conditions nx and xx: write options::nx or options::xx")
    write_condition(T const&);

    constexpr bool is_nx() const noexcept { return is_nx_; }
    constexpr bool is_xx() const noexcept { return is_xx_; }
    constexpr explicit operator bool() const noexcept { return is_nx_ || is_xx_; }

private:
    bool is_nx_ = false;
    bool is_xx_ = false;
};

/// How a text is written in ranges: `{.expiry = 1h, .condition = options::nx}`.
struct writing_options {
    /// Bytes of one APPEND. The server serves nobody else while it takes them. At least 1, else std::invalid_argument.
    std::size_t range = std::size_t{16} * 1024;
    /// The limit of each request. Zero: config::request_timeout.
    std::chrono::milliseconds timeout{0};
    /// When the value expires, from its end on; keep_ttl: when the old one would have. Zero: never. Less is
    /// std::invalid_argument.
    write_expiry expiry{};
    /// nx: only if the key is not there at the end. xx: only if it is.
    write_condition condition{};
    /// How long the server keeps a part whose writer has gone, from its last range on. A second at least, else
    /// std::invalid_argument. A writer that takes longer for one range begins anew.
    std::chrono::seconds kept{60};
};

namespace impl {

FAIRLEAD_EXPORT awaitable<bool> set_ranges(client& db, key_view key, std::string_view value, writing_options const& how,
                                           unsigned attempts);
FAIRLEAD_EXPORT awaitable<std::optional<value_reader>> read_ranges(client& db, key_view key,
                                                                   reading_options const& how);
FAIRLEAD_EXPORT awaitable<std::optional<value_reader>> read_ranges(lease& own, key_view key,
                                                                   reading_options const& how);
FAIRLEAD_EXPORT awaitable<std::optional<std::string>> get_ranges(client& db, key_view key, reading_options const& how,
                                                                 unsigned attempts);

} // namespace impl

/// Reads the text at a key in ranges: `auto film = co_await redis::read_in_ranges(db, "film")`. Nothing without the
/// key. One GET of a large value holds up the server while that copies it. This sends a GETRANGE for each range, when
/// the range is asked for. It takes a connection out of the client's pool, which the reader has until the value has
/// been read.
///
/// The bytes are those of one value. The key is watched, and EXEC goes out with the last range. The key may have been
/// written, removed, or have expired meanwhile. Then an error comes in place of the last bytes, even if the value is
/// the same. Values that are not longer than one range come by one command.
///
/// The reader is that of read_in_pieces(), with these differences. Asking for a piece may be given up, and the next
/// call goes on with the same one. A reader that is destroyed before the end closes the connection only if a request is
/// under way. Each of the requests is one call for limits, statistics and hooks.
/// Throws     when it begins, and from the reader:
///            system_error of error::value_changed       the key changed; what has come is no value
///            of error::value_incomplete                 the connection was lost
///            of condition::timed_out                    a request took longer than its limit
///            of condition::refused_by_server            error::wrong_type; error::no_permission, or exec_aborted,
///                                                       for a user who lacks one of WATCH, GETRANGE, STRLEN,
///                                                       EXISTS, MULTI and EXEC
///            of fairlead::error::operation_aborted      asked to end; it may be called again
///            std::invalid_argument                      range is 0
/// After an error that is not operation_aborted each call throws that one again.
/// Lifetime   the key is copied; the client outlives the call
/// Threads    any
/// Allocates  when it begins: the reader, and memory for a range. Nothing for each range after warm-up
/// Source     https://redis.io/docs/latest/develop/using-commands/transactions/
inline awaitable<std::optional<value_reader>> read_in_ranges(client& db, key_view key,
                                                             reading_options const& how = {}) {
    return impl::read_ranges(db, key, how);
}
/// As above, on a connection of the caller's, which does nothing else until the value has been read. It outlives the
/// reader. It has no transaction open, and forgets the keys that it watched before.
inline awaitable<std::optional<value_reader>> read_in_ranges(lease& own, key_view key,
                                                             reading_options const& how = {}) {
    return impl::read_ranges(own, key, how);
}

/// Reads the text at a key as read_in_ranges() does, and gives all of it: a GET that holds up nobody. Nothing without
/// the key. When the key changes meanwhile, or the connection is lost, it begins anew, at most `attempts` times in all.
/// Throws     as read_in_ranges()
/// Lifetime   the key is copied; the client outlives the call
/// Threads    any
inline awaitable<std::optional<std::string>> get_in_ranges(client& db, key_view key, reading_options const& how = {},
                                                           unsigned attempts = 4) {
    return impl::get_ranges(db, key, how, attempts);
}

/// Writes a text in ranges: `co_await redis::set_in_ranges(db, "film", bytes, {.expiry = 1h})`. A SET that holds up
/// nobody. Other programs see the old value until all of the new one is there. It takes a connection out of the
/// client's pool.
///
/// The ranges go, by an APPEND each, to a key beside, in the same slot of a cluster: "{film}:being-written:" and a
/// number that is free. A key that has a tag is not put into braces. A transaction with RENAME puts it in place at the
/// end. So whatever was at the key is replaced, of any type. Its time to expire is gone, but with keep_ttl. The key
/// beside expires when its writer has gone. No range is sent twice. When a connection was lost, or the key beside has
/// gone, all is begun anew under another name, at most `attempts` times in all. The end is never repeated. A text of
/// one range is written by SET.
///
/// A condition is looked at before the first byte is sent, and again at the end, where it holds: RENAMENX is nx. For xx
/// and keep_ttl the key is watched from the moment when it is looked at. When it changes before RENAME, it is looked at
/// anew, at most 16 times.
/// Returns    whether it was written. False: the condition was not met, and the key is as it was
/// Throws     system_error of error::value_incomplete         the connection was lost, in each attempt: the key is as
///                                                            it was
///            of error::maybe_executed or no_answer_in_time   it was lost, or the limit was over, at the end
///            of error::not_sent_in_time                      a range took longer than its limit: the key is as it was
///            of error::watched_key_changed                   xx or keep_ttl: it changed each time. It has not been
///                                                            written by this call
///            of condition::refused_by_server                 the key is as it was. The server has no memory, or the
///                                                            user lacks the key beside, or one of SET, APPEND,
///                                                            PEXPIRE, PERSIST, MULTI, RENAME and EXEC. Options need
///                                                            EXISTS, RENAMENX, UNLINK, WATCH, PEXPIRETIME or
///                                                            PEXPIREAT
///            of fairlead::error::operation_aborted           asked to end before the end: the key is as it was
///            std::invalid_argument                           writing_options says of what
/// Cancel     as any coroutine; the part that was written goes by its time
/// Lifetime   the key is copied; the client and the memory behind `value` outlive the call
/// Threads    any
/// Allocates  a request of one range, and its coroutines
/// Source     https://redis.io/docs/latest/commands/rename/
inline awaitable<bool> set_in_ranges(client& db, key_view key, std::string_view value, writing_options const& how = {},
                                     unsigned attempts = 4) {
    return impl::set_ranges(db, key, value, how, attempts);
}

} // namespace fairlead::redis
