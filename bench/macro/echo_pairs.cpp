// The echo of Asio 1.17's performance notes: 100 connected UNIX pairs, 64-byte messages back and forth. Rows run
// interleaved in one process, each several times: raw epoll calls (the limit), callbacks, coroutines. Printed is CPU
// time (user and system) for each message, as median with range, and the ratio to the raw loop.
//
//   bench_echo_pairs [messages per pair] [rounds] [buffer bytes]
#include <fairlead/coro/spawn.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int pairs = 100;
int messages = 5000;
int rounds = 5;
std::size_t buffer_size = 64;
constexpr std::size_t message_size = 64;

double polls_per_message = 0;

void note(fairlead::io_context& c) {
    polls_per_message = static_cast<double>(c.counters().polls) / (2.0 * pairs * messages);
}

double cpu_seconds() {
    rusage u{};
    getrusage(RUSAGE_SELF, &u);
    auto s = [](timeval const& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
    return s(u.ru_utime) + s(u.ru_stime);
}

// ---- raw: edge-triggered, a short read is taken for a drained socket. That is safe here: the buffer is larger, or one
// message is under way at a time

void raw() {
    int const e = epoll_create1(0);
    std::vector<int> count(2 * pairs + 16);
    std::vector<int> fds;
    for (int i = 0; i != pairs; ++i) {
        int p[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p) != 0)
            std::abort();
        for (int fd : p) {
            fds.push_back(fd);
            epoll_event ev{};
            ev.events = EPOLLIN | EPOLLET;
            ev.data.fd = fd;
            epoll_ctl(e, EPOLL_CTL_ADD, fd, &ev);
        }
    }
    std::vector<int> left(static_cast<std::size_t>(*std::max_element(fds.begin(), fds.end())) + 1, messages);
    std::vector<char> data(buffer_size);
    for (std::size_t i = 0; i != fds.size(); i += 2)
        if (send(fds[i], data.data(), message_size, 0) < 0)
            std::abort();
    long total = 0;
    long const wanted = 2L * pairs * messages;
    while (total < wanted) {
        epoll_event events[256];
        int const n = epoll_wait(e, events, 256, -1);
        for (int i = 0; i != n; ++i) {
            int const fd = events[i].data.fd;
            auto const r = recv(fd, data.data(), data.size(), MSG_DONTWAIT);
            if (r <= 0)
                continue;
            ++total;
            if (left[static_cast<std::size_t>(fd)]-- > 0 && send(fd, data.data(), message_size, MSG_DONTWAIT) < 0)
                std::abort();
        }
    }
    for (int fd : fds)
        close(fd);
    close(e);
}

// ---- the listing

using socket_type = fairlead::local::stream_protocol::socket;

struct session {
    socket_type socket;
    std::vector<char> data = std::vector<char>(buffer_size);
    int count = 0;
    explicit session(fairlead::io_context& c) : socket(c) {}

    friend void do_read(std::unique_ptr<session> self) {
        auto& stream = self->socket;
        auto buffer = fairlead::buffer(self->data);
        stream.async_read_some(buffer, [self = std::move(self)](auto error, auto n) mutable {
            if (!error)
                do_write(std::move(self), n);
        });
    }
    friend void do_write(std::unique_ptr<session> self, std::size_t n) {
        auto& stream = self->socket;
        auto buffer = fairlead::buffer(self->data, n);
        fairlead::async_write(stream, buffer, [self = std::move(self)](auto error, auto) mutable {
            if (!error && self->count++ < messages)
                do_read(std::move(self));
        });
    }
};

void callbacks() {
    fairlead::io_context ctx(1);
    for (int i = 0; i != pairs; ++i) {
        auto a = std::make_unique<session>(ctx);
        auto b = std::make_unique<session>(ctx);
        connect_pair(a->socket, b->socket);
        do_write(std::move(a), message_size);
        do_read(std::move(b));
    }
    ctx.run();
    note(ctx);
}

fairlead::awaitable<void> echo(socket_type socket, bool first) {
    std::vector<char> data(buffer_size);
    try {
        std::size_t n = message_size;
        for (int count = 0;;) {
            if (!first)
                n = co_await socket.async_read_some(fairlead::buffer(data));
            first = false;
            co_await fairlead::async_write(socket, fairlead::buffer(data, n));
            if (count++ >= messages)
                break;
        }
    } catch (fairlead::system_error const&) {
    }
}

void coroutines() {
    fairlead::io_context ctx(1);
    for (int i = 0; i != pairs; ++i) {
        socket_type a(ctx), b(ctx);
        connect_pair(a, b);
        co_spawn(ctx, echo(std::move(a), true), fairlead::detached);
        co_spawn(ctx, echo(std::move(b), false), fairlead::detached);
    }
    ctx.run();
    note(ctx);
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1)
        messages = std::atoi(argv[1]);
    if (argc > 2)
        rounds = std::atoi(argv[2]);
    if (argc > 3)
        buffer_size = static_cast<std::size_t>(std::atoi(argv[3]));
    std::string const only = argc > 4 ? argv[4] : "";
    struct row {
        char const* name;
        void (*run)();
        std::vector<double> ns;
    };
    row rows[] = {{"raw epoll", raw, {}}, {"callbacks", callbacks, {}}, {"coroutines", coroutines, {}}};
    for (int r = 0; r != rounds; ++r)
        for (auto& each : rows) {
            if (!only.empty() && only != each.name)
                continue;
            double const before = cpu_seconds();
            each.run();
            each.ns.push_back((cpu_seconds() - before) * 1e9 / (2.0 * pairs * messages));
        }
    std::printf("%d pairs, %zu-byte messages, %zu-byte buffers, %d messages per socket, %d rounds\n", pairs,
                message_size, buffer_size, messages, rounds);
    std::printf("%-12s %14s %20s %8s\n", "", "ns/message", "[min..max]", "/ raw");
    double base = 0;
    for (auto& each : rows) {
        if (each.ns.empty())
            continue;
        std::sort(each.ns.begin(), each.ns.end());
        double const median = each.ns[each.ns.size() / 2];
        if (base == 0)
            base = median;
        std::printf("%-12s %14.0f      [%6.0f..%6.0f] %8.3f\n", each.name, median, each.ns.front(), each.ns.back(),
                    median / base);
    }
    std::printf("polls of the driver per message in the last row: %.4f\n", polls_per_message);
}
