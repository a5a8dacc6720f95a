// A host's clocks: they go a little faster or slower than the world's, and the wall clock can be set.
#pragma once

#include <fairlead/base/saturated.hpp>

#include <chrono>
#include <cstdint>

namespace fairlead::sim {

class host_clock {
public:
    std::int64_t steady_ns(std::int64_t world_ns) const noexcept {
        auto const d = world_ns - world_base_;
        return host_base_ + d + drifted(d);
    }
    std::int64_t wall_ns(std::int64_t world_ns) const noexcept {
        std::chrono::nanoseconds const right(946'684'800'000'000'000 + steady_ns(world_ns)); // from 2000 on
        return fairlead::impl::base::sum(right, wall_offset_).count();
    }
    /// A time of the world at which the steady clock shows at least `host_ns`.
    std::int64_t world_ns(std::int64_t host_ns) const noexcept {
        if (host_ns <= host_base_)
            return world_base_;
        auto const d = host_ns - host_base_;
        std::int64_t const pace = 1'000'000 + ppm_;
        auto w = world_base_ + d / pace * 1'000'000 + d % pace * 1'000'000 / pace;
        while (steady_ns(w) < host_ns) // rounded twice
            ++w;
        return w;
    }
    void drift(std::int64_t world_ns, int ppm) noexcept {
        host_base_ = steady_ns(world_ns);
        world_base_ = world_ns;
        ppm_ = ppm;
    }
    void jump(std::chrono::nanoseconds by) noexcept { wall_offset_ = fairlead::impl::base::sum(wall_offset_, by); }

private:
    std::int64_t drifted(std::int64_t d) const noexcept {
        return d / 1'000'000 * ppm_ + d % 1'000'000 * ppm_ / 1'000'000;
    }

    std::int64_t world_base_ = 0;
    std::int64_t host_base_ = 0;
    std::chrono::nanoseconds wall_offset_{0};
    int ppm_ = 0;
};

} // namespace fairlead::sim
