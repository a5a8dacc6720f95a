// The clients of tls_idle.cpp: a process of their own, so that their memory does not count.
#pragma once

#include "own_memory.hpp"
#include "tls_agreement.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

/// Starts a process that shakes hands on one socket after the other, and keeps them open as long as this process is
/// there. Returns the servers' sockets.
inline open_sockets begin_tls_clients(tls::identities const& those, int wanted) {
    auto const limit = raise_descriptor_limit();
    open_sockets result{{}, wanted};
    std::vector<int> of_clients;
    int constexpr spared = 50; // for what the libraries open
    for (int ends[2]; static_cast<int>(result.fds.size()) != wanted; of_clients.push_back(ends[1])) {
        if (2 * result.fds.size() + spared > limit || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            break;
        result.fds.push_back(ends[0]);
    }
    bool const is_parent = fork() != 0;
    for (int fd : is_parent ? of_clients : result.fds)
        close(fd);
    if (is_parent) {
        for (int fd : result.fds)
            tls::need(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
        return result;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    tls::bare_contexts const contexts(those);
    for (int fd : of_clients)
        tls::need(SSL_do_handshake(contexts.make_client(fd).get()) == 1);
    for (;;)
        pause();
}
