// A connection by bare system calls, commands, and a search for the end of a reply.
#pragma once

#include "workload.hpp"

#include <arpa/inet.h>
#include <cstdint>
#include <initializer_list>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace workload::raw {

inline int connect_to(settings const& s) {
    int const fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(s.port)));
    inet_pton(AF_INET, s.host.c_str(), &at.sin_addr);
    insist(connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0, "no connection");
    int const on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

inline std::string command(std::initializer_list<std::string_view> words) {
    std::string s;
    auto const put = [&s](char kind, std::size_t n) { s.append(1, kind).append(std::to_string(n)).append("\r\n"); };
    put('*', words.size());
    for (auto const w : words) {
        put('$', w.size());
        s.append(w).append("\r\n");
    }
    return s;
}

class connection {
public:
    connection(settings const& s, bool with_epoll) : fd_(connect_to(s)) {
        if (with_epoll) {
            set_ = epoll_create1(EPOLL_CLOEXEC);
            epoll_event e{};
            e.events = EPOLLIN | EPOLLET;
            epoll_ctl(set_, EPOLL_CTL_ADD, fd_, &e);
        }
    }
    ~connection() { close(fd_); }

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            auto const n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            insist(n > 0, "the connection was lost");
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    /// Waits for more; what was not used by then stands in front of it.
    std::string_view receive(std::size_t used) {
        std::memmove(buffer_.data(), buffer_.data() + used, filled_ - used);
        filled_ -= used;
        if (set_ >= 0) {
            epoll_event e;
            insist(epoll_wait(set_, &e, 1, -1) == 1, "epoll_wait failed");
        }
        auto const n = recv(fd_, buffer_.data() + filled_, buffer_.size() - filled_, set_ >= 0 ? MSG_DONTWAIT : 0);
        insist(n > 0, "the connection was lost");
        filled_ += static_cast<std::size_t>(n);
        return {buffer_.data(), filled_};
    }

private:
    int fd_;
    int set_ = -1;
    std::vector<char> buffer_ = std::vector<char>(256 * 1024);
    std::size_t filled_ = 0;
};

/// The end of the message at the front, or nothing. Bulk bodies are skipped, aggregates counted.
inline std::size_t end_of(std::string_view in) {
    std::size_t at = 0;
    for (std::size_t due = 1; due != 0; --due) {
        if (at >= in.size())
            return 0;
        auto const* const line_end = static_cast<char const*>(std::memchr(in.data() + at, '\n', in.size() - at));
        if (!line_end)
            return 0;
        std::size_t size = 0;
        char const kind = in[at];
        if (kind == '$' || kind == '*' || kind == '>' || kind == '%')
            for (char const* p = in.data() + at + 1; *p >= '0' && *p <= '9'; ++p)
                size = size * 10 + static_cast<std::size_t>(*p - '0');
        at = static_cast<std::size_t>(line_end - in.data()) + 1;
        if (kind == '$')
            at += size + 2;
        else if (kind == '*' || kind == '>')
            due += size;
        else if (kind == '%')
            due += 2 * size;
    }
    return at <= in.size() ? at : 0;
}

} // namespace workload::raw
