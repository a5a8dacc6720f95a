// The limit of cores.cpp: each thread has an epoll loop and its share of the pairs, or just works.
//
//   raw_cores contexts|pool|posts0|posts1|posts10|posts100 MESSAGES THREADS
#include "cores.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

void check(long result) {
    if (result < 0)
        std::abort();
}

struct loop {
    int set = epoll_create1(EPOLL_CLOEXEC);
    std::vector<int> sockets{};

    explicit loop(int pairs) {
        for (int i = 0; i != pairs; ++i) {
            int fds[2];
            check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
            for (int fd : fds) {
                epoll_event event{};
                event.events = EPOLLIN | EPOLLET;
                event.data.fd = fd;
                check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
            }
            sockets.push_back(fds[0]);
        }
    }
    void run(long messages) {
        char data[64]{};
        for (int fd : sockets)
            check(send(fd, data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL));
        for (long left = messages - static_cast<long>(sockets.size()); left > 0;) {
            epoll_event events[256];
            int const n = epoll_wait(set, events, 256, -1);
            for (int i = 0; i < n; ++i) {
                check(recv(events[i].data.fd, data, sizeof data, MSG_DONTWAIT));
                check(send(events[i].data.fd, data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL));
                --left;
            }
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    long const n = std::atol(argv[2]);
    int const threads = std::atoi(argv[3]);
    bool const posts = std::strncmp(argv[1], "posts", 5) == 0;
    if (posts || std::strcmp(argv[1], "pool") == 0) {
        int const microseconds = posts ? std::atoi(argv[1] + 5) : 1;
        cores::stopwatch const watch;
        cores::in_threads(threads, [&](int) {
            for (long i = n / threads; i != 0; --i) {
                asm volatile("" : "+r"(i)); // Nor can a compiler leave out the loop of those that do nothing.
                cores::work(microseconds);
            }
        });
        watch.print(n);
        return 0;
    }
    std::vector<loop> loops;
    for (int i = 0; i != threads; ++i)
        loops.emplace_back(cores::pairs / threads);
    cores::stopwatch const watch;
    cores::in_threads(threads, [&](int i) { loops[static_cast<std::size_t>(i)].run(n / threads); });
    watch.print(n);
}
