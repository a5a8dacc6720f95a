// Random numbers of one context, for pauses and tokens.
#pragma once

#include <fairlead/exec/execution_context.hpp>

#include <atomic>
#include <cstdint>

namespace fairlead::redis::impl {

/// Each number is another one, also for clients that ask at the same moment. They follow the order of the questions and
/// the clock, so that a simulated world repeats them. Any thread.
class chances final : public execution_context::service {
public:
    explicit chances(execution_context& c) : service(c) {}

    std::uint64_t next(std::int64_t now_ns) noexcept {
        // SplitMix64
        auto z = asked_.fetch_add(0x9e3779b97f4a7c15U, std::memory_order_relaxed) + static_cast<std::uint64_t>(now_ns);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

private:
    void shutdown() override {}

    std::atomic<std::uint64_t> asked_{0x9e3779b97f4a7c15U};
};

} // namespace fairlead::redis::impl
