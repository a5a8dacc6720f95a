// Throughput of one stream of TLS over TCP on the loopback interface. One source for Fairlead (through the headers of
// fairlead::asio_compat) and for Asio; the other end is a thread with bare OpenSSL.
//
//   tls_stream ROW DIRECTION FIGURE RECORD MIB
//     ROW        callback or coroutine
//     DIRECTION  send or receive: what the library does
//     FIGURE     wall  bytes by the clock
//                cpu   bytes by the CPU time of the library's thread
//     RECORD     bytes of a record, which are a write, and the most that a read takes
#include "tls_contexts.hpp"
#include "tls_stream_end.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using tcp = asio::ip::tcp;

struct transfer {
    asio::ssl::stream<tcp::socket> stream;
    std::vector<char> data;
    std::uint64_t left;

    void send() {
        asio::async_write(stream, asio::buffer(data), [this](auto error, std::size_t n) {
            if (!error && (left -= n) != 0)
                send();
        });
    }
    void receive() {
        stream.async_read_some(asio::buffer(data), [this](auto error, std::size_t n) {
            if (!error && (left -= n) != 0)
                receive();
        });
    }
};

asio::awaitable<void> send(transfer& t) {
    while (t.left != 0)
        t.left -= co_await asio::async_write(t.stream, asio::buffer(t.data), asio::use_awaitable);
}
asio::awaitable<void> receive(transfer& t) {
    while (t.left != 0)
        t.left -= co_await t.stream.async_read_some(asio::buffer(t.data), asio::use_awaitable);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 6)
        return 2;
    bool const with_coroutines = std::strcmp(argv[1], "coroutine") == 0;
    bool const sends = std::strcmp(argv[2], "send") == 0;
    auto const record = std::strtoul(argv[4], nullptr, 10);
    std::uint64_t const records = std::strtoull(argv[5], nullptr, 10) * 1024 * 1024 / record;
    tls::identities const those;
    tls::contexts contexts(those);
    tls_stream_end other(sends ? tls_stream_end::receives : tls_stream_end::sends, record, records, those);
    asio::io_context context(1);
    transfer t{{tcp::socket(context, tcp::v4(), other.connect()), contexts.client},
               std::vector<char>(record),
               records * record};
    tls::expect_server(t.stream);
    t.stream.handshake(asio::ssl::stream_base::client);
    other.wait_until_ready();
    stopwatch const watch;
    if (with_coroutines)
        asio::co_spawn(context, sends ? send(t) : receive(t), asio::detached);
    else if (sends)
        t.send();
    else
        t.receive();
    context.run();
    watch.print(argv[3], records * record - t.left);
    t.stream.next_layer().close();
    return t.left != 0;
}
