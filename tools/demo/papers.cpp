#include "papers.hpp"

#include "cpu_time.hpp"
#include "immediate.hpp"

#include <fairlead/coro/spawn.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/verbs.hpp>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace demo {
namespace {

using namespace fairlead;
using socket_type = local::stream_protocol::socket;

// ---- five call forms

constexpr std::string_view hello = "hello";

awaitable<void> send_awaited(socket_type& s, std::size_t& sent) { sent = co_await verbs::send(s, buffer(hello)); }

bool five_forms() {
    io_context ctx(1);
    socket_type a(ctx), b(ctx);
    connect_pair(a, b);
    std::array<std::size_t, 5> sent{};
    error_code ec;

    co_spawn(ctx, send_awaited(a, sent[0]), detached);
    verbs::send(a, buffer(hello), [&](error_code, std::size_t n) { sent[1] = n; });
    auto future = verbs::send(a, buffer(hello), use_future);
    ctx.run();
    sent[2] = future.get();
    sent[3] = verbs::send(a, buffer(hello), block);
    sent[4] = verbs::send(a, buffer(hello), block[ec]);

    char received[5 * hello.size()];
    read(b, buffer(received), ec);
    constexpr std::array<char const*, 5> forms{"co_await send(s, b)", "send(s, b, handler)", "send(s, b, use_future)",
                                               "send(s, b, block)", "send(s, b, block[ec])"};
    bool right = !ec;
    for (std::size_t i = 0; i != forms.size(); ++i) {
        right =
            right && sent[i] == hello.size() && std::string_view(received + i * hello.size(), hello.size()) == hello;
        std::printf("  %-24s %zu bytes\n", forms[i], sent[i]);
    }
    return right;
}

// ---- 100 pairs

constexpr int pairs = 100;
constexpr std::size_t message_size = 64;

/// The limit: bare system calls. Reads into a larger buffer, so that a short read says that the socket is drained.
bool echo_raw(std::uint64_t messages) {
    int const e = epoll_create1(EPOLL_CLOEXEC);
    std::vector<int> fds;
    for (int i = 0; i != pairs; ++i) {
        int p[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, p) != 0)
            return false;
        for (int fd : p) {
            fds.push_back(fd);
            epoll_event ev{};
            ev.events = EPOLLIN | EPOLLET;
            ev.data.u64 = fds.size() - 1;
            epoll_ctl(e, EPOLL_CTL_ADD, fd, &ev);
        }
    }
    std::vector<std::uint64_t> left(fds.size(), messages);
    char data[4096]{};
    for (std::size_t i = 0; i < fds.size(); i += 2)
        if (send(fds[i], data, message_size, MSG_NOSIGNAL) < 0)
            return false;
    std::uint64_t total = 0;
    while (total < 2 * pairs * messages) {
        epoll_event events[256];
        int const n = epoll_wait(e, events, 256, -1);
        for (int i = 0; i < n; ++i) {
            auto const at = events[i].data.u64;
            if (recv(fds[at], data, sizeof data, MSG_DONTWAIT) <= 0)
                continue;
            ++total;
            if (left[at]-- > 0 && send(fds[at], data, message_size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
                return false;
        }
    }
    for (int fd : fds)
        close(fd);
    close(e);
    return true;
}

struct session {
    socket_type socket;
    std::array<char, message_size> data{};
    std::uint64_t left;
    session(io_context& c, std::uint64_t n) : socket(c), left(n) {}

    friend void do_read(std::unique_ptr<session> self) {
        auto& stream = self->socket;
        auto into = buffer(self->data);
        stream.async_read_some(into, [self = std::move(self)](error_code ec, std::size_t n) mutable {
            if (!ec)
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

bool echo_callbacks(std::uint64_t messages) {
    io_context ctx(1);
    for (int i = 0; i != pairs; ++i) {
        auto a = std::make_unique<session>(ctx, messages);
        auto b = std::make_unique<session>(ctx, messages);
        connect_pair(a->socket, b->socket);
        do_write(std::move(a), message_size);
        do_read(std::move(b));
    }
    ctx.run();
    return true;
}

awaitable<void> echo(socket_type s, std::uint64_t messages, bool first) {
    std::array<char, message_size> data{};
    auto n = message_size;
    for (std::uint64_t i = 0; i <= messages; ++i) {
        if (i != 0 || !first) {
            auto [ec, got] = co_await s.async_read_some(buffer(data), as_tuple);
            if (ec)
                co_return;
            n = got;
        }
        auto [ec, sent] = co_await async_write(s, buffer(data, n), as_tuple);
        if (ec)
            co_return;
    }
}

bool echo_coroutines(std::uint64_t messages) {
    io_context ctx(1);
    for (int i = 0; i != pairs; ++i) {
        socket_type a(ctx), b(ctx);
        connect_pair(a, b);
        co_spawn(ctx, echo(std::move(a), messages, true), detached);
        co_spawn(ctx, echo(std::move(b), messages, false), detached);
    }
    ctx.run();
    return true;
}

} // namespace

bool show_papers(std::uint64_t echo_messages) {
    std::printf("\nOne operation, five call forms:\n");
    bool right = five_forms();

    struct row {
        char const* name;
        bool (*run)(std::uint64_t);
    };
    std::printf("\nEcho of %d UNIX pairs, %zu-byte messages, %llu messages each way and socket, CPU per message:\n",
                pairs, message_size, static_cast<unsigned long long>(echo_messages));
    double base = 0;
    for (row const& r :
         {row{"raw epoll calls", echo_raw}, row{"callbacks", echo_callbacks}, row{"coroutines", echo_coroutines}}) {
        double const before = cpu_seconds();
        right = r.run(echo_messages) && right;
        double const ns = (cpu_seconds() - before) * 1e9 / (2.0 * pairs * static_cast<double>(echo_messages));
        if (base == 0)
            base = ns;
        std::printf("  %-24s %6.0f ns   %.2f x raw\n", r.name, ns, ns / base);
    }
    return show_immediate(1'000 * echo_messages) && right;
}

} // namespace demo
