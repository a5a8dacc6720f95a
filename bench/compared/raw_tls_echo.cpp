// The limit of tls_echo.cpp: bare OpenSSL on sockets that do not block, and epoll, edge-triggered. One message is under
// way in each pair, so that a record that has been read says that the socket is drained.
//
//   raw_tls_echo usual|ahead MESSAGES PAIRS
//     usual  as OpenSSL reads by itself: a record's head, then the rest of it
//     ahead  it reads what there is
#include "descriptors.hpp"
#include "loopback.hpp"
#include "tls_agreement.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <vector>

namespace {

constexpr std::size_t message_size = 64;

struct end {
    tls::ssl_ptr ssl;
    long left;
    bool is_client;
    bool has_begun = false;
};

/// True: done. A handshake or a read that has to wait goes on with the next event.
bool is_done(SSL* s, int result) {
    if (result == 1)
        return true;
    tls::need(SSL_get_error(s, result) == SSL_ERROR_WANT_READ);
    return false;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    raise_descriptor_limit();
    int const pairs = std::atoi(argv[3]);
    long const each = std::atol(argv[2]) / (2 * pairs);
    tls::identities const those;
    tls::bare_contexts contexts(those);
    if (std::strcmp(argv[1], "ahead") == 0)
        contexts.read_ahead();
    int const set = epoll_create1(EPOLL_CLOEXEC);
    std::vector<end> all;
    for (int i = 0; i != pairs; ++i) {
        int fds[2];
        connect_tcp_no_delay(fds);
        for (int fd : fds) {
            bool const is_client = fd == fds[0];
            check(fcntl(fd, F_SETFL, O_NONBLOCK));
            all.push_back({is_client ? contexts.make_client(fd) : contexts.make_server(fd), each, is_client});
            epoll_event event{};
            event.events = EPOLLIN | EPOLLET;
            event.data.u64 = all.size() - 1;
            check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
        }
    }
    char data[message_size]{};
    long to_send = 2 * pairs * each;
    auto const write = [&](end& e) {
        tls::need(SSL_write(e.ssl.get(), data, message_size) == message_size);
        --e.left;
        --to_send;
    };
    for (std::size_t i = 0; i < all.size(); i += 2)
        tls::need(!is_done(all[i].ssl.get(), SSL_do_handshake(all[i].ssl.get()))); // The server has not answered yet.
    while (to_send > 0) {
        epoll_event events[256];
        int const n = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < n; ++i) {
            auto& e = all[events[i].data.u64];
            auto* const s = e.ssl.get();
            if (!e.has_begun) {
                if (!is_done(s, SSL_do_handshake(s)))
                    continue;
                e.has_begun = true;
                if (e.is_client) {
                    write(e);
                    continue;
                }
            }
            std::size_t got = 0;
            if (is_done(s, SSL_read_ex(s, data, sizeof data, &got)) && e.left > 0)
                write(e);
        }
    }
}
