// The limit of tls_idle.cpp: an SSL of bare OpenSSL, and an epoll set that knows its address.
//
//   raw_tls_idle usual|released N
//     usual     as OpenSSL is by itself
//     released  SSL_MODE_RELEASE_BUFFERS: a read that waits keeps no buffer
#include "tls_idle_clients.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/epoll.h>

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    bool const releases = std::strcmp(argv[1], "released") == 0;
    tls::identities const those;
    tls::bare_contexts const contexts(those);
    if (releases)
        SSL_CTX_set_mode(contexts.server.get(), SSL_MODE_RELEASE_BUFFERS);
    auto const open = begin_tls_clients(those, std::atoi(argv[2]));
    int const set = epoll_create1(EPOLL_CLOEXEC);
    auto const before = own_bytes();
    for (int fd : open.fds) {
        auto* const s = contexts.make_server(fd).release();
        epoll_event event{};
        event.events = EPOLLIN | EPOLLET;
        event.data.ptr = s;
        tls::need(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0);
        char data[64];
        int r = SSL_do_handshake(s);
        for (; r != 1; r = SSL_do_handshake(s)) {
            tls::need(SSL_get_error(s, r) == SSL_ERROR_WANT_READ);
            epoll_wait(set, &event, 1, -1);
        }
        r = SSL_read(s, data, sizeof data);
        tls::need(SSL_get_error(s, r) == SSL_ERROR_WANT_READ);
    }
    print_each(before, open);
}
