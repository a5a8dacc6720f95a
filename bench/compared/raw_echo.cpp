// The limit of echo.cpp: bare system calls. Edge-triggered; one message is under way in each pair, so that a read of
// all of it says that the socket is drained.
//
//   raw_echo epoll MESSAGES PROTOCOL PAIRS
#include "descriptors.hpp"
#include "loopback.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t message_size = 64;

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    raise_descriptor_limit();
    bool const over_unix = std::strcmp(argv[3], "unix") == 0;
    int const pairs = std::atoi(argv[4]);
    long const each = std::atol(argv[2]) / (2 * pairs);
    int const set = epoll_create1(EPOLL_CLOEXEC);
    std::vector<int> all;
    for (int i = 0; i != pairs; ++i) {
        int fds[2];
        if (over_unix)
            check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
        else
            connect_tcp_no_delay(fds);
        for (int fd : fds) {
            all.push_back(fd);
            epoll_event event{};
            event.events = EPOLLIN | EPOLLET;
            event.data.u64 = all.size() - 1;
            check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
        }
    }
    char data[message_size]{};
    std::vector<long> left(all.size(), each);
    for (std::size_t i = 0; i < all.size(); i += 2) {
        check(send(all[i], data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL));
        --left[i];
    }
    for (long to_send = pairs * (2 * each - 1); to_send > 0;) {
        epoll_event events[256];
        int const n = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < n; ++i) {
            auto const at = events[i].data.u64;
            if (recv(all[at], data, sizeof data, MSG_DONTWAIT) <= 0)
                continue;
            if (left[at] > 0) {
                --left[at];
                --to_send;
                check(send(all[at], data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL));
            }
        }
    }
}
