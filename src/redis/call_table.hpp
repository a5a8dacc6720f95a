// The rows of call_statistics: one for each command of the table of commands, made when it is first used.
#pragma once

#include <fairlead/redis/call_statistics.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace fairlead::redis::impl {

/// Counted by any thread. Clients may share one, so that a load and a store would not do.
struct call_row {
    std::atomic<std::uint64_t> by_outcome[call_outcomes] = {};
    std::atomic<std::uint64_t> by_latency[latency_bounds + 1] = {};
    std::atomic<std::uint64_t> bytes_sent{0};
    std::atomic<std::uint64_t> bytes_received{0};
    std::atomic<std::uint64_t> time_ns{0};
};

/// One command of a request that has ended.
struct ended_command {
    call_outcome outcome;
    std::size_t bytes_sent;
    std::size_t bytes_received;
    std::int64_t took_ns;
};

/// The bucket of a latency: of a bound, that one.
std::size_t bucket_of(std::int64_t ns) noexcept;

struct call_table {
    call_table();
    call_table(call_table const&) = delete;
    call_table& operator=(call_table const&) = delete;
    ~call_table();

    /// `place` as place_of() tells it.
    void count(std::size_t place, ended_command const& e) noexcept;
    /// The row of a command; behind those of the table the row of all others.
    static std::size_t place_of(std::string_view name, std::string_view subcommand) noexcept;

    std::size_t const size;
    std::unique_ptr<std::atomic<call_row*>[]> rows;
};

} // namespace fairlead::redis::impl
