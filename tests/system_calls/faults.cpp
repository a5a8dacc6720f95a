// The programs whose system calls inject.py lets fail. Each does its thing twice, since a call that failed once must be
// good afterwards. It prints the two errors: "0 0" when nobody noticed anything.
//
//   faults PROGRAM
#include <fairlead/coro/spawn.hpp>
#include <fairlead/exec/thread_pool.hpp>
#include <fairlead/exec/work_guard.hpp>
#include <fairlead/net/acceptor.hpp>
#include <fairlead/net/connect.hpp>
#include <fairlead/net/resolver.hpp>
#include <fairlead/net/stream_socket.hpp>
#include <fairlead/net/timer.hpp>
#include <fairlead/stream/read.hpp>
#include <fairlead/stream/read_until.hpp>
#include <fairlead/stream/write.hpp>
#include <fairlead/token/adapters.hpp>
#include <fairlead/token/post.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <dirent.h>
#include <unistd.h>

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using ip::tcp;
using local_socket = local::stream_protocol::socket;

tcp::endpoint any_port() { return {ip::address_v4::loopback(), 0}; }

/// Everything at once: connections, reads and writes of every form, timers, waiting in the calling thread.
awaitable<void> serve(tcp::acceptor& acceptor, int connections) {
    for (int i = 0; i != connections; ++i) {
        auto s = co_await acceptor.async_accept();
        std::string line;
        auto const n = co_await async_read_until(s, dynamic_buffer(line), "\r\n");
        co_await async_write(s, std::array<const_buffer, 2>{buffer(line, n), buffer("end", 3)});
        char bytes[4];
        co_await async_read(s, std::array<mutable_buffer, 2>{buffer(bytes, 2), buffer(bytes + 2, 2)});
    }
}

awaitable<void> use(io_context& context, tcp::endpoint to, int connections) {
    std::string const line = std::string(100'000, 'x') + "\r\n";
    for (int i = 0; i != connections; ++i) {
        tcp::socket s(context);
        co_await s.async_connect(to);
        co_await async_write(s, buffer(line));
        std::string got(line.size() + 3, ' ');
        co_await async_read(s, buffer(got));
        if (got != line + "end")
            throw std::runtime_error("other bytes came back");
        co_await s.async_write_some(std::array<const_buffer, 2>{buffer("ab", 2), buffer("cd", 2)});
        steady_timer timer(context, 100us);
        co_await timer.async_wait();
    }
}

int everything() {
    io_context context;
    tcp::acceptor acceptor(context, any_port());
    std::exception_ptr failed;
    auto const keep = [&](std::exception_ptr e) {
        if (e)
            failed = e;
    };
    co_spawn(context, serve(acceptor, 10), keep);
    co_spawn(context, use(context, acceptor.local_endpoint(), 10), keep);
    context.run();
    if (failed)
        std::rethrow_exception(failed);
    tcp::socket a(context), b(context);
    a.connect(acceptor.local_endpoint());
    acceptor.accept(b);
    b.write_some(buffer("x", 1));
    char byte;
    a.read_some(buffer(&byte, 1));
    steady_timer timer(context, 1ms);
    timer.wait();
    return 0;
}

template <class Start> int run(io_context& context, Start start) {
    std::optional<error_code> result;
    start([&](error_code ec, auto&&...) { result = ec; });
    context.restart();
    context.run_for(5s);
    return result ? result->value() : -1;
}

std::size_t open_descriptors() {
    std::size_t n = 0;
    DIR* const dir = ::opendir("/proc/self/fd");
    while (::readdir(dir))
        ++n;
    ::closedir(dir);
    return n;
}

/// The thread that runs main() is inside a system call that waits.
bool main_sleeps() {
    std::ifstream stat("/proc/self/stat");
    std::string id, name, state;
    stat >> id >> name >> state;
    return state == "S";
}

int stop_from_another_thread() {
    io_context context;
    std::atomic<bool> runs{false};
    steady_timer patience(context, 5s);
    patience.async_wait([](error_code) {});
    post(context, [&] { runs = true; });
    std::thread other([&] {
        while (!runs || !main_sleeps())
            std::this_thread::yield();
        context.stop();
    });
    context.run();
    other.join();
    return context.now() < patience.expiry() ? 0 : -1;
}

/// One of the two threads lies down until the other one gives the loop back.
int run_beside_another_thread() {
    io_context context;
    std::atomic<bool> runs{false};
    auto guard = make_work_guard(context);
    post(context, [&] { runs = true; });
    std::thread other([&] { context.run(); });
    while (!runs)
        std::this_thread::yield();
    context.run_for(10s); // The process ends as soon as it does.
    guard.reset();
    other.join();
    return 0;
}

int twice(std::function<int()> const& once) {
    int const first = once();
    int const second = once();
    // Not by stdio, which gives up what a signal interrupts: that write may be the one that fails.
    auto const text = std::to_string(first) + ' ' + std::to_string(second) + '\n';
    while (::write(STDOUT_FILENO, text.data(), text.size()) < 0 && errno == EINTR) {
    }
    return 0;
}

/// Its constructor fails whole: no thread of it is left.
int use_a_pool() {
    try {
        thread_pool pool(3);
        std::atomic<int> ran{0};
        for (int i = 0; i != 10; ++i)
            post(pool, [&ran] { ++ran; });
        pool.join();
        return ran == 10 ? 0 : -1;
    } catch (system_error const& e) {
        return e.code().value();
    }
}

/// Begin together: each thread that cannot be started leaves its look-up to those there are.
int look_up_much_at_once() {
    io_context context;
    tcp::resolver resolver(context);
    int done = 0;
    for (int i = 0; i != 4; ++i)
        resolver.async_resolve("127.0.0.1", "80", [&done](error_code ec, auto const&) { done += !ec; });
    context.run();
    return done == 4 ? 0 : -1;
}

int perform(std::string const& program) {
    if (program == "everything")
        return twice(everything);
    if (program == "wake")
        return twice(stop_from_another_thread);
    if (program == "park")
        return twice(run_beside_another_thread);
    if (program == "sleep")
        return twice([] {
            io_context context;
            steady_timer timer(context, 1'300us);
            error_code ec;
            timer.wait(ec);
            return ec ? ec.value() : context.now() < timer.expiry() ? -1 : 0;
        });
    if (program == "make")
        return twice([] {
            auto const before = open_descriptors();
            int error = 0;
            try {
                io_context context;
                tcp::socket s(context, tcp::v4());
            } catch (system_error const& e) {
                error = e.code().value();
            }
            return open_descriptors() == before ? error : -2;
        });
    if (program == "thread")
        return twice([] {
            io_context context;
            tcp::resolver resolver(context);
            return run(context, [&](auto handler) { resolver.async_resolve("localhost", "80", handler); });
        });
    if (program == "pool")
        return twice(use_a_pool);
    if (program == "look_ups")
        return twice(look_up_much_at_once);
    io_context context;
    local_socket a(context), b(context);
    local::connect_pair(a, b);
    tcp::acceptor acceptor(context, any_port());
    char bytes[2] = {};
    if (program == "write")
        return twice([&] { return run(context, [&](auto h) { async_write(a, buffer("x", 1), h); }); });
    if (program == "read") {
        b.write_some(buffer("xy", 2));
        return twice([&] { return run(context, [&](auto h) { a.async_read_some(buffer(bytes, 1), h); }); });
    }
    if (program == "wait") {
        bool first = true;
        return twice([&] {
            if (!std::exchange(first, false))
                b.write_some(buffer("x", 1));
            error_code ec;
            a.read_some(buffer(bytes, 1), ec);
            return ec.value();
        });
    }
    if (program == "watch") { // The descriptor is not known to epoll yet.
        return twice([&] {
            return run(context, [&](auto h) {
                a.async_read_some(buffer(bytes, 1), h);
                b.write_some(buffer("x", 1));
            });
        });
    }
    if (program == "connect")
        return twice([&] {
            tcp::socket s(context);
            return run(context, [&](auto h) { s.async_connect(acceptor.local_endpoint(), h); });
        });
    if (program == "accept" || program == "accept_or_say_why") {
        acceptor.set_option(socket_base::enable_connection_aborted(program != "accept"));
        tcp::socket first(context), second(context), peer(context);
        first.connect(acceptor.local_endpoint());
        second.connect(acceptor.local_endpoint());
        return twice([&] {
            peer.close();
            return run(context, [&](auto h) { acceptor.async_accept(peer, h); });
        });
    }
    if (program == "timer")
        return twice([&] {
            steady_timer timer(context, 1'300us);
            int early = 0;
            int const error = run(context, [&](auto h) {
                timer.async_wait([&, h](error_code ec) mutable {
                    early = context.now() < timer.expiry();
                    h(ec);
                });
            });
            return error + early;
        });
    std::fprintf(stderr, "no program is called %s\n", program.c_str());
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return argc == 2 ? perform(argv[1]) : 2;
    } catch (std::exception const& e) {
        std::printf("%s\n", e.what());
        return 1;
    }
}
