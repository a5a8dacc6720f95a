// The other end of the streams of BM-12, and what measures them.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// A thread that sends or receives so many bytes with blocking calls.
class stream_end {
public:
    static constexpr std::size_t piece = 128 * 1024;
    enum role { sends, receives };

    stream_end(role what, std::uint64_t bytes) : what_(what), bytes_(bytes) {
        int const acceptor = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        check(bind(acceptor, reinterpret_cast<sockaddr*>(&at), size));
        check(listen(acceptor, 1));
        check(getsockname(acceptor, reinterpret_cast<sockaddr*>(&at), &size));
        near_ = ::socket(AF_INET, SOCK_STREAM, 0);
        check(::connect(near_, reinterpret_cast<sockaddr*>(&at), size));
        far_ = accept(acceptor, nullptr, nullptr);
        check(far_);
        close(acceptor);
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

    /// Measures the thread that made it.
    class stopwatch {
    public:
        void print(char const* figure, std::uint64_t bytes) const {
            bool const by_clock = std::strcmp(figure, "wall") == 0;
            auto const ns = by_clock ? now(CLOCK_MONOTONIC) - wall_ : now(CLOCK_THREAD_CPUTIME_ID) - cpu_;
            std::printf("%.3f GB/s\n", static_cast<double>(bytes) / static_cast<double>(ns));
        }

    private:
        static std::int64_t now(clockid_t clock) {
            timespec t;
            clock_gettime(clock, &t);
            return t.tv_sec * 1'000'000'000L + t.tv_nsec;
        }
        std::int64_t wall_ = now(CLOCK_MONOTONIC);
        std::int64_t cpu_ = now(CLOCK_THREAD_CPUTIME_ID);
    };

private:
    static void check(long result) {
        if (result < 0)
            std::abort();
    }
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
