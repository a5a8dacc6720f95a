// The functions that a test lets happen at times of its own.
#pragma once

#include "timeline.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>
#include <vector>

namespace fairlead::sim {

class actions {
public:
    explicit actions(timeline& time) noexcept : time_(time) {}

    void at(std::int64_t when_ns, std::function<void()> action) {
        actions_.push_back(std::move(action));
        time_.promise(1);
        if (!time_.make_space())
            throw std::bad_alloc();
        time_.push(std::max(when_ns, time_.now_ns()), event_kind::action,
                   {static_cast<std::uint32_t>(actions_.size() - 1), 0});
    }
    bool has_any() const noexcept { return !actions_.empty(); }
    /// The event of an action.
    void run(std::uint32_t index) {
        auto const action = std::exchange(actions_[index], nullptr);
        if (std::all_of(actions_.begin(), actions_.end(), [](auto const& a) { return !a; })) {
            time_.take_back(actions_.size());
            actions_.clear();
        }
        action();
    }

private:
    timeline& time_;
    std::vector<std::function<void()>> actions_;
};

} // namespace fairlead::sim
