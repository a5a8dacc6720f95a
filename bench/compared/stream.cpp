// Throughput of one TCP stream over loopback, in pieces of 128 KiB. One source for Fairlead (through the headers of
// fairlead::asio_compat) and for Asio; the other end is a thread with blocking system calls.
//
//   stream ROW DIRECTION FIGURE MIB
//     ROW        callback or coroutine
//     DIRECTION  send or receive: what the library does
//     FIGURE     wall  bytes by the clock
//                cpu   bytes by the CPU time of the library's thread
#include "stream_end.hpp"

#include <asio.hpp>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using tcp = asio::ip::tcp;

struct transfer {
    tcp::socket socket;
    std::uint64_t left;
    std::vector<char> data = std::vector<char>(stream_end::piece);

    void send() {
        asio::async_write(socket, asio::buffer(data), [this](auto error, std::size_t n) {
            if (!error && (left -= n) != 0)
                send();
        });
    }
    void receive() {
        socket.async_read_some(asio::buffer(data), [this](auto error, std::size_t n) {
            if (!error && (left -= n) != 0)
                receive();
        });
    }
};

asio::awaitable<void> send(transfer& t) {
    while (t.left != 0)
        t.left -= co_await asio::async_write(t.socket, asio::buffer(t.data), asio::use_awaitable);
}
asio::awaitable<void> receive(transfer& t) {
    while (t.left != 0)
        t.left -= co_await t.socket.async_read_some(asio::buffer(t.data), asio::use_awaitable);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    bool const sends = std::strcmp(argv[2], "send") == 0;
    std::uint64_t const bytes = std::strtoull(argv[4], nullptr, 10) * 1024 * 1024;
    stream_end other(sends ? stream_end::receives : stream_end::sends, bytes);
    asio::io_context context(1);
    transfer t{tcp::socket(context, tcp::v4(), other.connect()), bytes};
    stopwatch const watch;
    if (with_coroutines)
        asio::co_spawn(context, sends ? send(t) : receive(t), asio::detached);
    else if (sends)
        t.send();
    else
        t.receive();
    context.run();
    watch.print(argv[3], bytes - t.left);
    return t.left != 0;
}
