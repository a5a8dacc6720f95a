#include <io/readiness.hpp>

namespace fairlead::io {

void readiness::begin(nature n) noexcept {
    watched_ = false;
    watched_for_space_ = false;
    stream_ = n.stream;
    medium_ = n.medium;
    plain_ = n.stream && n.medium <= io::medium::unix_stream;
    always_ready_ = false;
    read_ready_.store(false, std::memory_order_relaxed);
    write_ready_.store(true, std::memory_order_relaxed);
    reads_on_.store(!n.stream, std::memory_order_relaxed);
    doubt_ = io::doubt::none;
    after_short_read_ = n.medium == io::medium::unix_stream ? io::doubt::slight : io::doubt::none;
    bursts_ = false;
    taken_ = 0;
    urgent_ = false;
}

void readiness::never_waits() noexcept {
    always_ready_ = true;
    read_ready_.store(true, std::memory_order_relaxed);
    reads_on_.store(true, std::memory_order_relaxed);
}

void readiness::datagram_was_read(attempt a, int error, bool peeks) noexcept {
    if (has_to_wait(a)) {
        nothing_was_read();
        return;
    }
    // A pending error (ICMP) stood before the datagrams, and peeking takes nothing out.
    if ((error && error != static_cast<int>(error::message_size)) || peeks)
        return;
    something_was_read();
}

/// Says what is now known of the read side, and learns. After a datagram, or a read that filled its buffer, the socket
/// is unverified where they come one by one. The next event or a late check goes on. In bursts it stays ready until
/// nothing is found.
void readiness::something_was_read() noexcept {
    if (taken_ < 2)
        ++taken_;
    read_ready_.store(bursts_, std::memory_order_relaxed);
    doubt_ = bursts_ ? io::doubt::none : io::doubt::strong;
}
void readiness::nothing_was_read() noexcept {
    read_ready_.store(false, std::memory_order_relaxed);
    doubt_ = io::doubt::none;
    if (taken_ < 2)
        bursts_ = false;
    taken_ = 0;
}

} // namespace fairlead::io
