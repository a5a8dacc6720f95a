// The relay between the two ends of tls_operations_test.cpp: it delays bytes, cuts them to pieces, and spoils them.
#pragma once

#include <fairlead/coro/awaitable.hpp>
#include <fairlead/io/io_context.hpp>
#include <fairlead/net/local.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <sim/ledger.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace fairlead::test::tls_script {

using local_socket = local::stream_protocol::socket;

enum class mishap : std::uint8_t {
    none,
    flip,     ///< a bit
    repeat,   ///< the last bytes come again
    drop,     ///< some bytes are left out
    insert,   ///< some come that nobody has sent
    cut,      ///< nothing comes any more in this direction
    cut_both, ///< the connection has gone
};
inline constexpr std::uint32_t mishaps = 7;
constexpr bool spoils(mishap m) noexcept { return m != mishap::none && m < mishap::cut; }

/// One way, from the end that writes to the end that reads.
struct direction {
    // ---- plain bytes
    std::uint64_t accepted = 0;  ///< that writes have reported
    std::uint64_t in_flight = 0; ///< of the write that is under way
    std::uint64_t received = 0;
    std::uint64_t target = 0; ///< of which the last one has been written then; 0: not known yet

    // ---- encrypted ones
    mishap planned = mishap::none;
    std::uint64_t at = 0; ///< where it happens
    std::uint64_t passed = 0;
    bool is_spoiled = false;
    bool is_spoiled_late = false; ///< when the reader's handshake was over
    bool is_cut = false;
    bool is_cut_alone = false; ///< while the other direction goes on
    bool has_lost = false;     ///< bytes that came to a cut
};

/// Both directions between two sockets.
class relay {
public:
    relay(sim::world& w, io_context& c, ledger& l, direction& a, direction& b)
        : world_(w),
          context_(c),
          account_(l),
          sockets_{local_socket(c), local_socket(c)},
          directions_{&a, &b},
          piece_most_{piece(), piece()} {}
    local_socket& socket(int i) noexcept { return sockets_[i]; }
    bool is_slow() const noexcept { return std::min(piece_most_[0], piece_most_[1]) <= 100; }
    /// Spoils nothing any more.
    void calm() noexcept {
        for (auto* d : directions_)
            d->planned = mishap::none;
    }
    void cut() noexcept {
        for (auto& s : sockets_) {
            error_code no_matter; // It may be closed already.
            s.close(no_matter);
        }
        for (auto* d : directions_)
            d->is_cut = true; // Nobody knows whether bytes were on their way.
    }
    /// From the socket of that number to the other one. `is_late` says whether the reader's handshake is over.
    template <class IsLate> awaitable<void> carry(int from, IsLate is_late, alive) {
        auto& d = *directions_[from];
        auto &source = sockets_[from], &sink = sockets_[1 - from];
        std::vector<char> bytes(piece_most_[from]);
        for (;;) {
            error_code ec;
            auto reading = source.async_read_some(buffer(bytes), redirect_error(ec));
            auto const n = co_await std::move(reading);
            if (ec) {
                error_code no_matter; // The other one may have gone.
                sink.shutdown(socket_base::shutdown_send, no_matter);
                co_return;
            }
            if (world_.random().below(16) == 0) {
                steady_timer pause(context_, std::chrono::microseconds(world_.random().below(2000)));
                co_await pause.async_wait();
            }
            std::vector<char> out(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
            bool const was_cut = d.is_cut;
            spoil(d, out, is_late());
            d.passed += n;
            if (was_cut) {
                d.has_lost = true;
                continue;
            }
            auto writing = async_write(sink, buffer(out), redirect_error(ec));
            co_await std::move(writing);
            if (ec) {
                cut();
                co_return;
            }
            if (d.is_cut) {
                error_code no_matter; // The other one may have gone.
                sink.shutdown(socket_base::shutdown_send, no_matter);
            }
        }
    }

private:
    std::size_t piece() {
        constexpr std::size_t sizes[] = {1, 7, 100, 1000, 4096, 20'000, 20'000, 20'000};
        return sizes[world_.random().below(8)];
    }
    void spoil(direction& d, std::vector<char>& out, bool is_late) {
        if (d.planned == mishap::none || d.is_cut || d.passed + out.size() <= d.at)
            return;
        auto const what = std::exchange(d.planned, mishap::none);
        auto const i = static_cast<std::ptrdiff_t>(d.at > d.passed ? d.at - d.passed : 0);
        auto const n = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(out.size()) - i,
                                                1 + static_cast<std::ptrdiff_t>(world_.random().below(40)));
        world_.note("a mishap");
        switch (what) {
        case mishap::none: return;
        case mishap::flip: out[static_cast<std::size_t>(i)] ^= static_cast<char>(1U << world_.random().below(8)); break;
        case mishap::repeat: {
            std::vector<char> const again(out.begin() + i, out.begin() + i + n);
            out.insert(out.begin() + i, again.begin(), again.end());
            break;
        }
        case mishap::drop: out.erase(out.begin() + i, out.begin() + i + n); break;
        case mishap::insert: out.insert(out.begin() + i, static_cast<char>(world_.random().below(256))); break;
        case mishap::cut:
            d.has_lost = d.is_cut = d.is_cut_alone = true;
            out.resize(static_cast<std::size_t>(i));
            return;
        case mishap::cut_both: return cut();
        }
        d.is_spoiled = true;
        d.is_spoiled_late |= is_late;
    }

    sim::world& world_;
    io_context& context_;
    ledger& account_;
    local_socket sockets_[2];
    direction* directions_[2];
    std::size_t piece_most_[2];
};

} // namespace fairlead::test::tls_script
