// A timer for many limits: it goes off at the first of them.
#pragma once

#include <fairlead/io/io_loop.hpp>

#include <cstdint>

namespace fairlead::redis::impl {

/// Times are milliseconds since `epoch_ns` of the loop's clock; those of limits may have passed the end of their 32
/// bits. Used by the owner of the loop.
class due_timer {
public:
    using on_due = void (*)(void* user) noexcept;

    due_timer(io_loop& l, std::int64_t epoch_ns, void* user, on_due f) noexcept
        : engine_(l),
          epoch_ns_(epoch_ns),
          user_(user),
          on_due_(f) {
        limit_.timer = this;
        limit_.expire = [](io::op_limit& o, io_loop&) noexcept {
            auto& t = *static_cast<limit&>(o).timer;
            t.is_armed_ = false; // A place in the loop's timers is kept for it still.
            t.on_due_(t.user_);
        };
    }
    due_timer(due_timer const&) = delete;
    due_timer& operator=(due_timer const&) = delete;
    ~due_timer() { disarm(); }

    /// Before it is armed: on the clock of the other one.
    void start_from(due_timer const& other) noexcept { epoch_ns_ = other.epoch_ns_; }
    std::int64_t now_ms() const noexcept { return (engine_.now_ns() - epoch_ns_) / 1'000'000; }
    bool is_armed() const noexcept { return is_armed_; }

    /// Makes it go off at `due_ms` at the latest. False: no memory.
    bool arm_by(std::uint32_t due_ms) noexcept {
        bool const is_earlier =
            !is_armed_ || static_cast<std::int32_t>(due_ms - static_cast<std::uint32_t>(at_ms_)) < 0;
        return !is_earlier || arm(due_ms);
    }
    /// Makes it go off at `due_ms`. False: no memory.
    bool arm(std::uint32_t due_ms) noexcept {
        auto const now = now_ms();
        auto const at =
            now + static_cast<std::int32_t>(due_ms - static_cast<std::uint32_t>(now)); // The short one wraps.
        disarm();
        at_ms_ = at;
        is_armed_ = engine_.as_owner([this, at]() noexcept { return engine_.arm(limit_, epoch_ns_ + at * 1'000'000); });
        return is_armed_;
    }
    void disarm() noexcept {
        if (is_armed_)
            engine_.disarm(limit_);
        is_armed_ = false;
    }

private:
    struct limit : io::op_limit {
        due_timer* timer;
    };

    io_loop& engine_;
    std::int64_t epoch_ns_;
    void* user_;
    on_due on_due_;
    limit limit_;
    std::int64_t at_ms_ = 0; // for which it is armed
    bool is_armed_ = false;
};

} // namespace fairlead::redis::impl
