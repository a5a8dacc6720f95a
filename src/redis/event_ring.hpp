// The last events of a connection, of which somebody wants to know when it has ended unexpectedly.
//
// They are noted always, so a record is a few stores and no look at the clock. An event that has no time at hand goes
// without one: it lies between its neighbours. One thread at a time notes them; any may read.
#pragma once

#include <fairlead/base/error.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fairlead::redis::impl {

/// Kinds of events. They say what of `amount`, `number` and `detail` they have.
enum class event : std::uint8_t {
    connecting, ///< -
    connected,  ///< -
    ready,      ///< number: 2 or 3, the version of RESP
    wrote,      ///< amount of bytes; detail: not 0 if it failed then
    read,       ///< amount of bytes; number of replies; detail: their kinds, bit by bit
    pushed,     ///< number of pushes
    asked,      ///< whether the server is well
    over,       ///< number of calls whose limit was over
    ended,      ///< amount: the value of an error; detail: its category
};

/// A set of kinds of replies in one word.
constexpr std::uint32_t bit_of(char kind) noexcept {
    return std::uint32_t{1} << (static_cast<unsigned char>(kind) & 31);
}

class event_ring {
public:
    static constexpr std::size_t shown_max = 64;
    static constexpr std::int64_t no_time = -1;

    void note(event kind, std::int64_t at_ns, std::uint32_t amount = 0, std::uint32_t number = 0,
              std::uintptr_t detail = 0) noexcept {
        auto const n = next_.load(std::memory_order_relaxed);
        auto& r = records_[n % size];
        // Released each: a reader that sees a part of this sees next_ as it is now, and leaves the record out.
        r.at_ns.store(at_ns, std::memory_order_release);
        r.amount.store(amount, std::memory_order_release);
        r.number.store(number, std::memory_order_release);
        r.detail.store(detail, std::memory_order_release);
        r.kind.store(kind, std::memory_order_release);
        next_.store(n + 1, std::memory_order_release);
    }
    void note_end(std::int64_t at_ns, error_code const& ec) noexcept {
        note(event::ended, at_ns, static_cast<std::uint32_t>(ec.value()), 0,
             reinterpret_cast<std::uintptr_t>(&ec.category()));
    }
    /// So many more of the kind, in the last record where that has the same.
    void note_more(event kind, std::uint32_t more) noexcept {
        auto const n = next_.load(std::memory_order_relaxed);
        auto& last = records_[(n - 1) % size];
        if (n != 0 && last.kind.load(std::memory_order_relaxed) == kind)
            last.number.store(last.number.load(std::memory_order_relaxed) + more, std::memory_order_release);
        else
            note(kind, no_time, 0, more);
    }

    /// The last ones, a line for each, the oldest first. Any thread.
    std::string text() const;

private:
    static constexpr std::size_t size =
        2 * shown_max; // Those that are being written over while one reads are left out.

    struct record {
        std::atomic<std::int64_t> at_ns;
        std::atomic<std::uintptr_t> detail;
        std::atomic<std::uint32_t> amount, number;
        std::atomic<event> kind;
    };
    static_assert(sizeof(record) == 32, "its place is found by a shift");
    std::array<record, size> records_{};
    std::atomic<std::uint64_t> next_{0};
};

} // namespace fairlead::redis::impl
