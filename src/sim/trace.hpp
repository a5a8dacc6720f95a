// What happened, as a hash that tells two runs apart and as the last lines that a person reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fairlead::sim {

enum class what : std::uint8_t {
    order,     ///< so many runnable ops were put in an order (hash of it)
    jump,      ///< time passed
    opened,    ///< handle, family
    closed,    ///< handle
    bound,     ///< handle, port
    sent,      ///< handle, bytes
    arrived,   ///< handle, bytes
    received,  ///< handle, bytes
    finished,  ///< handle: the peer's end of stream has arrived
    reset,     ///< handle: the connection broke
    connected, ///< handle, the handle at the other end
    refused,   ///< handle, error
    accepted,  ///< handle of the acceptor, the new handle
    not_yet,   ///< handle: put off
    failed,    ///< handle, error of an operation
    cancelled, ///< handle, kind of operation
    resolved,  ///< look-up, addresses found
    entropy,   ///< bits handed out
};

class trace {
public:
    explicit trace(std::uint64_t seed) noexcept { mix(seed); }

    void note(std::int64_t at, what w, std::uint64_t a, std::uint64_t b = 0) noexcept {
        mix(static_cast<std::uint64_t>(at));
        mix(static_cast<std::uint64_t>(w) << 56 ^ a);
        mix(b);
        last_[count_++ % kept] = {at, w, a, b};
    }
    std::uint64_t digest() const noexcept { return digest_; }
    /// One line for each of the latest events, oldest first.
    std::string last_lines() const;

private:
    struct line {
        std::int64_t at;
        what w;
        std::uint64_t a, b;
    };
    static constexpr std::size_t kept = 32;

    void mix(std::uint64_t v) noexcept {
        auto z = (digest_ ^ v) * 0x9fb21c651e98df25U;
        digest_ = z ^ z >> 35;
    }
    std::uint64_t digest_ = 0x243f6a8885a308d3U;
    std::uint64_t count_ = 0;
    line last_[kept];
};

/// "1.000250000 s"
std::string seconds(std::int64_t ns);

} // namespace fairlead::sim
