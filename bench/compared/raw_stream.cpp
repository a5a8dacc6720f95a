// The limit of stream.cpp: the better of what bare system calls do.
//
//   raw_stream blocking|epoll DIRECTION FIGURE MIB
//     blocking  send or recv, and nothing else
//     epoll     the same until it would wait, then epoll_wait
#include "stream_end.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    bool const with_epoll = std::strcmp(argv[1], "epoll") == 0;
    bool const sends = std::strcmp(argv[2], "send") == 0;
    std::uint64_t const bytes = std::strtoull(argv[4], nullptr, 10) * 1024 * 1024;
    stream_end other(sends ? stream_end::receives : stream_end::sends, bytes);
    int const fd = other.connect();
    int set = -1;
    if (with_epoll) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        set = epoll_create1(EPOLL_CLOEXEC);
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    }
    std::vector<char> data(stream_end::piece);
    stopwatch const watch;
    for (std::uint64_t left = bytes; left != 0;) {
        auto const want = left < data.size() ? left : data.size();
        auto const n = sends ? send(fd, data.data(), want, MSG_NOSIGNAL) : recv(fd, data.data(), want, 0);
        if (n > 0) {
            left -= static_cast<std::uint64_t>(n);
        } else if (n < 0 && errno == EAGAIN) {
            epoll_event event;
            epoll_wait(set, &event, 1, -1);
        } else {
            return 1;
        }
    }
    watch.print(argv[3], bytes);
}
