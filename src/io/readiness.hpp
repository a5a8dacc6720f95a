// The inference about readiness: whether an attempt is worth a system call. No I/O; decision 020 has the reasons.
//
// Registration is edge-triggered, so an event comes once for what is new. This is known:
//   write side   ready until a send takes less than offered.
//   read side    not ready until an event says so. A read that filled less than its buffer has drained the socket.
// A read that filled its buffer exactly proves nothing. Another attempt would mostly cost a useless system call. No
// attempt could mean to wait for ever, because data that was already there makes no new edge. Such a descriptor is
// *unverified* (strong doubt): see late_checks.hpp. A check that finds something shows that the socket has a backlog.
// It stays ready then, until an attempt finds nothing. A socket that never had a backlog pays nothing for it.
//
// On a UNIX socket a short read has drained it unless the peer passed a descriptor: a read ends there, whatever
// follows. The call `recvmsg` would tell, but costs a tenth more for every read. So such a socket is *doubtful* (slight
// doubt).
//
// Of datagrams a read says nothing but that there was one: only EAGAIN means that none is left. Asking for it after
// each would add a useless call where they come one by one. To leave the socket unverified after each would add one
// where they come in bursts. So the datagram before decides: was there another one behind it? Full reads of a stream
// and datagrams are alike in that: something_was_read().
#pragma once

#include <fairlead/io/io_op.hpp>

#include <io/attempt.hpp>

#include <atomic>
#include <cstdint>

#include <sys/epoll.h>

namespace fairlead::io {

/// The kind of thing behind a descriptor, as far as conclusions differ.
struct nature {
    bool stream;
    io::medium medium;
};

/// Has a read left something behind that makes no event?
enum class doubt : std::uint8_t { none, slight, strong };

/// The receiver of a UNIX datagram had no space, and perhaps no event will tell when it has. The failed attempt itself
/// makes an event, because it took memory for the datagram and gave it back. The next event is taken for that echo.
enum class stall : std::uint8_t { none, echoes, waits };

constexpr bool is_stream_send(kind k) noexcept { return k == kind::send || k == kind::send_all; }

struct readiness_link {
    readiness_link* next = nullptr;
    readiness_link* prev = nullptr;

    bool is_listed() const noexcept { return next != nullptr; }
};

/// Of one descriptor. The driver tells of events and of attempts, and asks what to do next.
class readiness : public readiness_link {
public:
    /// A descriptor begins: it can be written to, and has nothing to read.
    void begin(nature n) noexcept;
    /// The system refuses to watch it, and it never waits.
    void never_waits() noexcept;

    // ---- what to do with an op

    bool is_stream() const noexcept { return stream_; }
    io::medium medium() const noexcept { return medium_; }
    /// A stream socket: one buffer is moved by one recv or send.
    bool is_plain() const noexcept { return plain_; }
    bool expects_to_read() const noexcept { return read_ready_.load(std::memory_order_relaxed); }
    bool expects_to_write() const noexcept { return write_ready_.load(std::memory_order_relaxed); }
    /// Is an op at the head of its queue to be tried?
    bool is_worth_trying(kind k) const noexcept {
        if (k == kind::receive)
            return expects_to_read();
        if (k == kind::connect || is_wait(k))
            return true;
        return is_write(k) ? expects_to_write() : expects_to_read();
    }
    /// An op that is parked may have to wait for something that makes no event: see late_checks.
    io::doubt doubts() const noexcept { return doubt_; }

    bool is_watched() const noexcept { return watched_; }
    /// Room to write is asked for only once a write has had to wait. With that in the mask, every read of the peer
    /// would make an event.
    bool is_watched_for(kind k) const noexcept { return watched_ && (!is_write(k) || watched_for_space_); }
    bool is_watched_for_space() const noexcept { return watched_for_space_; }
    void watch(bool for_space) noexcept {
        watched_ = true;
        watched_for_space_ = for_space;
    }
    void unwatch() noexcept { watched_ = false; }

    // ---- what an attempt says

    /// Nearly every read of a stream: it took something out, and nothing unusual is known.
    bool is_usual_to_read() const noexcept {
        return !reads_on_.load(std::memory_order_relaxed) && !urgent_ && !bursts_;
    }
    void was_read_as_usual(attempt a) noexcept {
        read_ready_.store(false, std::memory_order_relaxed);
        doubt_ = a == attempt::done ? io::doubt::strong : after_short_read_;
    }
    /// Any other read. `error` is that of the op; reads that peek take nothing out.
    void was_read(attempt a, int error, std::size_t n, bool peeks) noexcept {
        if (stream_)
            stream_was_read(a, error, n, peeks);
        else
            datagram_was_read(a, error, peeks);
    }
    /// A whole read that stopped short goes on until there is really nothing. The end of the stream, or what follows
    /// urgent data, may be right behind what it got. It makes no edge of its own.
    bool goes_on_after_short_read() const noexcept { return urgent_ || reads_on_.load(std::memory_order_relaxed); }
    void was_written(attempt a) noexcept {
        if (a != attempt::done && !always_ready_)
            write_ready_.store(false, std::memory_order_relaxed);
    }
    void had_no_space() noexcept { write_ready_.store(false, std::memory_order_relaxed); }
    void was_connected(attempt a) noexcept { write_ready_.store(!has_to_wait(a), std::memory_order_relaxed); }
    void had_nothing_to_accept() noexcept { read_ready_.store(false, std::memory_order_relaxed); }

    // ---- what an event says

    static constexpr std::uint32_t events_to_read = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI;
    static constexpr std::uint32_t events_to_write = EPOLLOUT | EPOLLHUP | EPOLLERR;
    /// One of events_to_read; after that, the reads that wait are tried.
    void heard_of_reads(std::uint32_t what) noexcept {
        doubt_ = io::doubt::none;
        read_ready_.store(!starved_, std::memory_order_relaxed);
        if (what & EPOLLPRI) [[unlikely]]
            urgent_ = true;
        if (what & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            reads_on_.store(true, std::memory_order_relaxed);
    }
    /// One of events_to_write. False: that was an echo of the last attempt.
    bool heard_of_writes() noexcept {
        if (stalled_ == io::stall::echoes) [[unlikely]] {
            stalled_ = io::stall::waits;
            return false;
        }
        write_ready_.store(true, std::memory_order_relaxed);
        return true;
    }

    // ---- late checks

    /// The reads that wait are to be tried, though nothing has been heard. Until EAGAIN says that nothing was behind
    /// what was read before, the socket has a backlog.
    void begin_check() noexcept {
        doubt_ = io::doubt::none;
        bursts_ = true;
        taken_ = 1;
        read_ready_.store(true, std::memory_order_relaxed);
    }

    // ---- pauses: no event tells when to go on

    io::stall stalled() const noexcept { return stalled_; }
    void set_stalled(stall to) noexcept { stalled_ = to; }
    /// Accepting found no space for a new descriptor. The connection stays in the queue of the system.
    bool is_starved() const noexcept { return starved_; }
    void set_starved(bool to) noexcept {
        starved_ = to;
        if (to)
            read_ready_.store(false, std::memory_order_relaxed);
    }
    bool is_paused() const noexcept { return starved_ || stalled_ != io::stall::none; }
    /// The pause is over: what waits gets its attempt.
    void retry_after_stall() noexcept { write_ready_.store(true, std::memory_order_relaxed); }
    void retry_after_shortage() noexcept { read_ready_.store(true, std::memory_order_relaxed); }

private:
    friend class late_checks;

    void stream_was_read(attempt a, int error, std::size_t n, bool peeks) noexcept;
    void datagram_was_read(attempt a, int error, bool peeks) noexcept;
    void something_was_read() noexcept;
    void nothing_was_read() noexcept;

    unsigned parked_turn_ = 0;
    // Written by the thread that uses the descriptor and by the loop's owner, never by both at a time that matters. But
    // an event may arrive while another thread closes.
    std::atomic<bool> read_ready_{false};
    std::atomic<bool> write_ready_{true};
    /// A short read has not drained it. A stream: the peer has finished or the connection broke, and reading always
    /// says something. Datagrams: always.
    std::atomic<bool> reads_on_{false};
    io::doubt doubt_ = io::doubt::none;
    io::doubt after_short_read_ = io::doubt::none;
    bool urgent_ = false; ///< out-of-band data has been seen: reads stop short at its mark
    bool bursts_ = false; ///< the last time there was something behind the first datagram, or the first full read
    io::stall stalled_ = io::stall::none;
    bool starved_ = false;
    bool stream_ = false;
    bool plain_ = false;
    io::medium medium_ = io::medium::socket;
    bool watched_ : 1 = false;
    bool watched_for_space_ : 1 = false;
    bool always_ready_ : 1 = false;
    std::uint8_t taken_ : 2 = 0; ///< datagrams or full reads since one found nothing; counts to 2
};

/// Here, because each read of a stream that is no plain one passes through it.
inline void readiness::stream_was_read(attempt a, int error, std::size_t n, bool peeks) noexcept {
    if (has_to_wait(a)) {
        reads_on_.store(false, std::memory_order_relaxed); // if set, a stale mark, e.g. from before connect
        nothing_was_read();
        doubt_ = a == attempt::paused ? after_short_read_ : io::doubt::none;
        return;
    }
    // The end comes again and again. An error says nothing of what may still be there. Peeking takes nothing out, nor
    // does a read of no bytes.
    if (reads_on_.load(std::memory_order_relaxed) || error || peeks || n == 0)
        return;
    if (a == attempt::done && !urgent_) {
        something_was_read();
        return;
    }
    nothing_was_read(); // behind what it got
    doubt_ = urgent_ ? io::doubt::strong : after_short_read_;
}

} // namespace fairlead::io
