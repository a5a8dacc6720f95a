// The other end of the streams of BM-12.
#pragma once

#include "loopback.hpp"
#include "stopwatch.hpp"

#include <cstdint>
#include <thread>
#include <vector>

/// A thread that sends or receives so many bytes with blocking calls.
class stream_end {
public:
    static constexpr std::size_t piece = 128 * 1024;
    enum role { sends, receives };

    stream_end(role what, std::uint64_t bytes) : what_(what), bytes_(bytes) {
        int fds[2];
        connect_tcp(fds);
        near_ = fds[0];
        far_ = fds[1];
    }
    ~stream_end() {
        if (thread_.joinable())
            thread_.join();
    }
    /// Begins. The socket that is connected to it is the caller's.
    int connect() {
        thread_ = std::thread([this] { run(); });
        return near_;
    }

private:
    void run() {
        std::vector<char> data(piece);
        for (std::uint64_t left = bytes_; left != 0;) {
            auto const want = left < piece ? left : piece;
            auto const n =
                what_ == sends ? ::send(far_, data.data(), want, MSG_NOSIGNAL) : recv(far_, data.data(), want, 0);
            check(n > 0 ? 0 : -1);
            left -= static_cast<std::uint64_t>(n);
        }
        close(far_);
    }
    role what_;
    std::uint64_t bytes_;
    int near_ = -1, far_ = -1;
    std::thread thread_;
};
