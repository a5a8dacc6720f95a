// One direction of a stream: the bytes that have arrived at an endpoint, and behind them those still on their way.
#pragma once

#include <fairlead/base/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace fairlead::sim {

class pipe {
public:
    /// The bytes that a sender may have outstanding: on the way and not yet read.
    static constexpr std::uint32_t window = 64 * 1024;

    /// False: no memory. Nothing below allocates.
    bool open() noexcept {
        ring_.reset(new (std::nothrow) std::byte[window]);
        return ring_ != nullptr;
    }
    void close() noexcept {
        ring_.reset();
        head_ = readable_ = flying_ = 0;
        first_ = count_ = 0;
    }

    std::uint32_t readable() const noexcept { return readable_; }
    std::uint32_t flying() const noexcept { return flying_; }
    std::uint32_t space() const noexcept { return window - readable_ - flying_; }

    /// Appends bytes to what is being sent; send() makes a segment of them.
    void put(void const* data, std::size_t n) noexcept {
        FAIRLEAD_ASSERT(n <= space());
        auto const* from = static_cast<std::byte const*>(data);
        auto const at = (head_ + readable_ + flying_) % window;
        std::size_t const before_end = window - at;
        auto const first = n < before_end ? n : before_end;
        std::memcpy(ring_.get() + at, from, first);
        std::memcpy(ring_.get(), from + first, n - first);
        flying_ += static_cast<std::uint32_t>(n);
    }
    /// The last n bytes that were put arrive at `at_ns`, but not before what was sent earlier.
    void send(std::uint32_t n, std::int64_t at_ns) noexcept {
        if (count_ == segments_most) { // They travel with the last segment.
            segment(count_ - 1).size += n;
            return;
        }
        if (count_ != 0 && segment(count_ - 1).at_ns > at_ns)
            at_ns = segment(count_ - 1).at_ns;
        segment(count_++) = {at_ns, n};
    }
    /// The next segment, and with it all that follow, do not arrive before `at_ns`.
    void delay(std::int64_t at_ns) noexcept { segments_[first_].at_ns = at_ns; }
    /// When the next segment arrives, respectively the last one; there must be one.
    std::int64_t next_arrival_ns() const noexcept { return segments_[first_].at_ns; }
    std::int64_t last_arrival_ns() const noexcept { return segments_[(first_ + count_ - 1) % segments_most].at_ns; }
    /// Makes the next segment readable; returns its size.
    std::uint32_t arrive() noexcept {
        auto const n = segments_[first_].size;
        first_ = (first_ + 1) % segments_most;
        --count_;
        flying_ -= n;
        readable_ += n;
        return n;
    }
    void drop_flying() noexcept {
        flying_ = 0;
        count_ = 0;
    }

    /// Copies readable bytes, beginning `skip` bytes from the first.
    void copy(void* to, std::size_t n, std::uint32_t skip) const noexcept {
        FAIRLEAD_ASSERT(skip + n <= readable_);
        auto* into = static_cast<std::byte*>(to);
        auto const at = (head_ + skip) % window;
        std::size_t const before_end = window - at;
        auto const first = n < before_end ? n : before_end;
        std::memcpy(into, ring_.get() + at, first);
        std::memcpy(into + first, ring_.get(), n - first);
    }
    void take(std::uint32_t n) noexcept {
        readable_ -= n;
        head_ = readable_ + flying_ == 0 ? 0 : (head_ + n) % window; // An empty ring begins where memory is warm.
    }

private:
    struct segment_type {
        std::int64_t at_ns;
        std::uint32_t size;
    };
    static constexpr unsigned segments_most = 32;
    segment_type& segment(unsigned i) noexcept { return segments_[(first_ + i) % segments_most]; }

    std::unique_ptr<std::byte[]> ring_;
    std::uint32_t head_ = 0;
    std::uint32_t readable_ = 0;
    std::uint32_t flying_ = 0;
    unsigned first_ = 0;
    unsigned count_ = 0;
    segment_type segments_[segments_most];
};

} // namespace fairlead::sim
