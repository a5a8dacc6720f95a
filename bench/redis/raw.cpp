// The limit: bare system calls, requests made beforehand, and of the replies only their ends are looked for.
//
//   redis_raw epoll|blocking and then as workload.hpp says; each reply sends one more request, whoever's it is
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

namespace {

using workload::insist;

std::string command(std::initializer_list<std::string_view> words) {
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
    connection(workload::settings const& s, bool with_epoll) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(s.port)));
        inet_pton(AF_INET, s.host.c_str(), &at.sin_addr);
        insist(connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0, "no connection");
        int const on = 1;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
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
std::size_t end_of(std::string_view in) {
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

struct amount {
    long requests_at_once, replies, pushes;
};

/// Takes messages until all replies and pushes have come; for each reply one of `requests`, in turn, is sent. The first
/// `used` bytes received have been dealt with.
void serve(connection& c, std::vector<std::string> const& requests, amount due, std::size_t used = 0) {
    auto [at_once, replies, pushes] = due;
    std::string out;
    std::size_t next = 0;
    long const most = replies;
    long to_send = most;
    auto const put = [&] {
        out += requests[next];
        if (++next == requests.size())
            next = 0;
        --to_send;
    };
    while (to_send > 0 && to_send > most - at_once)
        put();
    while (replies > 0 || pushes > 0) {
        if (!out.empty())
            c.send(out);
        out.clear();
        auto const in = c.receive(used);
        for (used = 0; used != in.size();) {
            auto const end = end_of(in.substr(used));
            if (end == 0)
                break;
            if (in[used] == '>') {
                --pushes;
            } else {
                insist(in[used] != '-', "the server refused a request");
                --replies;
                if (to_send > 0)
                    put();
            }
            used += end;
        }
    }
}

/// Returns how many bytes the greeting took.
std::size_t greet(connection& c) {
    c.send(command({"HELLO", "3"}));
    for (;;)
        if (auto const end = end_of(c.receive(0)))
            return end;
}

} // namespace

int main(int argc, char** argv) {
    insist(argc == 6, "a way to wait is missing");
    workload::settings const s(argc - 1, argv + 1);
    connection c(s, std::strcmp(argv[1], "epoll") == 0);
    std::vector<std::string> requests;
    if (s.is_calls()) {
        for (int gets = 0; gets != 2; ++gets)
            for (long i = 0; i != s.callers; ++i)
                requests.push_back(gets ? command({"GET", workload::key_of(i)})
                                        : command({"SET", workload::key_of(i), workload::value}));
        serve(c, requests, {s.callers, s.n, 0});
        return 0;
    }
    auto const greeting = greet(c);
    auto const channels = s.channels();
    for (auto const& each : channels)
        c.send(command({"SUBSCRIBE", each}));
    if (s.is_publish()) {
        requests.push_back(command({"PUBLISH", workload::channel, workload::value}));
        serve(c, requests, {s.callers, s.n, s.n + 1}, greeting);
    } else {
        requests.push_back(
            command({"EVAL", s.script_for_all(), "0", workload::value, std::to_string(channels.size())}));
        serve(c, requests, {1, s.scripts(), s.messages() + static_cast<long>(channels.size())}, greeting);
    }
}
