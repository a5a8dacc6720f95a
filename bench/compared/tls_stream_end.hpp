// The other end of the TLS streams: a server.
#pragma once

#include "loopback.hpp"
#include "stopwatch.hpp"
#include "tls_agreement.hpp"

#include <cstdint>
#include <future>
#include <thread>
#include <vector>

/// A thread that shakes hands and then does as little as it can, so that the stream waits for nobody. It encrypts before
/// it is ready, and sends then. Bytes that come are counted only: all records have to be of the agreed size.
class tls_stream_end {
public:
    enum role { sends, receives };

    tls_stream_end(role what, std::size_t record, std::uint64_t records, tls::identities const& those)
        : what_(what),
          record_(record),
          records_(records),
          contexts_(those) {
        tls::need(SSL_CTX_set_num_tickets(contexts_.server.get(), 0) == 1);
        connect_tcp(fds_);
    }
    ~tls_stream_end() {
        if (thread_.joinable())
            thread_.join();
    }
    /// Begins. The socket that is connected to it is the caller's.
    int connect() {
        thread_ = std::thread([this] { run(); });
        return fds_[0];
    }
    /// After the handshake.
    void wait_until_ready() { ready_.get_future().wait(); }

private:
    static constexpr std::size_t piece = 256 * 1024;
    static constexpr std::size_t around = 5 + 1 + 16; ///< head, type and tag of TLS 1.3 with AES-GCM

    void run() {
        int const fd = fds_[1];
        auto const ssl = contexts_.make_server(fd);
        auto* const s = ssl.get();
        tls::need(SSL_do_handshake(s) == 1);
        what_ == sends ? send_all(s, fd) : receive_all(fd);
        close(fd);
    }
    void send_all(SSL* s, int fd) {
        auto const bytes = encrypted(s);
        ready_.set_value();
        for (std::size_t at = 0; at != bytes.size();) {
            auto const left = bytes.size() - at;
            auto const n = ::send(fd, bytes.data() + at, left < piece ? left : piece, MSG_NOSIGNAL);
            check(n);
            at += static_cast<std::size_t>(n);
        }
    }
    std::vector<char> encrypted(SSL* s) const {
        std::vector<char> const data(record_);
        std::vector<char> result(records_ * (record_ + around));
        auto* const memory = tls::need_one(BIO_new(BIO_s_mem()));
        SSL_set0_wbio(s, memory);
        for (std::uint64_t i = 0; i != records_; ++i) {
            tls::need(SSL_write(s, data.data(), static_cast<int>(record_)) == static_cast<int>(record_));
            auto const size = static_cast<int>(record_ + around);
            tls::need(BIO_read(memory, result.data() + i * (record_ + around), size) == size);
        }
        return result;
    }
    void receive_all(int fd) {
        ready_.set_value();
        std::vector<char> data(piece);
        for (std::uint64_t left = records_ * (record_ + around); left != 0;) {
            auto const n = recv(fd, data.data(), left < piece ? left : piece, 0);
            tls::need(n > 0); // Else larger records came, fewer than agreed.
            left -= static_cast<std::uint64_t>(n);
        }
        tls::need(recv(fd, data.data(), 1, 0) == 0); // Else smaller ones.
    }

    role what_;
    std::size_t record_;
    std::uint64_t records_;
    tls::bare_contexts contexts_;
    int fds_[2];
    std::promise<void> ready_;
    std::thread thread_;
};
