// Counts and latencies of calls, by command.
#pragma once

#include <fairlead/base/config.hpp>
#include <fairlead/base/durations.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace fairlead::redis {

/// How a command ended, in few kinds. error.hpp says more of each.
enum class call_outcome : unsigned char {
    answered,           ///< Its reply came and was delivered.
    refused_by_server,  ///< The reply was an error, also where a result<T> took it.
    incompatible_reply, ///< The reply does not fit the type that was asked for.
    refused_by_client,  ///< Unfit for the connection, or its queue was full; nothing was sent.
    timed_out,          ///< The limit of its request was over.
    cancelled,          ///< Before it was written.
    not_sent,           ///< There was no connection, or it ended before a byte of the request was written.
    maybe_executed,     ///< The connection was lost, or the call was cancelled, after it was written.
    other,              ///< No memory, for one.
};
/// How many there are.
inline constexpr std::size_t call_outcomes = static_cast<std::size_t>(call_outcome::other) + 1;

/// The name of the enumerator.
FAIRLEAD_EXPORT std::string_view to_string(call_outcome o) noexcept;

/// The buckets of all latency histograms: the bound of number k is 2^k microseconds, from 1 us to 16.8 s.
inline constexpr std::size_t latency_bounds = 25;
/// The upper bound of a bucket, which belongs to it.
constexpr std::chrono::microseconds latency_bound(std::size_t k) noexcept {
    return std::chrono::microseconds(std::int64_t{1} << k);
}

/// The calls of one command so far. Each number is exact by itself; while calls go on they may be of different moments.
struct command_statistics {
    std::string_view command; ///< In capitals: "GET", "CONFIG GET". "other": what no server of the table knows.
    std::uint64_t calls = 0;  ///< That have ended, one way or another.
    std::array<std::uint64_t, call_outcomes> by_outcome{}; ///< By the value of call_outcome.
    std::uint64_t bytes_sent = 0;     ///< Of the command as it stands in its request, also if it was not sent.
    std::uint64_t bytes_received = 0; ///< Of text in its replies.
    std::chrono::nanoseconds time{0}; ///< The sum of all latencies.
    /// How many took so long: not more than latency_bound(k), and more than the bound before. The last: longer than
    /// all.
    std::array<std::uint64_t, latency_bounds + 1> by_latency{};

    std::uint64_t of(call_outcome o) const noexcept { return by_outcome[static_cast<std::size_t>(o)]; }
    std::uint64_t errors() const noexcept {
        std::uint64_t n = 0;
        for (std::size_t i = 1; i != call_outcomes; ++i)
            n += by_outcome[i];
        return n;
    }
};

namespace impl {
struct call_table;
class call_observer;
} // namespace impl

/// Counts each command that a client executes: `options.statistics = std::make_shared<redis::call_statistics>()`.
/// Several clients may share one.
///
/// The latency of a command is the time from the start of its request until its reply. A command without a reply has
/// the latency of the whole request. Commands that MULTI queues are answered by QUEUED; errors inside the reply to EXEC
/// are not looked for.
///
/// Threads    any, also several at the same time
/// Allocates  a row for each command name when it is first used: without memory for it the command is not counted
class FAIRLEAD_EXPORT call_statistics {
public:
    call_statistics();
    ~call_statistics();
    call_statistics(call_statistics const&) = delete;
    call_statistics& operator=(call_statistics const&) = delete;

    /// The commands that were called, sorted by name; "other" is the last.
    std::vector<command_statistics> commands() const;

private:
    friend impl::call_observer;
    std::unique_ptr<impl::call_table> table_;
};

} // namespace fairlead::redis
