// The limit of tls_stream.cpp: bare OpenSSL on a socket that does not block, and epoll, edge-triggered.
//
//   raw_tls_stream usual|ahead DIRECTION FIGURE RECORD MIB
//     usual  as OpenSSL reads by itself: a record's head, then the rest of it
//     ahead  it reads what there is
#include "tls_stream_end.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 6)
        return 2;
    bool const sends = std::strcmp(argv[2], "send") == 0;
    auto const record = std::strtoul(argv[4], nullptr, 10);
    std::uint64_t const records = std::strtoull(argv[5], nullptr, 10) * 1024 * 1024 / record;
    tls::identities const those;
    tls::bare_contexts contexts(those);
    if (std::strcmp(argv[1], "ahead") == 0)
        contexts.read_ahead();
    tls_stream_end other(sends ? tls_stream_end::receives : tls_stream_end::sends, record, records, those);
    int const fd = other.connect();
    auto const ssl = contexts.make_client(fd);
    auto* const s = ssl.get();
    tls::need(SSL_do_handshake(s) == 1);
    other.wait_until_ready();
    check(fcntl(fd, F_SETFL, O_NONBLOCK));
    int const set = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
    std::vector<char> data(record);
    stopwatch const watch;
    for (std::uint64_t left = records * record; left != 0;) {
        std::size_t n = 0;
        int const r = sends ? SSL_write_ex(s, data.data(), record, &n) : SSL_read_ex(s, data.data(), record, &n);
        if (r == 1) {
            left -= n;
            continue;
        }
        int const e = SSL_get_error(s, r);
        tls::need(e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE);
        epoll_wait(set, &event, 1, -1);
    }
    watch.print(argv[3], records * record);
    close(fd);
}
