// Two sockets that are connected, over TCP on the loopback interface.
#pragma once

#include <arpa/inet.h>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

inline void check(long result) {
    if (result < 0)
        std::abort();
}

inline void connect_tcp(int (&fds)[2]) {
    int const acceptor = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    check(bind(acceptor, reinterpret_cast<sockaddr*>(&at), size));
    check(listen(acceptor, 1));
    check(getsockname(acceptor, reinterpret_cast<sockaddr*>(&at), &size));
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(fds[0], reinterpret_cast<sockaddr*>(&at), size));
    fds[1] = accept(acceptor, nullptr, nullptr);
    check(fds[1]);
    close(acceptor);
}
/// As connect_tcp(); what is written goes out at once.
inline void connect_tcp_no_delay(int (&fds)[2]) {
    connect_tcp(fds);
    int const on = 1;
    for (int fd : fds)
        check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}
