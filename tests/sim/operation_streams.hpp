// Two connected sockets for the operations of core_operations_test.cpp, with an account of their bytes.
#pragma once

#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/buffered_stream.hpp>

#include <sim/ledger.hpp>
#include <sim/operation_home.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test::script {

using local_socket = local::stream_protocol::socket;

/// The bytes that take one way. Each but the line feed is there once, so that the receiver can tell which it has got.
class numbered_bytes {
public:
    static constexpr char line_feed = '\n', filler = '\xff';

    bool has(std::size_t n) const noexcept { return next_ + n < 240; }
    std::string take(std::size_t n) {
        std::string s;
        while (s.size() != n) {
            if (next_ == static_cast<unsigned char>(line_feed))
                ++next_;
            s += static_cast<char>(next_++);
        }
        return s;
    }
    static bool is_in_order(std::string_view got) {
        int last = -1;
        for (char const c : got)
            if (c != line_feed && c != filler) {
                if (static_cast<unsigned char>(c) <= last)
                    return false;
                last = static_cast<unsigned char>(c);
            }
        return true;
    }
    /// The number of the byte that was sent first, or last; -1: there is none.
    static int first_of(std::string_view got) noexcept {
        for (char const c : got)
            if (c != line_feed && c != filler)
                return static_cast<unsigned char>(c);
        return -1;
    }
    static int last_of(std::string_view got) noexcept {
        int last = -1;
        for (char const c : got)
            if (c != line_feed && c != filler)
                last = static_cast<unsigned char>(c);
        return last;
    }
    static std::array<int, 256> counted(std::string_view of) {
        std::array<int, 256> n{};
        for (char const c : of)
            ++n[static_cast<unsigned char>(c)];
        return n;
    }

private:
    unsigned next_ = 0;
};

template <class S> void take_rest(S& s, std::string& into) {
    char bytes[4096];
    for (error_code ec; !ec;)
        into.append(bytes, s.read_some(buffer(bytes), ec));
}

/// Two connected sockets: `near` has the operations, and `far` is the peer.
struct stream_pair {
    home<local_socket> near;
    local_socket far;
    buffered_read_stream<local_socket&> reads_ahead;
    buffered_write_stream<local_socket&> collects;
    buffered_stream<local_socket&> buffers_both;
    numbered_bytes to_near, to_far;
    std::string sent, arrived;      ///< by the peer, and there
    std::string received, accepted; ///< by operations of `near`, and from them
    int last_received = -1;         ///< by a read that is over
    /// Bytes of a write, and when it was made and over. One that was made when another one was over comes behind it.
    struct written {
        std::string bytes;
        std::size_t made, over;
    };
    std::vector<written> writes;
    std::size_t steps = 0;   ///< that writes have made: the time of `written`
    std::size_t fillers = 0; ///< that `near` has sent
    bool is_gone = false;    ///< `near` was closed, destroyed or moved away
    bool is_lost = false;    ///< it was closed or destroyed
    bool far_has_ended = false, far_is_gone = false;
    bool is_reading_ahead = false, is_collecting = false, is_reading_both = false, is_writing_both = false;

    explicit stream_pair(io_context& c)
        : near(c),
          far(c),
          reads_ahead(near.here(), 6),
          collects(near.here(), 8),
          buffers_both(near.here(), 6, 8) {
        local::connect_pair(near.here(), far);
    }
    home<local_socket>& home_of() noexcept { return near; }
    /// Sends some bytes to `near`, perhaps with the end of a line.
    void send(std::size_t n, bool is_line) {
        if (far_has_ended || far_is_gone || !to_near.has(n))
            return;
        auto bytes = to_near.take(n);
        if (is_line)
            bytes += numbered_bytes::line_feed;
        error_code ec;
        auto const taken = far.write_some(buffer(bytes), ec);
        sent.append(bytes, 0, taken);
    }
    void drain() {
        if (!far_is_gone)
            take_rest(far, arrived);
    }
    /// No write of `near` completes before drain().
    void clog() {
        std::string const some(4096, numbered_bytes::filler);
        for (error_code ec; !ec;)
            fillers += near.now().write_some(buffer(some), ec);
    }
    void end_sending() {
        error_code ec;
        if (!far_is_gone)
            far.shutdown(socket_base::shutdown_send, ec);
        far_has_ended = true;
    }
    void close_far() {
        error_code ec;
        far.close(ec);
        far_is_gone = true;
    }
    void flush() {
        error_code ec;
        collects.flush(ec);
        buffers_both.flush(ec);
    }
    /// To be asked when all operations are over.
    void check(ledger& l) {
        take_buffered(reads_ahead);
        take_buffered(buffers_both);
        if (!is_lost)
            take_rest(near.now(), received);
        drain();
        l.check(numbered_bytes::counted(received) ==
                    numbered_bytes::counted(std::string_view(sent).substr(0, received.size())),
                "bytes of a stream got lost, or came twice");
        l.check(received.size() == sent.size() || is_lost || far_is_gone, "bytes of a stream never arrive");
        for (auto const& first : writes)
            for (auto const& second : writes)
                if (first.over < second.made) {
                    auto const end = arrived.find(first.bytes.back()), begin = arrived.find(second.bytes.front());
                    l.check(end == arrived.npos || begin == arrived.npos || end < begin,
                            "the bytes of a write overtake those of an earlier one");
                }
        auto const given = numbered_bytes::counted(accepted), got = numbered_bytes::counted(arrived);
        bool const is_whole = !is_gone && !far_is_gone;
        for (int i = 0; i != 255; ++i) {
            auto const at = static_cast<std::size_t>(i);
            l.check(got[at] <= given[at], "a byte arrives that no write has taken, or it arrives twice");
            l.check(got[at] == given[at] || !is_whole, "a byte that a write has taken never arrives");
        }
        l.check(got[255] == static_cast<int>(fillers) || !is_whole, "bytes before a write get lost");
    }

private:
    template <class S> void take_buffered(S& s) {
        char bytes[64];
        while (s.in_avail() != 0)
            received.append(bytes, s.read_some(buffer(bytes)));
    }
};

} // namespace fairlead::test::script
