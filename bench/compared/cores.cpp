// How do cores scale? UNIX pairs that pass 64 bytes to and fro, as in echo.cpp, served by one thread and by two. One
// source for Fairlead (through the headers of fairlead::asio_compat) and for Asio.
//
//   cores ROW MESSAGES THREADS
//     ROW       contexts  a context with one thread each, and its share of the 100 pairs
//               shared    one context, run by so many threads
//               pool      no sockets: a thread_pool runs functions of about a microsecond, each of which posts the next
//     posts0    no sockets: one context, run by so many threads; functions that do nothing, each of which posts the next
//     posts1, posts10, posts100   likewise, with functions of about so many microseconds
//     MESSAGES  or functions, in all
//
// Prints how many there were in a second.
#include "cores.hpp"

#include <asio.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

using stream = asio::local::stream_protocol::socket;

struct session {
    stream socket;
    long left;
    std::array<char, 64> data{};

    void write() {
        asio::async_write(socket, asio::buffer(data), [this](auto error, std::size_t) {
            if (!error && --left > 0)
                read();
        });
    }
    void read() {
        socket.async_read_some(asio::buffer(data), [this](auto error, std::size_t) {
            if (!error)
                write();
        });
    }
};

/// Pairs on one context.
struct service {
    asio::io_context context;
    std::vector<std::unique_ptr<session>> sessions{};

    service(int threads, int pairs, long messages) : context(threads) {
        for (int i = 0; i != pairs; ++i) {
            long const each = messages / pairs / 2;
            auto a = std::make_unique<session>(stream(context), each);
            auto b = std::make_unique<session>(stream(context), each);
            asio::local::connect_pair(a->socket, b->socket);
            a->write();
            b->read();
            sessions.push_back(std::move(a));
            sessions.push_back(std::move(b));
        }
    }
};

struct posted {
    asio::io_context& context;
    long left;
    int microseconds;
    void operator()() {
        cores::work(microseconds);
        if (--left > 0)
            asio::post(context, posted(*this));
    }
};

struct task {
    asio::thread_pool& pool;
    long left;
    void operator()() {
        cores::work();
        if (--left > 0)
            asio::post(pool, task(*this));
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 4)
        return 2;
    long const n = std::atol(argv[2]);
    int const threads = std::atoi(argv[3]);
    if (std::strcmp(argv[1], "pool") == 0) {
        asio::thread_pool pool(static_cast<std::size_t>(threads));
        cores::stopwatch const watch;
        for (int i = 0; i != cores::chains; ++i)
            asio::post(pool, task{pool, n / cores::chains});
        pool.join();
        watch.print(n);
        return 0;
    }
    if (std::strncmp(argv[1], "posts", 5) == 0) {
        asio::io_context context(threads);
        for (int i = 0; i != cores::chains; ++i)
            asio::post(context, posted{context, n / cores::chains, std::atoi(argv[1] + 5)});
        cores::stopwatch const watch;
        cores::in_threads(threads, [&](int) { context.run(); });
        watch.print(n);
        return 0;
    }
    bool const shared = std::strcmp(argv[1], "shared") == 0;
    int const contexts = shared ? 1 : threads;
    std::vector<std::unique_ptr<service>> services;
    for (int i = 0; i != contexts; ++i)
        services.push_back(std::make_unique<service>(shared ? threads : 1, cores::pairs / contexts, n / contexts));
    cores::stopwatch const watch;
    cores::in_threads(threads, [&](int i) { services[static_cast<std::size_t>(shared ? 0 : i)]->context.run(); });
    watch.print(n);
}
