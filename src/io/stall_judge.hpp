// Has a thread been in one item for too long?
#pragma once

#include <cstdint>
#include <optional>

namespace fairlead::io::impl {

/// Where a thread is, as it knows by itself. That does not change while one handler runs. It differs between two
/// handlers in a row, unless both fit into one slice.
struct place_in_run {
    void const* frame;         ///< of its run()
    std::uint64_t turn;        ///< of the loop, if the thread owns it
    unsigned items;            ///< that it may run before it gives way
    unsigned functions;        ///< of a strand
    std::int64_t slice_end_ns; ///< 0: there is no slice

    bool operator==(place_in_run const&) const noexcept = default;
};

class stall_judge {
public:
    explicit stall_judge(std::int64_t limit_ns) noexcept : limit_ns_(limit_ns), due_ns_(limit_ns) {}

    /// For how long the thread has been there, if that is to be reported. It is after the limit, and again whenever
    /// twice as much time has passed.
    std::optional<std::int64_t> look(place_in_run const& at, std::int64_t now_ns) noexcept {
        if (!seen_ || *seen_ != at) {
            seen_ = at;
            since_ns_ = now_ns;
            due_ns_ = limit_ns_;
            return {};
        }
        auto const lasted = now_ns - since_ns_;
        if (lasted < due_ns_)
            return {};
        due_ns_ = 2 * lasted;
        return lasted;
    }

private:
    std::int64_t limit_ns_;
    std::int64_t due_ns_;
    std::int64_t since_ns_ = 0;
    std::optional<place_in_run> seen_;
};

} // namespace fairlead::io::impl
