// Two sockets that send each other packets, for the operations of core_operations_test.cpp, with an account of these.
#pragma once

#include <fairlead/net/seq_packet_socket.hpp>

#include <sim/ledger.hpp>
#include <sim/operation_home.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test::script {

using packet_socket = local::seq_packet_protocol::socket;

/// The packets that take one way: of one to four bytes, which are its number.
class numbered_packets {
public:
    bool has_more() const noexcept { return next_ != 255; }
    std::string take() {
        auto const n = next_++;
        return std::string(1 + n % 4, static_cast<char>(n));
    }
    void sent(std::string_view text) { is_sent_[number_of(text)] = true; }
    void received(ledger& l, std::string_view text) {
        auto const n = number_of(text);
        l.check(text == std::string(1 + n % 4, static_cast<char>(n)), "a packet is not whole");
        arrived_.push_back(n);
    }
    /// To be asked when all operations are over.
    void check(ledger& l, bool is_whole) const {
        std::vector<bool> has_arrived(256);
        for (auto const n : arrived_) {
            l.check(!has_arrived[n], "a packet arrives twice");
            l.check(is_sent_[n], "a packet arrives that nobody has sent");
            has_arrived[n] = true;
        }
        for (std::size_t n = 0; n != is_sent_.size(); ++n)
            l.check(has_arrived[n] || !is_sent_[n] || !is_whole, "a packet is lost");
    }

private:
    static unsigned number_of(std::string_view text) { return static_cast<unsigned char>(text.front()); }
    unsigned next_ = 0;
    std::vector<bool> is_sent_ = std::vector<bool>(256);
    std::vector<unsigned> arrived_;
};

/// `near` has the operations, and `far` is the peer.
struct packet_pair {
    home<packet_socket> near;
    packet_socket far;
    numbered_packets to_near, to_far;
    std::size_t fillers = 0, arrived_fillers = 0; ///< larger ones, which `near` has sent
    bool is_gone = false;                         ///< `near` was closed or destroyed, or its place has another socket
    bool far_has_ended = false, far_is_gone = false;

    explicit packet_pair(io_context& c) : near(c), far(c) { local::connect_pair(near.here(), far); }
    home<packet_socket>& home_of() noexcept { return near; }
    void send() {
        if (far_has_ended || far_is_gone || !to_near.has_more())
            return;
        auto const text = to_near.take();
        error_code ec;
        if (far.send(buffer(text), 0, ec) == text.size())
            to_near.sent(text);
    }
    void drain(ledger& l) {
        if (far_is_gone)
            return;
        char bytes[4096];
        socket_base::message_flags flags;
        for (error_code ec;;) {
            auto const n = far.receive(buffer(bytes), 0, flags, ec);
            if (ec || n == 0)
                return;
            if (n == sizeof bytes)
                ++arrived_fillers;
            else
                to_far.received(l, {bytes, n});
        }
    }
    /// No send of `near` completes before drain().
    void clog() {
        std::string const some(4096, 'f');
        for (error_code ec;; ++fillers) {
            near.now().send(buffer(some), 0, ec);
            if (ec)
                return;
        }
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
    /// False: the result of a receive cannot be.
    bool is_received(ledger& l, std::string_view text, int flags, bool good) {
        if (!good)
            return text.empty();
        if (text.empty())
            return far_has_ended || far_is_gone;
        to_near.received(l, text);
        return flags == 0;
    }
    void check(ledger& l) {
        drain(l);
        if (!is_gone)
            take_rest(l);
        to_near.check(l, !is_gone && !far_is_gone);
        to_far.check(l, !is_gone && !far_is_gone);
        l.check(arrived_fillers == fillers || is_gone || far_is_gone, "a large packet is lost");
    }

private:
    void take_rest(ledger& l) {
        char bytes[8];
        socket_base::message_flags flags;
        for (error_code ec;;) {
            auto const n = near.now().receive(buffer(bytes), 0, flags, ec);
            if (ec || n == 0)
                return;
            to_near.received(l, {bytes, n});
        }
    }
};

} // namespace fairlead::test::script
