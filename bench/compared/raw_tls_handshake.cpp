// The limit of tls_handshake.cpp: bare OpenSSL on sockets that do not block, and epoll, edge-triggered.
//
//   raw_tls_handshake usual|ahead N KIND
//     usual  as OpenSSL reads by itself: a record's head, then the rest of it
//     ahead  it reads what there is
#include "loopback.hpp"
#include "tls_agreement.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/epoll.h>

namespace {

/// Has a handshake, then sends a byte or receives one. True: done.
bool go_on(SSL* s, bool is_client, bool& is_agreed) {
    int r = 1;
    if (!is_agreed && (r = SSL_do_handshake(s)) == 1)
        is_agreed = true;
    char data[1]{};
    if (is_agreed)
        r = is_client ? SSL_read(s, data, 1) : SSL_write(s, data, 1);
    if (r == 1)
        return true;
    tls::need(SSL_get_error(s, r) == SSL_ERROR_WANT_READ);
    return false;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    bool const resumes = std::strcmp(argv[3], "resumed") == 0;
    tls::identities const those;
    tls::bare_contexts contexts(those);
    if (std::strcmp(argv[1], "ahead") == 0)
        contexts.read_ahead();
    tls::kept_session session;
    if (resumes)
        session.begin(contexts.client.get());
    int const set = epoll_create1(EPOLL_CLOEXEC);
    long const n = std::atol(argv[2]);
    for (long i = 0; i != n; ++i) {
        int fds[2];
        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
        tls::ssl_ptr ends[] = {contexts.make_client(fds[0]), contexts.make_server(fds[1])};
        for (unsigned k = 0; k != 2; ++k) {
            epoll_event event{};
            event.events = EPOLLIN | EPOLLET;
            event.data.u32 = k;
            check(epoll_ctl(set, EPOLL_CTL_ADD, fds[k], &event));
        }
        session.resume(ends[0].get());
        bool is_agreed[2]{};
        tls::need(!go_on(ends[0].get(), true, is_agreed[0])); // The server has not answered yet.
        for (bool is_done[2]{}; !is_done[0] || !is_done[1];) {
            epoll_event events[2];
            int const news = epoll_wait(set, events, 2, -1);
            for (int j = 0; j < news; ++j)
                if (auto const k = events[j].data.u32; !is_done[k])
                    is_done[k] = go_on(ends[k].get(), k == 0, is_agreed[k]);
        }
        tls::need((SSL_session_reused(ends[0].get()) == 1) == (resumes && i != 0));
        tls::kept_session::spare(ends[0].get());
        for (int fd : fds)
            close(fd);
    }
}
