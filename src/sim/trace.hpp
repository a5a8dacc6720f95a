// The events of a run, as a hash that tells two runs apart, and the last of them as lines for a person.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::sim {

enum class what : std::uint8_t {
    order,          ///< so many runnable ops were put in an order (hash of it)
    jump,           ///< time passed
    opened,         ///< handle, family
    closed,         ///< handle
    bound,          ///< handle, port
    sent,           ///< handle, bytes
    arrived,        ///< handle, bytes
    received,       ///< handle, bytes
    finished,       ///< handle: the peer's end of stream has arrived
    reset,          ///< handle, error: the connection broke
    connected,      ///< handle, the handle at the other end
    refused,        ///< handle, error
    accepted,       ///< handle of the acceptor, the new handle
    not_yet,        ///< handle: put off
    failed,         ///< handle, error of an operation
    cancelled,      ///< handle, kind of operation
    resolved,       ///< look-up, addresses found
    look_up_failed, ///< look-up
    lost = 19,      ///< handle: what was sent to it did not arrive, and is sent again. 18 was once used
    dropped,        ///< handle of the sender: a datagram is lost
    started,        ///< number of the process
    killed,
    crashed,
    paused,
    resumed,
    starved, ///< ns
    cut,     ///< from (the host), to
    healed,
    text,      ///< a line of the test's own
    signalled, ///< the number
};

class trace {
public:
    explicit trace(std::uint64_t seed) noexcept { mix(seed); }

    void note(std::int64_t at, std::uint32_t host, what w, std::uint64_t a, std::uint64_t b = 0) noexcept {
        mix(static_cast<std::uint64_t>(at));
        mix(static_cast<std::uint64_t>(w) << 56 ^ static_cast<std::uint64_t>(host) << 40 ^ a);
        mix(b);
        if (w != what::jump) // The times of the others say as much.
            last_[count_++ % kept] = {at, w, host, a, b};
    }
    void note(std::int64_t at, std::uint32_t host, std::string_view text);
    std::uint64_t digest() const noexcept { return digest_; }
    /// One line for each of the latest events, oldest first. `host_name(number)` says what a host is called.
    template <class F> std::string last_lines(F host_name) const {
        std::string lines;
        for (auto i = first(); i != count_; ++i)
            append(lines, last_[i % kept], host_name(last_[i % kept].host));
        return lines;
    }

private:
    struct line {
        std::int64_t at;
        what w;
        std::uint32_t host;
        std::uint64_t a, b;
    };
    static constexpr std::size_t kept = 200;
    static constexpr std::size_t texts_kept = 64;

    std::uint64_t first() const noexcept { return count_ < kept ? 0 : count_ - kept; }
    void append(std::string& lines, line const& l, std::string_view host_name) const;
    void mix(std::uint64_t v) noexcept {
        auto z = (digest_ ^ v) * 0x9fb21c651e98df25U;
        digest_ = z ^ z >> 35;
    }
    std::uint64_t digest_ = 0x243f6a8885a308d3U;
    std::uint64_t count_ = 0;
    std::uint64_t text_count_ = 0;
    line last_[kept];
    std::string texts_[texts_kept];
};

/// "1.000250000 s"
std::string seconds(std::int64_t ns);

} // namespace fairlead::sim
